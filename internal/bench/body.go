package bench

// makeBody returns a body of n bytes that are not all the same.
func makeBody(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return b
}

// bodyBytes is the size of a body.
const bodyBytes = 1000
