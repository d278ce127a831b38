package file_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// spareFiles counts the spares on a disk.
func spareFiles(d *faultfs.Disk) int {
	n := 0
	for _, name := range d.Names() {
		if strings.Contains(name, "spare-") {
			n++
		}
	}
	return n
}

func TestABusyLogGetsItsSegmentsBackAndACalmOneGivesThemUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.IdleSeal = time.Second
		j := mustOpen(t, o)
		j.Keep(slices.Values([]journal.Address(nil)))
		made, removed := 0, 0
		var mu sync.Mutex
		d.Fault(func(op faultfs.Op) error {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case op.Kind == "create" && strings.Contains(op.Name, "spare-"):
				made++
			case op.Kind == "remove" && !strings.Contains(op.Name, "checkpoint"):
				removed++
			}
			return nil
		})
		counts := func() (int, int) {
			mu.Lock()
			defer mu.Unlock()
			return made, removed
		}
		// Bursts of some five segments, each given back as a whole.
		burst := func() {
			for n := range 60 {
				mustAppend(t, j, message(n, 900))
			}
			j.ReleaseBefore(j.End() + 1)
			saveCheckpoint(t, j, j.End(), "older")
			saveCheckpoint(t, j, j.End(), "newer")
			synctest.Wait() // the keeper has given back what there is
		}
		burst()
		before, gone := counts()
		for range 5 {
			burst()
		}
		if after, now := counts(); after-before > 5 || now > gone {
			t.Errorf("in five bursts %d spares were made anew, %d segments removed: they were to be used again",
				after-before, now-gone)
		}
		if n := spareFiles(d); n < 5 || n > 10 {
			t.Errorf("%d spares after a burst of five segments", n)
		}
		time.Sleep(time.Minute) // the bubble's clock
		synctest.Wait()
		if n := spareFiles(d); n != 3 {
			t.Errorf("a calm log keeps %d spares, not 3", n)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestALargeGroupGetsALargeSegmentAmongRecycledOnes: a spare that is written is preferred only where the group fits.
func TestALargeGroupGetsALargeSegmentAmongRecycledOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		j.Keep(slices.Values([]journal.Address(nil)))
		for n := range 60 {
			mustAppend(t, j, message(n, 900))
		}
		j.ReleaseBefore(j.End() + 1)
		saveCheckpoint(t, j, j.End(), "older")
		saveCheckpoint(t, j, j.End(), "newer")
		synctest.Wait() // segments have become spares
		if n := spareFiles(d); n < 5 {
			t.Fatalf("%d spares: the test looks at nothing", n)
		}
		want := []journal.Position{mustAppend(t, j, message(1, 100_000)), mustAppend(t, j, message(2, 900))}
		for _, name := range d.Names() {
			if strings.Contains(name, "spare-") && len(d.Bytes(name)) > 16<<10 {
				t.Errorf("%s has %d bytes: it was made for the large group", name, len(d.Bytes(name)))
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := groupsOn(t, d)
		if err != nil || len(got) < 2 || !slices.Equal(got[len(got)-2:], want) {
			t.Errorf("the last groups are at %v, %v; want %v", got, err, want)
		}
	})
}

// TestNobodyWaitsForTheFirstZerosOfASegment: they are written and synced while it is a spare, and not again when it is
// the tail.
func TestNobodyWaitsForTheFirstZerosOfASegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.SegmentBytes = 4 << 20
		j := mustOpen(t, o)
		zeroed := map[string]int64{} // durable, by the name of a spare
		tails := map[string]int64{}  // where the first zeros behind its header went
		pending := map[string]int64{}
		var mu sync.Mutex
		d.Fault(func(op faultfs.Op) error {
			mu.Lock()
			defer mu.Unlock()
			spare := strings.Contains(op.Name, "spare-")
			switch {
			case op.Kind == "write" && op.Bytes == 128<<10 && spare:
				pending[op.Name] = op.Offset + int64(op.Bytes)
			case op.Kind == "sync" && spare:
				zeroed[op.Name] = pending[op.Name]
			case op.Kind == "write" && op.Bytes == 128<<10:
				if _, ok := tails[op.Name]; !ok {
					tails[op.Name] = op.Offset
				}
			}
			return nil
		})
		for n := range 600 {
			mustAppend(t, j, message(n, 9000))
			if n%5 == 0 {
				synctest.Wait() // the keeper is as fast as the log
			}
		}
		synctest.Wait()
		mu.Lock()
		whole, late := 0, 0
		for _, n := range zeroed {
			if n == 1<<20 {
				whole++
			}
		}
		for _, at := range tails {
			if at == 1<<20 {
				late++
			}
		}
		if whole == 0 || late == 0 {
			t.Errorf("zeros up to %v are durable in spares, and tails have more from %v on", zeroed, tails)
		}
		mu.Unlock()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
