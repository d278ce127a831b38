//go:build !unix

package lines

// canWait: this system has no way to wait for a file and for a context at once, so a read that blocks ends with its
// stream.
const canWait = false

// What ready would wait for.
const (
	toRead int16 = iota + 1
	toWrite
)

// poll is never called: a Port that cannot wait keeps no file.
func (p *Port) poll(int16) error { return nil }
