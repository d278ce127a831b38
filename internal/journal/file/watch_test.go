package file_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// newest is the name of the newest segment on a disk.
func newest(d *faultfs.Disk) string {
	name := ""
	for _, n := range d.Names() {
		if strings.HasSuffix(n, ".log") {
			name = n // names rise
		}
	}
	return name
}

// TestAJournalWhoseFolderWentTakesNothingWithinASecond: whatever became of the folder, nothing more is acknowledged.
func TestAJournalWhoseFolderWentTakesNothingWithinASecond(t *testing.T) {
	for _, c := range []struct {
		name string
		away func(d *faultfs.Disk) error
		says string
	}{
		{"renamed away, removed or unmounted", func(d *faultfs.Disk) error { d.TakeFolder(); return nil },
			"the folder is gone"},
		{"replaced by another", func(d *faultfs.Disk) error { d.SwapFolder(); return nil },
			"another folder stands in the place"},
		{"read-only", func(d *faultfs.Disk) error { d.SetReadOnly(true); return nil }, "reading only"},
		{"newest segment removed", func(d *faultfs.Disk) error { return d.Remove(newest(d)) },
			"was removed or replaced"},
		{"newest segment cut", func(d *faultfs.Disk) error {
			f, err := d.Open(newest(d), false)
			if err != nil {
				return err
			}
			return errors.Join(f.Truncate(2000), f.Close())
		}, "was cut to 2000 bytes"},
		{"newest segment replaced", func(d *faultfs.Disk) error {
			f, err := d.Create("log/other")
			if err != nil {
				return err
			}
			return errors.Join(f.Close(), d.Rename("log/other", newest(d)))
		}, "was removed or replaced"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := faultfs.New()
				j := mustOpen(t, small(d))
				for n := range 40 { // over several segments
					mustAppend(t, j, message(n, 1000))
					time.Sleep(100 * time.Millisecond) // the bubble's clock
				}
				if err := j.Health(); err != nil {
					t.Fatalf("before: %v", err)
				}
				if err := c.away(d); err != nil {
					t.Fatal(err)
				}
				gone := time.Now()
				<-j.Failed()
				if took := time.Since(gone); took > time.Second {
					t.Errorf("it was noticed after %v", took)
				}
				if err := j.Health(); !errors.Is(err, journal.ErrFailed) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("health: %v", err)
				}
				if _, err := appendWait(j, message(99, 10)); !errors.Is(err, journal.ErrFailed) {
					t.Errorf("an append: %v", err)
				}
				if err := j.Close(); !errors.Is(err, journal.ErrFailed) {
					t.Errorf("close: %v", err)
				}
			})
		})
	}
}

// TestAListOfSegmentsThatWasRemovedIsWrittenAgain: it is in memory, so nothing is lost and nobody is refused.
func TestAListOfSegmentsThatWasRemovedIsWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		var mu sync.Mutex
		var said []string
		o.Report = func(err error) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, err.Error())
		}
		j := mustOpen(t, o)
		for n := range 40 {
			mustAppend(t, j, message(n, 1000))
		}
		time.Sleep(time.Second) // the bubble's clock
		for _, name := range []string{"log/manifest-0", "log/manifest-1"} {
			if err := d.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		mustAppend(t, j, message(40, 1000))
		if mu.Lock(); len(said) == 0 || !strings.Contains(said[0], "was removed by somebody") {
			t.Errorf("it said %q", said)
		}
		mu.Unlock()
		dead := d.AfterKill()
		if err := j.Close(); err == nil {
			t.Error("a disk that was cut closes well")
		}
		again := mustOpen(t, small(dead))
		groups := 0
		for _, err := range again.Scan(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			groups++
		}
		if groups != 41 {
			t.Errorf("%d groups after the restart", groups)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestHealthFollowsTheRoomOnTheDisk: also when nobody puts any more, and somebody else makes room.
func TestHealthFollowsTheRoomOnTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.IdleSeal = time.Second
		reports := 0
		var mu sync.Mutex
		o.Report = func(error) { mu.Lock(); defer mu.Unlock(); reports++ }
		j := mustOpen(t, o)
		d.Limit(300<<10 + 128) // segments, manifests, and the note of what was synced
		var err error
		for n := 0; err == nil; n++ {
			health := j.Health() // may tell of it before the first refusal: spare segments are made beside the appends
			if _, err = appendWait(j, message(n, 4000)); err == nil && health != nil {
				t.Errorf("message %d was taken, and before it health was: %v", n, health)
			}
		}
		if health := j.Health(); !errors.Is(err, journal.ErrFull) || !errors.Is(health, journal.ErrFull) {
			t.Errorf("append: %v; health: %v", err, health)
		}
		time.Sleep(time.Hour) // the bubble's clock
		if health := j.Health(); health == nil {
			mustAppend(t, j, message(0, 4000)) // what it promises
		} else if !errors.Is(health, journal.ErrFull) {
			t.Errorf("health after an hour: %v", health)
		}
		if mu.Lock(); reports > 100 {
			t.Errorf("a full disk was reported %d times in an hour", reports)
		}
		mu.Unlock()
		d.Limit(600 << 10)
		time.Sleep(2 * time.Second)
		if err := j.Health(); err != nil {
			t.Errorf("health when there is room again: %v", err)
		}
		mustAppend(t, j, message(1, 4000))
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}
