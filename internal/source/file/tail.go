package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
)

// tail is one file being read. Its fields belong to the goroutine that reads, but for those that mu guards: they are
// read by the one that writes notes.
type tail struct {
	id   fileID
	max  int // bytes of a line
	born int64

	mu      sync.Mutex
	path    string // the last one it had
	source  string // Origin.Source
	file    *os.File
	mark    *lines.Watermark
	saved   note
	unsaved bool // saved was never written down
	over    bool // forgotten: nothing may be noted of it any more

	cursor  *cursor
	reader  *lines.Reader
	next    int64     // where the first line that was not handed out begins
	quiet   bool      // at its end as far as is known
	fresh   bool      // not yet noted: no line may be sent
	done    bool      // it lost its name and was read to its end
	left    bool      // for good
	lost    bool      // it was closed when it lost its name, and is not to be found
	size    int64     // when it was last looked at
	changed time.Time // of the content, when it was last looked at
	behind  *tail     // it waits until this one is read to its end: it took that one's name

	looked int       // the last look around that saw it under a name that is wanted
	gone   time.Time // since when no wanted name leads to it; zero: one does
}

// cursor reads a file from a position and keeps the last bytes it has read.
type cursor struct {
	file *os.File
	pos  int64
	last []byte
	// ended: the last read found nothing more, so what it kept is compared before anything is read behind it.
	ended bool
}

// errRewritten: what was read before is no longer there.
var errRewritten = errors.New("the file was truncated or written anew")

func (c *cursor) Read(b []byte) (int, error) {
	if c.ended {
		if err := c.check(); err != nil {
			return 0, err
		}
	}
	n, err := c.file.ReadAt(b, c.pos)
	c.pos += int64(n)
	c.keep(b[:n])
	c.ended = errors.Is(err, io.EOF)
	if n > 0 {
		return n, nil
	}
	return 0, err
}

func (c *cursor) keep(b []byte) {
	if len(b) >= tailBytes {
		c.last = append(c.last[:0], b[len(b)-tailBytes:]...)
		return
	}
	c.last = append(c.last, b...)
	if over := len(c.last) - tailBytes; over > 0 {
		c.last = append(c.last[:0], c.last[over:]...)
	}
}

// carry takes over what another cursor kept of the bytes before this one's position: the first read compares them.
func (c *cursor) carry(old *cursor) {
	if over := old.pos - c.pos; over >= 0 && over < int64(len(old.last)) {
		c.last, c.ended = old.last[:int64(len(old.last))-over], true
	}
}

// shrunk makes the first read find out that the file is shorter than it was.
func (c *cursor) shrunk() { c.last, c.ended = []byte{0}, true }

// check finds out whether the file was truncated since the last read, also when it has grown again beyond where that ended.
func (c *cursor) check() error {
	b := make([]byte, len(c.last))
	n, err := c.file.ReadAt(b, c.pos-int64(len(b)))
	if n == len(b) && bytes.Equal(b, c.last) {
		c.ended = false
		return nil
	}
	if n < len(b) && !errors.Is(err, io.EOF) {
		return err
	}
	return errRewritten
}

// use makes the tail read from an open file, from where it stands.
func (t *tail) use(f *os.File) {
	t.mu.Lock()
	t.file = f
	t.mu.Unlock()
	old := t.cursor
	t.cursor = &cursor{file: f, pos: t.next}
	if old != nil {
		t.cursor.carry(old)
	}
	t.reader = lines.NewReader(t.cursor, lines.Options{Max: t.max, Offset: t.next})
}

// restart begins again with what is now another file's content.
func (t *tail) restart() {
	t.mu.Lock()
	t.source = newSource(t.id)
	t.mark = lines.NewWatermark(0)
	t.mu.Unlock()
	t.next, t.quiet, t.fresh, t.cursor = 0, false, true, nil
	t.use(t.file)
}

// close lets go of the open file. The tail knows where to go on.
func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		t.file.Close() // only read from: nothing can be lost
		t.file = nil
	}
}

// note is what should be remembered of the tail now. changed is false when that is what was saved last.
func (t *tail) note() (n note, changed bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n = t.saved
	n.Path, n.Source, n.Born = t.path, t.source, t.born
	n.Offset = t.mark.Low()
	if t.over || n == t.saved && !t.unsaved {
		return n, false, nil
	}
	if t.file == nil {
		if n.Offset == t.saved.Offset {
			return n, true, nil
		}
		n.TailBytes, n.Tail = 0, "" // not known, so not compared
		return n, true, nil
	}
	err = n.print(t.file)
	return n, true, err
}

// newSource is a name for a file's content that no other content has.
func newSource(id fileID) string {
	return fmt.Sprintf("file:%x:%x:%s", id.device, id.inode, message.NewID())
}
