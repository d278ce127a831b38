package file_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// logFiles counts the segments on a disk.
func logFiles(d *faultfs.Disk) int {
	n := 0
	for _, name := range d.Names() {
		if strings.HasSuffix(name, ".log") {
			n++
		}
	}
	return n
}

// coldFiles counts the cold segments on a disk.
func coldFiles(d *faultfs.Disk) int {
	n := 0
	for _, name := range d.Names() {
		if strings.HasSuffix(name, ".cold") {
			n++
		}
	}
	return n
}

func TestSegmentsAreReclaimedOnlyWhenNothingNeedsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		var addrs []journal.Address
		fill := func() {
			for n := range 60 {
				addrs = append(addrs, journal.Address{Position: mustAppend(t, j, message(n, 1000))})
			}
		}
		expect := func(when string, min, max int) {
			t.Helper()
			synctest.Wait() // the keeper has done what there is to do
			if n := logFiles(d); n < min || n > max {
				t.Fatalf("%s there are %d segments, not %d to %d", when, n, min, max)
			}
		}
		fill()
		j.Release(addrs...)
		saveCheckpoint(t, j, j.End(), "")
		saveCheckpoint(t, j, j.End(), "")
		expect("before Keep", 5, 7)
		j.Keep(slices.Values([]journal.Address(nil)))
		expect("with everything released and two checkpoints", 1, 1)
		addrs = nil
		fill()
		stuck := addrs[30]
		j.Release(addrs[:30]...)
		j.Release(addrs[31:]...)
		expect("with the older checkpoint before them", 5, 8)
		saveCheckpoint(t, j, j.End(), "")
		expect("with one of two checkpoints behind them", 5, 8)
		saveCheckpoint(t, j, j.End(), "")
		expect("with one record that is needed", 1, 1)
		if n := coldFiles(d); n != 1 {
			t.Fatalf("the record that is needed is in one of %d cold segments", n)
		}
		err := j.Read(t.Context(), []journal.Address{stuck, addrs[0]}, func(i int, r journal.Record, err error) {
			if i == 0 && (err != nil || r.Sequence != 30) || i == 1 && !errors.Is(err, journal.ErrReleased) {
				t.Errorf("address %d answers %v", i, err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if st := j.Stats(); st.Segments != 2 || st.LiveBytes == 0 || st.LiveBytes >= 20_000 ||
			st.TotalBytes < 3*16<<10 || st.CopiedBytes < 1000 || st.CopiedBytes > 8000 {
			t.Errorf("%+v", st)
		}
		j.Release(stuck)
		expect("with that released too", 1, 1)
		if n := coldFiles(d); n != 0 {
			t.Fatalf("with nothing needed there are %d cold segments", n)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j = mustOpen(t, small(d))
		mustAppend(t, j, message(1, 10))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestKeepReleasesAllRecordsOfTheLastGroupToo(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	defer j.Close()
	records := []journal.Record{message(0, 10), message(1, 10), message(2, 10), message(3, 10), message(4, 10)}
	p := mustAppend(t, j, records...)
	j.Keep(func(yield func(journal.Address) bool) {
		q := mustAppend(t, j, message(5, 10)) // meanwhile: it counts as needed
		if q <= p {
			t.Errorf("position %d follows %d", q, p)
		}
		yield(journal.Address{Position: p, Index: 3})
	})
	size := uint64(records[0].Size())
	if live := j.Stats().LiveBytes; live != 2*size {
		t.Errorf("%d bytes are live, not %d", live, 2*size)
	}
	j.Release(journal.Address{Position: p, Index: 3})
	if live := j.Stats().LiveBytes; live != size {
		t.Errorf("%d bytes are live, not %d", live, size)
	}
}

func TestReclaimedLogWithoutASoundCheckpointIsDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		j.Keep(slices.Values([]journal.Address(nil)))
		for n := range 60 {
			mustAppend(t, j, settle(n), journal.Record{Body: make([]byte, 1000)})
		}
		saveCheckpoint(t, j, j.End(), "older")
		saveCheckpoint(t, j, j.End(), "newer")
		synctest.Wait()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		for _, name := range d.Names() {
			if strings.Contains(name, "checkpoint") {
				if err := d.Set(name, 33, 'X'); err != nil {
					t.Fatal(err)
				}
			}
		}
		j = mustOpen(t, small(d))
		defer j.Close()
		_, _, skipped, err := j.LoadCheckpoint(t.Context())
		asDamage(t, err)
		if len(skipped) != 2 {
			t.Errorf("passed over %v", skipped)
		}
	})
}

func TestIdleLogIsSealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.IdleSeal = time.Second
		j := mustOpen(t, o)
		last := mustAppend(t, j, message(1, 500))
		time.Sleep(3 * time.Second) // the bubble's clock
		synctest.Wait()
		changes := d.Changes()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := d.Changes() - changes; n != 0 {
			t.Errorf("an idle journal made %d changes", n)
		}
		after := d.AfterKill().Clone()
		abandon(t, j, d)
		// The last group can be told from a torn one now.
		if err := after.Set(firstSegment, int64(last)+200, 0xee); err != nil {
			t.Fatal(err)
		}
		_, err := groupsOn(t, after)
		asDamage(t, err)
	})
}

func TestWithoutDurabilityMemoryIsWrittenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.Durability = journal.None
		j := mustOpen(t, o)
		before := d.Changes()
		mustAppend(t, j, message(1, 500))
		if n := d.Changes() - before; n != 0 {
			t.Errorf("an append made %d changes", n)
		}
		time.Sleep(150 * time.Millisecond) // the bubble's clock
		synctest.Wait()
		after := d.AfterKill().Clone()
		abandon(t, j, d)
		if got, err := groupsOn(t, after); err != nil || len(got) != 1 {
			t.Errorf("groups at %v, %v", got, err)
		}
	})
}

func TestDefaultsTakeAGroupLargerThanASegment(t *testing.T) {
	withoutDetector(t)
	dir := t.TempDir()
	o := file.Options{Dir: dir, Durability: journal.OS}
	j := mustOpen(t, o)
	body := make([]byte, 64<<20)
	for i := 0; i < len(body); i += 4096 {
		copy(body[i:], fmt.Sprint(i))
	}
	p := mustAppend(t, j, message(1, 10))
	q := mustAppend(t, j, journal.Record{Life: journal.Lasting, Head: make([]byte, 64<<10), Body: body})
	r := mustAppend(t, j, message(2, 10))
	for range 2 {
		err := j.Read(t.Context(), []journal.Address{{Position: p}, {Position: q}, {Position: r}},
			func(i int, got journal.Record, err error) {
				if err != nil || i == 1 && !slices.Equal(got.Body, body) {
					t.Errorf("record %d: %v", i, err)
				}
			})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j = mustOpen(t, o)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(names) < 2 {
		t.Errorf("%v, %v", names, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}
