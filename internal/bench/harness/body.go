package harness

// MakeBody returns a body of n bytes that are not all the same.
func MakeBody(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return b
}

// BodyBytes is the size of a body.
const BodyBytes = 1000
