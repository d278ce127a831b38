package stdin

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
)

// headBytes is how much of a file's beginning is part of its identity.
const headBytes = 1024

// identify names a regular file by what it is, not by what it is called: device and inode, and so that an inode that is
// used again, or a file that is written anew in place, is another file: size, time of the last change and a digest of
// the first bytes.
func identify(f *os.File, st os.FileInfo) (string, error) {
	head := make([]byte, headBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	device, inode := number(st)
	digest := sha256.Sum256(head[:n])
	return fmt.Sprintf("stdin:%x:%x:%x:%x:%x", device, inode, st.Size(), st.ModTime().UnixNano(), digest[:8]), nil
}
