package file

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// cachedPages counts how many pages of a file are in memory.
func cachedPages(t *testing.T, f *os.File, size int) int {
	t.Helper()
	opened, err := osFS{}.OpenPassing(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	pages := size / os.Getpagesize()
	n := 0
	for _, v := range opened.(*passingFile).cachedPages(make([]byte, pages), 0, int64(pages)) {
		n += int(v & 1)
	}
	return n
}

// TestReadingAsideLeavesThePageCacheAsItWas: what readers have in memory stays there, and what they have not does not
// come.
func TestReadingAsideLeavesThePageCacheAsItWas(t *testing.T) {
	const size = 4 << 20
	name := filepath.Join(t.TempDir(), "segment")
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i * 7 >> 3)
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	read := func() {
		r, err := newAside(context.Background(), osFS{}, 0, nil).Open(name, true)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		b := make([]byte, 100_000) // ends within pages
		for at := int64(0); at < size; at += int64(len(b)) {
			b = b[:min(int64(len(b)), size-at)]
			if n, err := r.ReadAt(b, at); err != nil || n != len(b) || string(b) != string(content[at:at+int64(n)]) {
				t.Fatalf("read %d bytes at %d: %v", n, at, err)
			}
		}
	}
	drop := func() int {
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		return cachedPages(t, f, size)
	}
	none := drop() // a file system in memory keeps all
	read()
	if got := cachedPages(t, f, size); got > none {
		t.Errorf("%d pages are cached after reading a file of which %d were", got, none)
	}
	b := make([]byte, size)
	all, got := 0, -1
	for range 10 { // whoever else needs memory takes pages at any time
		if _, err := f.ReadAt(b, 0); err != nil {
			t.Fatal(err)
		}
		all = cachedPages(t, f, size)
		read()
		if got = cachedPages(t, f, size); got == all && all >= size/os.Getpagesize()/2 {
			return
		}
	}
	t.Errorf("%d pages are cached after reading a file of which %d were", got, all)
}
