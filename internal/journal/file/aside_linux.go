package file

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// passingBytes is how much is read at once, and let go again.
const passingBytes = 128 << 10

// passingFile is read without changing what the page cache keeps: what was not cached before is let go again.
type passingFile struct {
	osFile
	// the file, of which nothing is touched: to ask which pages are cached. nil: that is not known, and everything
	// stays
	mapped []byte
}

// OpenPassing implements passing.
func (osFS) OpenPassing(name string) (File, error) {
	f, err := openRegular(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return passed(f), nil
}

// OpenPassing implements passing.
func (f folderFS) OpenPassing(name string) (File, error) {
	opened, err := f.Open(name, true)
	if err != nil {
		return nil, err
	}
	return passed(opened.(osFile).File), nil
}

func passed(f *os.File) File {
	p := &passingFile{osFile: osFile{f}}
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) // of this handle alone: nothing is read ahead, and then kept
	if size, err := p.Size(); err == nil && size > 0 {
		if p.mapped, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED); err != nil {
			p.mapped = nil
		}
	}
	return p
}

func (p *passingFile) Close() error {
	var err error
	if p.mapped != nil {
		err = unix.Munmap(p.mapped)
		p.mapped = nil
	}
	return errors.Join(err, p.File.Close())
}

func (p *passingFile) ReadAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) && err == nil {
		var got int
		got, err = p.readPart(b[n:min(len(b), n+passingBytes)], offset+int64(n))
		n += got
	}
	return n, err
}

// readPart reads a piece and lets go of those of its pages that were not cached before.
func (p *passingFile) readPart(b []byte, offset int64) (int, error) {
	page := int64(os.Getpagesize())
	first := offset / page
	var cached [passingBytes/4096 + 1]byte
	pages := p.cachedPages(cached[:], first, (offset+int64(len(b))+page-1)/page)
	n, err := p.File.ReadAt(b, offset)
	for i := 0; i < len(pages); {
		from := i
		for i < len(pages) && pages[i]&1 == 0 {
			i++
		}
		if i > from {
			_ = unix.Fadvise(int(p.Fd()), (first+int64(from))*page, int64(i-from)*page, unix.FADV_DONTNEED)
		}
		for i < len(pages) && pages[i]&1 != 0 {
			i++
		}
	}
	return n, err
}

// cachedPages says of pages, the last not included, whether they are cached: bit 0 of each byte. It says nothing when
// that is not known.
func (p *passingFile) cachedPages(to []byte, first, last int64) []byte {
	page := int64(os.Getpagesize())
	from := first * page
	if p.mapped == nil || from >= int64(len(p.mapped)) || last-first > int64(len(to)) {
		return nil
	}
	m := p.mapped[from:min(int64(len(p.mapped)), last*page)]
	if _, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)),
		uintptr(unsafe.Pointer(&to[0]))); err != 0 {
		return nil
	}
	return to[:(int64(len(m))+page-1)/page]
}
