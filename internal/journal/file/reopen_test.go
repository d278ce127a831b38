package file_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// TestAFailureThatIsNoSyncsLosesNothingWhenTheJournalIsOpenedAgain lets operations fail, one or all from one on, while
// several writers work, and opens the journal again in the same process as often as it may be. Only where a sync failed
// it may not, and the next process has what there was. In the end the power fails.
func TestAFailureThatIsNoSyncsLosesNothingWhenTheJournalIsOpenedAgain(t *testing.T) {
	reopened, ended := 0, 0
	for seed := range uint64(amount(60, 8, 3)) {
		random := rand.New(rand.NewPCG(seed, 22))
		l := &life{acked: map[uint64]journal.Position{}, unknown: map[uint64]bool{}, released: map[uint64]bool{}}
		disk := faultfs.New()
		o := small(disk)
		o.Report = func(error) {} // it has reason to complain
		j := mustOpen(t, o)
		l.check(t, j, seed, -1)
		synced := false // while this journal is open
		for failure := range 12 {
			syncs := failAtRandom(disk, random)
			l.live(t, j, random)
			disk.Fault(nil)
			synced = synced || syncs()
			switch next, again := openAgain(t, j, synced); {
			case again:
				j, synced = next, false
				reopened++
				l.check(t, j, seed, failure)
			case next == nil:
				j, synced = mustOpen(t, o), false // the next process
				ended++
				l.check(t, j, seed, failure)
			}
		}
		disk.Cut()
		_ = j.Close() // the power is off
		if n := disk.Opened(); n > 0 {
			t.Errorf("life %d: %d files are left open", seed, n)
		}
		j = mustOpen(t, small(disk.AfterPowerCut(random)))
		l.check(t, j, seed, 12)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if reopened == 0 || ended == 0 {
		t.Errorf("%d journals were opened again and %d were not: nothing is said", reopened, ended)
	}
}

// failAtRandom has an operation of some kind fail, and perhaps all that follow. synced tells whether a sync has.
func failAtRandom(disk *faultfs.Disk, random *rand.Rand) (synced func() bool) {
	kinds := []string{"write", "write", "write", "create", "rename", "remove", "allocate", "truncate", "sync",
		"syncdir"}
	kind, left, goesOn := kinds[random.IntN(len(kinds))], 1+random.IntN(40), random.IntN(2) == 0
	if kind == "rename" || kind == "syncdir" {
		left = 1 + random.IntN(3) // there are few
	}
	var failed atomic.Bool
	disk.Fault(func(op faultfs.Op) error {
		if op.Kind != kind {
			return nil
		}
		if left--; left == 0 || left < 0 && goesOn {
			if kind == "sync" || kind == "syncdir" {
				failed.Store(true)
			}
			return errBroken
		}
		return nil
	})
	return failed.Load
}

// openAgain opens a journal again that has failed. It returns one that has not as it is, and nil where the process has
// to end.
func openAgain(t *testing.T, j *file.Journal, synced bool) (next *file.Journal, again bool) {
	t.Helper()
	select {
	case <-j.Failed():
	default:
		return j, false
	}
	health := j.Health()
	switch opened, err := j.Reopen(t.Context()); {
	case err == nil && (synced || !errors.Is(health, journal.ErrReopen)):
		t.Fatalf("a journal was opened again after a failed sync: %v", health)
	case err == nil:
		return opened.(*file.Journal), true
	case !synced, errors.Is(err, journal.ErrReopen):
		t.Fatalf("a journal was not opened again: %v (%v)", err, health)
	}
	return nil, false
}

func TestAJournalIsOpenedAgainOnceTheDiskTakesWhatIsWritten(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	before := mustAppend(t, j, message(1, 100))
	d.Fault(func(op faultfs.Op) error {
		if op.Kind == "write" {
			return errBroken
		}
		return nil
	})
	if _, err := appendWait(j, message(2, 100)); !errors.Is(err, journal.ErrReopen) || !errors.Is(err, errBroken) {
		t.Fatalf("an append that the disk refuses: %v", err)
	}
	for range 3 {
		if _, err := j.Reopen(t.Context()); !errors.Is(err, journal.ErrReopen) || !errors.Is(err, errBroken) {
			t.Fatalf("open it again while the disk refuses to write: %v", err)
		}
	}
	d.Fault(nil)
	next, err := j.Reopen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if end := next.End(); end != before {
		t.Errorf("the log ends at %d, not at %d", end, before)
	}
	mustAppend(t, next, message(3, 100))
	if err := next.Close(); err != nil {
		t.Error(err)
	}
	if n := d.Opened(); n > 0 {
		t.Errorf("%d files are left open", n)
	}
}

// TestASyncThatFailsAfterAWriteDidIsTheLast: the handles that have written are asked once more before they are closed.
// What they say ends the process, also where the write alone would not have.
func TestASyncThatFailsAfterAWriteDidIsTheLast(t *testing.T) {
	for _, when := range []string{"as it is closed", "as it is opened again"} {
		t.Run(when, func(t *testing.T) {
			d := faultfs.New()
			j := mustOpen(t, small(d))
			mustAppend(t, j, message(1, 100))
			var syncs atomic.Bool
			d.Fault(func(op faultfs.Op) error {
				if op.Kind == "write" && !syncs.Load() || op.Kind == "sync" && syncs.Load() {
					return errBroken
				}
				return nil
			})
			if _, err := appendWait(j, message(2, 100)); !errors.Is(err, journal.ErrReopen) {
				t.Fatalf("an append that the disk refuses: %v", err)
			}
			if when != "as it is closed" {
				_ = j.Close() // which says that it has failed
			}
			syncs.Store(true)
			for range 2 {
				if _, err := j.Reopen(t.Context()); err == nil || errors.Is(err, journal.ErrReopen) && when ==
					"as it is closed" {
					t.Fatalf("opened again: %v", err)
				} else if when != "as it is closed" && errors.Is(err, journal.ErrReopen) {
					t.Fatalf("a start whose sync failed may be tried again: %v", err)
				}
			}
			d.Fault(nil)
			next := mustOpen(t, small(d)) // the next process
			if err := next.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWhatIsNotTheJournalThatWasOpenIsNotOpenedInItsPlace changes the folder after the journal has failed.
func TestWhatIsNotTheJournalThatWasOpenIsNotOpenedInItsPlace(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, d *faultfs.Disk){
		"another folder":    func(_ *testing.T, d *faultfs.Disk) { d.SwapFolder() },
		"no folder":         func(_ *testing.T, d *faultfs.Disk) { d.TakeFolder() },
		"an empty folder":   func(t *testing.T, d *faultfs.Disk) { removeAll(t, d, "") },
		"without a note":    func(t *testing.T, d *faultfs.Disk) { shorten(t, d); removeAll(t, d, "synced") },
		"locked by another": func(t *testing.T, d *faultfs.Disk) { lockElsewhere(t, d) },
	} {
		t.Run(name, func(t *testing.T) {
			d := faultfs.New()
			o := small(d)
			o.Report = func(error) {}
			j := mustOpen(t, o)
			mustAppend(t, j, message(1, 100))
			mustAppend(t, j, message(2, 100))
			d.Fault(func(op faultfs.Op) error {
				if op.Kind == "write" {
					return errBroken
				}
				return nil
			})
			if _, err := appendWait(j, message(3, 100)); !errors.Is(err, journal.ErrReopen) {
				t.Fatalf("an append that the disk refuses: %v", err)
			}
			_ = j.Close() // which says that it has failed
			d.Fault(nil)
			change(t, d)
			before := contentsOf(d)
			next, err := j.Reopen(t.Context())
			if err == nil {
				_ = next.Close()
				t.Fatal("it was opened")
			}
			if errors.Is(err, journal.ErrReopen) {
				t.Errorf("it may be tried again: %v", err)
			}
			if after := contentsOf(d); after != before {
				t.Error("what stands there was changed")
			}
		})
	}
}

func removeAll(t *testing.T, d *faultfs.Disk, part string) {
	t.Helper()
	for _, name := range d.Names() {
		if strings.Contains(name, part) {
			if err := d.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// shorten takes the last group of the log away that was acknowledged.
func shorten(t *testing.T, d *faultfs.Disk) {
	t.Helper()
	b := d.Bytes(firstSegment)
	at := int64(bytes.LastIndex(b, []byte("head of 2")))
	for i := at &^ 63; i < at+256; i++ {
		if err := d.Set(firstSegment, i, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func lockElsewhere(t *testing.T, d *faultfs.Disk) {
	t.Helper()
	if _, err := d.Lock("log/lock"); err != nil {
		t.Fatal(err)
	}
}

func contentsOf(d *faultfs.Disk) string {
	var b strings.Builder
	for _, name := range d.Names() {
		b.WriteString(name)
		b.Write(d.Bytes(name))
	}
	return b.String()
}

// TestWhatEndsAJournalForGoodIsNotOpenedAgain: the folder went, or the file system takes no more writes.
func TestWhatEndsAJournalForGoodIsNotOpenedAgain(t *testing.T) {
	for name, end := range map[string]func(d *faultfs.Disk){
		"the folder is gone":     func(d *faultfs.Disk) { d.TakeFolder() },
		"another folder":         func(d *faultfs.Disk) { d.SwapFolder() },
		"mounted for reading":    func(d *faultfs.Disk) { d.SetReadOnly(true) },
		"a write says read-only": func(d *faultfs.Disk) { d.Fault(faultfs.Nth("write", 1, syscall.EROFS)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := faultfs.New()
			o := small(d)
			o.Watch = time.Millisecond
			j := mustOpen(t, o)
			mustAppend(t, j, message(1, 100))
			end(d)
			waittest.Until(t, "the journal fails", func() bool {
				_, err := appendWait(j, message(2, 100))
				return errors.Is(err, journal.ErrFailed)
			})
			if err := j.Health(); errors.Is(err, journal.ErrReopen) {
				t.Errorf("it may be opened again: %v", err)
			}
			if _, err := j.Reopen(t.Context()); err == nil || errors.Is(err, journal.ErrReopen) {
				t.Errorf("open it again: %v", err)
			}
		})
	}
}
