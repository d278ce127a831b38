package file_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// owned is what the owner of a journal folds of it: the messages that are there, by number. It is the ledger of what
// was acknowledged, and what a start finds is compared with it.
type owned map[int]journal.Address

// fold is an owner's start: the newest checkpoint and the groups behind it.
func fold(ctx context.Context, j journal.Journal) (owned, error) {
	o := owned{}
	at, state, _, err := j.LoadCheckpoint(ctx)
	switch {
	case errors.Is(err, journal.ErrNoCheckpoint):
	case err != nil:
		return nil, err
	default:
		lines := bufio.NewScanner(state)
		for lines.Scan() {
			var n int
			var a journal.Address
			if _, err := fmt.Sscanf(lines.Text(), "%d %d %d", &n, &a.Position, &a.Index); err != nil {
				return nil, err
			}
			o[n] = a
		}
		if err := errors.Join(lines.Err(), state.Close()); err != nil {
			return nil, err
		}
	}
	for g, err := range j.Scan(ctx, at) {
		if err != nil {
			return nil, err
		}
		for i, r := range g.Records {
			if r.Life == journal.Lasting {
				o[int(r.Sequence)] = journal.Address{Position: g.Position, Index: uint32(i)}
			} else {
				delete(o, int(r.Sequence))
			}
		}
	}
	return o, nil
}

// save is the owner's part of a checkpoint.
func (o owned) save(w io.Writer) error {
	for _, n := range slices.Sorted(maps.Keys(o)) {
		if _, err := fmt.Fprintf(w, "%d %d %d\n", n, o[n].Position, o[n].Index); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf is how large the body of a message is: its number tells.
func sizeOf(n int) int { return 20 + n*397%2600 }

// layout is a folder as a process that was killed leaves it, or one that was stopped, with what it had acknowledged.
type layout struct {
	name  string
	disk  *faultfs.Disk
	want  owned
	older map[string][][]byte // earlier contents of each file, the latest last
}

// living is a journal at work, and the layouts that it has gone through.
type living struct {
	t       *testing.T
	d       *faultfs.Disk
	j       *file.Journal
	owned   owned
	next    int
	layouts []layout
	older   map[string][][]byte
}

func (l *living) open() {
	l.t.Helper()
	o := small(l.d)
	o.IdleSeal = time.Second
	l.j = mustOpen(l.t, o)
	got, err := fold(l.t.Context(), l.j)
	if err != nil || !maps.Equal(got, l.owned) {
		l.t.Fatalf("an undamaged start finds %v, %v; want %v", got, err, l.owned)
	}
	l.j.Keep(maps.Values(l.owned))
}

func (l *living) close() {
	l.t.Helper()
	if err := l.j.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// put appends groups of a message and returns the first error.
func (l *living) put(groups int) error {
	for range groups {
		n := l.next
		p, err := appendWait(l.j, message(n, sizeOf(n)))
		if err != nil {
			return err
		}
		l.next++
		l.owned[n] = journal.Address{Position: p}
	}
	return nil
}

func (l *living) mustPut(groups int) {
	l.t.Helper()
	if err := l.put(groups); err != nil {
		l.t.Fatal(err)
	}
}

// settleAll settles the messages that which names.
func (l *living) settleAll(which func(n int) bool) {
	l.t.Helper()
	for _, n := range slices.Sorted(maps.Keys(l.owned)) {
		if which(n) {
			mustAppend(l.t, l.j, settle(n))
			l.j.Release(l.owned[n])
			delete(l.owned, n)
		}
	}
}

func (l *living) checkpoint() {
	l.t.Helper()
	if err := l.j.SaveCheckpoint(l.t.Context(), l.j.End(), l.owned.save); err != nil {
		l.t.Fatal(err)
	}
}

// as notes the folder as it is now.
func (l *living) as(name string) {
	synctest.Wait()
	older := map[string][][]byte{}
	for name, list := range l.older {
		older[name] = slices.Clone(list)
	}
	l.layouts = append(l.layouts, layout{name, l.d.Clone(), maps.Clone(l.owned), older})
	for _, name := range l.d.Names() {
		b := l.d.Bytes(name)
		if list := l.older[name]; len(list) == 0 || string(list[len(list)-1]) != string(b) {
			l.older[name] = append(list, b)
		}
	}
}

// lives plays the life of a journal and returns the layouts that it went through: new, sealed, stopped and started,
// over checkpoints, rolls, cleaning and a full disk.
func lives(t *testing.T) []layout {
	l := &living{t: t, d: faultfs.New(), owned: owned{}, older: map[string][][]byte{}}
	synctest.Test(t, func(t *testing.T) {
		l.t = t
		l.firstDays()
		l.work()
		l.fullDisk()
	})
	return l.layouts
}

func (l *living) firstDays() {
	l.open()
	l.as("made, empty")
	l.mustPut(3)
	l.as("new")
	time.Sleep(3 * time.Second)
	l.as("sealed when idle")
	l.mustPut(1)
	l.as("one behind a seal")
	l.close()
	l.as("stopped")
	l.open()
	l.as("started again")
	l.mustPut(1)
	l.as("one behind a start")
	l.mustPut(3)
	l.as("some behind a start")
	l.checkpoint()
	l.as("first checkpoint")
	l.mustPut(1)
	l.as("one behind a checkpoint")
}

func (l *living) work() {
	for n := range 16 {
		segments := l.count(".log")
		l.mustPut(1)
		if l.count(".log") > segments {
			l.as(fmt.Sprintf("rolled at %d", n))
			l.mustPut(1)
			l.as(fmt.Sprintf("one more behind the roll at %d", n))
		}
	}
	l.settleAll(func(n int) bool { return n%3 == 0 })
	l.checkpoint()
	l.as("second checkpoint")
	l.mustPut(40)
	l.settleAll(func(n int) bool { return n%7 != 0 })
	l.as("much settled")
	l.checkpoint()
	l.as("third checkpoint")
	l.checkpoint()
	settled()
	if len(coldNames(l.d)) == 0 {
		l.t.Fatal("nothing was cleaned")
	}
	l.as("cleaned")
	l.mustPut(2)
	l.as("some behind a cleaning")
	l.close()
	l.as("stopped after a cleaning")
	l.open()
	l.mustPut(2)
	l.as("some behind a start after a cleaning")
	l.settleAll(func(n int) bool { return n%2 == 0 })
	l.mustPut(30)
	l.checkpoint()
	l.checkpoint()
	settled()
	l.as("cleaned again")
	l.close()
	l.open()
	l.close()
	l.as("stopped without work")
	l.open()
	l.mustPut(1)
	l.as("one behind a start without work")
}

func (l *living) count(suffix string) int {
	return len(slices.DeleteFunc(l.d.Names(), func(name string) bool { return !strings.HasSuffix(name, suffix) }))
}

func (l *living) fullDisk() {
	l.d.Limit(1)
	for n := 0; ; n++ {
		if err := l.put(1); errors.Is(err, journal.ErrFull) {
			break
		} else if err != nil || n > 100 {
			l.t.Fatal(n, err)
		}
	}
	l.settleAll(func(n int) bool { return n%4 == 0 })
	l.as("full disk")
	l.d.Limit(0)
	l.mustPut(3)
	l.as("behind a full disk")
	l.checkpoint()
	settled()
	l.close()
	l.as("stopped in the end")
	l.open()
	l.as("started in the end")
	l.close()
}
