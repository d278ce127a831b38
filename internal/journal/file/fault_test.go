package file_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

var errBroken = errors.New("the disk is broken")

func TestFailedSyncEndsTheJournalUntilItIsReopened(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	before := mustAppend(t, j, message(1, 100))
	var failures atomic.Int32
	d.Fault(func(op faultfs.Op) error {
		if op.Kind == "sync" && failures.Add(1) == 1 { // the next one would succeed: it must not be asked
			return errBroken
		}
		return nil
	})
	if _, err := appendWait(j, message(2, 100)); !errors.Is(err, journal.ErrUnknown) || !errors.Is(err, errBroken) {
		t.Fatalf("the append whose sync failed: %v", err)
	}
	never := func(journal.Position, error, int) { t.Error("done was called for a group that was refused") }
	for what, err := range map[string]error{
		"append":     j.Append([]journal.Record{message(3, 100)}, never),
		"write":      j.Write([]journal.Record{settle(3)}),
		"sync":       j.Sync(t.Context()),
		"checkpoint": j.SaveCheckpoint(t.Context(), before, nil),
		"close":      j.Close(),
	} {
		if what != "close" && !errors.Is(err, journal.ErrFailed) && !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s after a failed sync: %v", what, err)
		}
	}
	if n := failures.Load(); n != 1 {
		t.Errorf("the disk was asked to sync %d more times", n-1)
	}
	d.Fault(nil)
	j = mustOpen(t, small(d))
	defer j.Close()
	if end := j.End(); end < before {
		t.Errorf("the log ends at %d, before what was acknowledged at %d", end, before)
	}
	mustAppend(t, j, message(4, 100))
}

func TestFailedWriteLeavesTheFateOfTheGroupUnknown(t *testing.T) {
	var j *file.Journal
	for try := 0; ; try++ {
		d := faultfs.New()
		j = mustOpen(t, small(d))
		d.Fault(func(op faultfs.Op) error {
			if op.Kind == "write" {
				return errBroken
			}
			return nil
		})
		_, err := appendWait(j, message(2, 100))
		if errors.Is(err, journal.ErrUnknown) {
			break
		}
		if !errors.Is(err, journal.ErrFailed) || try == 100 {
			t.Fatalf("append: %v", err)
		}
		_ = j.Close() // the journal's own write, of zeros ahead of the log, was the first that failed
	}
	if err := j.Write([]journal.Record{settle(3)}); !errors.Is(err, journal.ErrFailed) {
		t.Errorf("write: %v", err)
	}
	if err := j.Close(); !errors.Is(err, journal.ErrFailed) {
		t.Errorf("close: %v", err)
	}
}

func TestFullDiskInTheMiddleOfAWriteRefusesThatGroupOnly(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	want := []journal.Position{mustAppend(t, j, message(1, 100))}
	var full atomic.Bool
	d.Fault(noRoom(&full))
	full.Store(true)
	for range 3 {
		if _, err := appendWait(j, message(2, 900)); !errors.Is(err, journal.ErrFull) {
			t.Fatalf("append on a full disk: %v", err)
		}
	}
	if err := j.Write([]journal.Record{message(2, 900)}); !errors.Is(err, journal.ErrFull) {
		t.Fatalf("write on a full disk: %v", err)
	}
	full.Store(false)
	want = append(want, mustAppend(t, j, message(3, 50)))
	full.Store(true)
	if _, err := appendWait(j, message(4, 5000)); !errors.Is(err, journal.ErrFull) {
		t.Fatalf("append on a full disk: %v", err)
	}
	full.Store(false)
	after := d.AfterKill().Clone()
	abandon(t, j, d)
	if got, err := groupsOn(t, after); err != nil || !slices.Equal(got, want) {
		t.Errorf("groups at %v, %v; want %v", got, err, want)
	}
}

func TestOnAFullDiskSettlesGoOnAndRoomComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		d.Limit(400 << 10)
		j := mustOpen(t, small(d))
		defer j.Close()
		j.Keep(slices.Values([]journal.Address(nil)))
		var live []journal.Address
		for n := 0; ; n++ {
			p, err := appendWait(j, message(n, 1000))
			if errors.Is(err, journal.ErrFull) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			live = append(live, journal.Address{Position: p})
		}
		if len(live) < 80 {
			t.Fatalf("only %d messages fitted", len(live))
		}
		// The reserve takes the settling of all of them, and checkpoints.
		for part := range slices.Chunk(live, 10) {
			settles := make([]journal.Record, len(part))
			for i := range settles {
				settles[i] = settle(i)
			}
			if _, err := appendWait(j, settles...); err != nil {
				t.Fatalf("settle on a full disk: %v", err)
			}
			j.Release(part...)
		}
		saveCheckpoint(t, j, j.End(), strings.Repeat("state", 300))
		saveCheckpoint(t, j, j.End(), strings.Repeat("state", 300))
		synctest.Wait() // segments are reclaimed in the background
		for n := range 60 {
			if _, err := appendWait(j, message(n, 1000)); err != nil {
				t.Fatalf("message %d after room came back: %v", n, err)
			}
		}
	})
}

func TestJournalOnAFullDiskOpens(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	want := mustAppend(t, j, message(1, 100))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range d.Names() {
		if strings.Contains(name, "spare") {
			if err := d.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.Limit(1)
	j = mustOpen(t, small(d))
	defer j.Close()
	if j.End() != want {
		t.Errorf("the log ends at %d, not %d", j.End(), want)
	}
	if _, err := appendWait(j, message(2, 100)); !errors.Is(err, journal.ErrFull) {
		t.Errorf("a message: %v", err)
	}
	mustAppend(t, j, settle(1))
	d.Limit(0)
	mustAppend(t, j, message(2, 100))
}

func TestReadOnlyLooksAtATornLogWithoutTouchingIt(t *testing.T) {
	disk, at := killed(t, 100, 300)
	if err := disk.Set(firstSegment, int64(at[1])+100, 0xee); err != nil {
		t.Fatal(err)
	}
	o := small(disk)
	o.ReadOnly = true
	before := disk.Changes()
	j := mustOpen(t, o)
	if j.End() != at[0] {
		t.Errorf("the log ends at %d, not %d", j.End(), at[0])
	}
	never := func(journal.Position, error, int) { t.Error("done was called") }
	if err := j.Append([]journal.Record{settle(1)}, never); !errors.Is(err, journal.ErrRefused) {
		t.Errorf("append: %v", err)
	}
	if _, err := content(t.Context(), j); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if n := disk.Changes() - before; n != 0 {
		t.Errorf("%d changes were made", n)
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	for _, o := range []file.Options{
		{},
		{Dir: "log", Durability: "perhaps"},
		{Dir: "log", SegmentBytes: 1000},
		{Dir: "log", SegmentBytes: 1<<20 + 1},
		{Dir: "log", MaxGroupBytes: -1},
	} {
		o.FS = faultfs.New()
		if j, err := file.Open(t.Context(), o); err == nil {
			t.Errorf("%+v was accepted", o)
			j.Close() //nolint:errcheck // failing already
		}
	}
}
