package file

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// How much of a file is looked at to know it again.
const (
	headBytes = 1024
	tailBytes = 256
)

// digest is a short digest of the n bytes of f that begin at offset. Fewer bytes than that are an error.
func digest(f io.ReaderAt, offset int64, n int) (string, error) {
	b := make([]byte, n)
	if m, err := f.ReadAt(b, offset); m < n {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12]), nil
}

// same tells whether an open file is the one a note speaks of, with everything below the note's offset unchanged.
func (n note) same(f *os.File, size int64, born int64) (bool, error) {
	if n.Born != 0 && born != 0 && n.Born != born {
		return false, nil
	}
	if size < n.Offset || size < int64(n.HeadBytes) {
		return false, nil
	}
	head, err := digest(f, 0, n.HeadBytes)
	if err != nil {
		return changed(err)
	}
	if head != n.Head {
		return false, nil
	}
	if n.TailBytes == 0 {
		return true, nil
	}
	tail, err := digest(f, n.Offset-int64(n.TailBytes), n.TailBytes)
	if err != nil {
		return changed(err)
	}
	return tail == n.Tail, nil
}

// changed reads an error of reading bytes that were there: gone ones make it another file.
func changed(err error) (bool, error) {
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return false, err
}

// printHead fills in the digest of the first bytes.
func (n *note) printHead(head []byte) {
	sum := sha256.Sum256(head)
	n.HeadBytes, n.Head = len(head), hex.EncodeToString(sum[:12])
}

// printTail fills in the digest of the bytes below the note's offset, if they can be read.
func (n *note) printTail(f io.ReaderAt) {
	size := int(min(n.Offset, tailBytes))
	if tail, err := digest(f, n.Offset-int64(size), size); err == nil {
		n.TailBytes, n.Tail = size, tail
	}
}
