package file

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// passingBytes is how much is asked for at once: what is cached and what is not is told apart in pieces of it.
const passingBytes = 128 << 10

// passingFile is read past the page cache, as far as buffered reading can: what is cached is taken from there, and what was not is let go again.
type passingFile struct {
	osFile
	mixed bool // the file system does not tell what is cached: everything stays as it is
}

// OpenPassing implements passing.
func (osFS) OpenPassing(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) // of this handle alone: nothing is read ahead, and then kept
	return &passingFile{osFile: osFile{f}}, nil
}

func (p *passingFile) ReadAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) {
		part := b[n:min(len(b), n+passingBytes)]
		got, err := p.readPart(part, offset+int64(n))
		n += got
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (p *passingFile) readPart(b []byte, offset int64) (int, error) {
	if p.mixed {
		return p.File.ReadAt(b, offset)
	}
	cached, err := unix.Preadv2(int(p.Fd()), [][]byte{b}, offset, unix.RWF_NOWAIT)
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
		p.mixed = true
		return p.File.ReadAt(b, offset)
	case err != nil: // the usual one says that nothing is cached; what else it may be is told by the read
		cached = 0
	case cached == len(b):
		return cached, nil
	}
	from := offset + int64(cached)
	n, err := p.File.ReadAt(b[cached:], from)
	page := int64(os.Getpagesize())
	from = from / page * page // that page was not cached either
	_ = unix.Fadvise(int(p.Fd()), from, (offset+int64(cached+n)-from+page-1)/page*page, unix.FADV_DONTNEED)
	return cached + n, err
}
