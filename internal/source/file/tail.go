package file

import (
	"errors"
	"fmt"
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

	mu     sync.Mutex
	path   string // the last one it had
	size   int64  // when it was last looked at
	source string // Origin.Source
	file   *os.File
	cursor *cursor
	mark   *lines.Watermark
	saved  note // what the store has; empty: nothing
	over   bool // forgotten: nothing may be noted of it any more

	reader  *lines.Reader
	next    int64     // where the first line that was not handed out begins
	quiet   bool      // at its end as far as is known
	fresh   bool      // not yet noted: no line may be sent
	done    bool      // it lost its name and was read to its end
	left    bool      // for good
	lost    bool      // it was closed when it lost its name, and is not to be found
	changed time.Time // of the content, when it was last looked at
	behind  *tail     // it waits until this one is read to its end: it took that one's name

	looked int       // the last look around that saw it under a name that is wanted
	gone   time.Time // since when no wanted name leads to it; zero: one does
}

// use makes the tail read from an open file, from where it stands. A file that is not what was read so far tells so
// with the first read. When use fails the tail is as it was.
func (t *tail) use(f *os.File) error {
	c, err := newCursor(f, t.next)
	if err == nil && t.cursor != nil {
		err = t.cursor.verify(f) // after newCursor, so that it vouches for what that one has seen
	}
	switch {
	case errors.Is(err, errRewritten):
		c = &cursor{file: f, pos: t.next, err: err}
	case err != nil:
		return err
	}
	t.mu.Lock()
	t.file, t.cursor = f, c
	t.mu.Unlock()
	t.reader = lines.NewReader(c, lines.Options{Max: t.max, Offset: t.next})
	return nil
}

// restart begins again with what is now another file's content.
func (t *tail) restart() error {
	t.mu.Lock()
	t.source = newSource(t.id)
	t.mark = lines.NewWatermark(0)
	t.cursor = nil
	t.mu.Unlock()
	t.next, t.quiet, t.fresh = 0, false, true
	return t.use(t.file)
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

// note is what should be remembered of the tail now. changed is false when that is what was saved last, or when the
// file has other content, which the reader is about to find out: a note must not vouch for that.
func (t *tail) note() (n note, changed bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.cursor == nil {
		return t.saved, false, nil
	}
	n = t.saved
	n.Path, n.Source, n.Born, n.Size = t.path, t.source, t.born, t.size
	n.Offset = t.mark.Low()
	n.printHead(t.cursor.head())
	if n == t.saved {
		return n, false, nil
	}
	if n.Source == t.saved.Source && n.Offset == t.saved.Offset {
		return n, true, nil
	}
	n.TailBytes, n.Tail = 0, "" // not known, so not compared
	if t.file == nil {
		return n, true, nil
	}
	n.printTail(t.file)
	switch err := t.cursor.verify(t.file); {
	case errors.Is(err, errRewritten):
		return t.saved, false, nil
	case err != nil:
		return t.saved, false, fmt.Errorf("%s: %w", t.path, err)
	}
	return n, true, nil
}

// known tells whether the tail is noted, and the digest of its beginning with it reaches so far that the lines below
// end cannot be taken for others: a file that is truncated while nobody reads may get new lines in the places of old
// ones, and a queue would refuse them as duplicates. What it has to reach to grows with the file until it is headBytes.
func (t *tail) known(end int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.saved.Source == t.source && int64(t.saved.HeadBytes) >= min(end, headBytes)
}

// newSource is a name for a file's content that no other content has.
func newSource(id fileID) string {
	return fmt.Sprintf("file:%x:%x:%s", id.device, id.inode, message.NewID())
}
