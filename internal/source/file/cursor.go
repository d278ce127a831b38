package file

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// errRewritten: what was read before is no longer there.
var errRewritten = errors.New("the file was truncated or written anew")

// cursor reads a file from a position on and vouches for what it hands out: it keeps the first bytes of the file and
// the last before its position, and after every read it makes sure that the file still has both. A file that was
// truncated, even one that has grown again beyond the position, is so never taken for the one it was.
//
// It is for the goroutine that reads; head and verify are also for the one that writes notes.
type cursor struct {
	file *os.File
	err  error // what every read answers

	mu    sync.Mutex
	pos   int64
	first []byte // of the file, up to headBytes
	last  []byte // before pos, up to tailBytes
	buf   []byte
}

// newCursor begins at a position. errRewritten: the file does not reach so far.
func newCursor(f *os.File, pos int64) (*cursor, error) {
	c := &cursor{file: f, pos: pos, buf: make([]byte, headBytes)}
	n, err := f.ReadAt(c.buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	c.first = bytes.Clone(c.buf[:n])
	tail := c.buf[:min(pos, tailBytes)]
	if n, err := f.ReadAt(tail, pos-int64(len(tail))); n < len(tail) {
		if errors.Is(err, io.EOF) {
			err = errRewritten
		}
		return nil, err
	}
	c.last = bytes.Clone(tail)
	return c, nil
}

// Read is io.Reader's. errRewritten: nothing is known of what would come.
func (c *cursor) Read(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.file.ReadAt(b, c.pos)
	if err := c.verify(c.file); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(b[:n])
	if n > 0 {
		return n, nil
	}
	return 0, err
}

// keep moves the position over bytes that were read.
func (c *cursor) keep(b []byte) {
	if have := int64(len(c.first)); have < headBytes && c.pos <= have && c.pos+int64(len(b)) > have {
		c.first = append(c.first, b[have-c.pos:min(int64(len(b)), headBytes-c.pos)]...)
	}
	c.pos += int64(len(b))
	if len(b) >= tailBytes {
		c.last = append(c.last[:0], b[len(b)-tailBytes:]...)
		return
	}
	c.last = append(c.last, b...)
	if over := len(c.last) - tailBytes; over > 0 {
		c.last = append(c.last[:0], c.last[over:]...)
	}
}

// head is the first bytes of the file, as many as are known.
func (c *cursor) head() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.first)
}

// verify finds out whether an open file has what this cursor has read.
func (c *cursor) verify(f *os.File) error {
	if c.err != nil {
		return c.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.compare(f, c.first, 0); err != nil || c.pos <= int64(len(c.first)) {
		return err
	}
	return c.compare(f, c.last, c.pos-int64(len(c.last)))
}

func (c *cursor) compare(f *os.File, want []byte, at int64) error {
	got := c.buf[:len(want)]
	n, err := f.ReadAt(got, at)
	switch {
	case n < len(want) && !errors.Is(err, io.EOF):
		return err
	case !bytes.Equal(got[:n], want):
		return errRewritten
	}
	return nil
}
