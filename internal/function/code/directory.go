package code

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
)

// maxDirectory is how many bytes the directory of an archive may have. It is read as a whole, and takes some five times
// as much memory; a hundred thousand files with the usual names have 12 MB.
const maxDirectory = 16 << 20

// Directory reads the directory of a zip or a jar that somebody else has made. An error wraps ErrTooLarge if it is
// larger than a hundred thousand files need, whatever the archive says of their number.
func Directory(r io.ReaderAt, size int64) (*zip.Reader, error) {
	b := &bounded{from: r, left: maxDirectory}
	z, err := zip.NewReader(b, size)
	if b.left < 0 {
		return nil, fmt.Errorf("%w: its directory has more than %d bytes", ErrTooLarge, maxDirectory)
	}
	b.read = true
	return z, err
}

// OpenFile is Directory of a file, which the caller closes. What is no regular file is not opened: a pipe would have to
// be waited for.
func OpenFile(path string) (*zip.Reader, io.Closer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		var z *zip.Reader
		if z, err = Directory(f, info.Size()); err == nil {
			return z, f, nil
		}
	}
	_ = f.Close() // it was only read
	return nil, nil, err
}

// bounded gives so many bytes until the directory is read.
type bounded struct {
	from io.ReaderAt
	left int64
	read bool
}

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if b.read {
		return b.from.ReadAt(p, at)
	}
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, ErrTooLarge
	}
	return b.from.ReadAt(p, at)
}
