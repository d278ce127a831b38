package file_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// reported is what a journal said.
type reported struct {
	mu   sync.Mutex
	said []string
}

func (r *reported) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, err.Error())
}

// count is how many reports have a text in them.
func (r *reported) count(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, s := range r.said {
		if strings.Contains(s, text) {
			n++
		}
	}
	return n
}

// TestADiskThatDoesNotAnswerIsNotHealthyUntilItDoes: whatever it was asked for, whatever lock is held meanwhile, and
// without anybody who puts again. It is said at once, again and again, and that it is over.
func TestADiskThatDoesNotAnswerIsNotHealthyUntilItDoes(t *testing.T) {
	little := func(op faultfs.Op) bool { return op.Kind == "write" && op.Bytes < 4096 } // zeros are more
	for _, c := range []struct {
		says       string
		durability journal.Durability
		size       int // of the message that the disk hangs with
		hangs      func(faultfs.Op) bool
	}{
		{"a sync of the log", journal.Fsync, 100, func(op faultfs.Op) bool {
			return op.Kind == "sync" && strings.HasSuffix(op.Name, ".log")
		}},
		{"a write to the log", journal.Fsync, 100, little},
		{"a write to the log", journal.None, 100, little},
		{"the beginning of a segment", journal.Fsync, 40 << 10, func(op faultfs.Op) bool {
			return op.Kind == "rename" && strings.Contains(op.Name, "spare")
		}},
	} {
		t.Run(string(c.durability)+": "+c.says, func(t *testing.T) {
			d, said := faultfs.New(), new(reported)
			o := small(d)
			o.Patience, o.Report, o.Durability = 20*time.Millisecond, said.add, c.durability
			j := mustOpen(t, o)
			mustAppend(t, j, message(0, 100))
			answer := d.Hang(c.hangs)
			defer answer()
			done := make(chan error, 1)
			go func() {
				_, err := appendWait(j, message(1, c.size))
				done <- err
			}()
			waittest.Until(t, "it is not healthy", func() bool {
				err := j.Health()
				return errors.Is(err, journal.ErrStalled) && strings.Contains(err.Error(), c.says)
			})
			waittest.Until(t, "it is said twice", func() bool { return said.count(c.says+" is under way") >= 2 })
			answer()
			if err := <-done; err != nil {
				t.Error(err)
			}
			waittest.Until(t, "all is well again",
				func() bool { return j.Health() == nil && said.count("answers again") == 1 })
			mustAppend(t, j, message(2, 100))
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestADiskThatOnlyTheWatchAsksIsFoundHangingToo: nobody has put anything since it went away.
func TestADiskThatOnlyTheWatchAsksIsFoundHangingToo(t *testing.T) {
	d := faultfs.New()
	o := small(d)
	o.Patience, o.Watch = 20*time.Millisecond, 5*time.Millisecond
	j := mustOpen(t, o)
	answer := d.Hang(func(op faultfs.Op) bool { return op.Name == "elsewhere/file" })
	defer answer()
	go func() { _, _ = d.Create("elsewhere/file") }() // somebody else's, on the same disk
	waittest.Until(t, "it is not healthy", func() bool { return errors.Is(j.Health(), journal.ErrStalled) })
	answer()
	waittest.Until(t, "all is well again", func() bool { return j.Health() == nil })
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
