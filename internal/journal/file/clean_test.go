package file_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// kept is what the owner of a journal still needs, and what it was.
type kept struct {
	addrs   []journal.Address
	records []journal.Record
}

func (k *kept) add(a journal.Address, r journal.Record) {
	k.addrs = append(k.addrs, a)
	k.records = append(k.records, r)
}

// check fails unless every record answers as it was.
func (k *kept) check(t *testing.T, j journal.Journal) {
	t.Helper()
	n := 0
	err := j.Read(t.Context(), k.addrs, func(i int, r journal.Record, err error) {
		n++
		want := &k.records[i]
		if err != nil || r.Queue != want.Queue || r.Sequence != want.Sequence || r.Life != want.Life ||
			string(r.Head) != string(want.Head) || string(r.Body) != string(want.Body) {
			t.Errorf("the record at %v: %v, queue %d, sequence %d, %d bytes", k.addrs[i], err, r.Queue, r.Sequence,
				len(r.Body))
		}
	})
	if err != nil || n != len(k.addrs) {
		t.Fatalf("read answered %d of %d: %v", n, len(k.addrs), err)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// queued is a message of one of several queues.
func queued(n, size int) journal.Record {
	r := message(n, size)
	r.Queue = uint32(n%3 + 1)
	return r
}

// backlog appends messages of three queues, in groups of two and a settle, releases all but one in keepEach, and
// returns those.
func backlog(t *testing.T, j journal.Journal, from, groups, keepEach int) *kept {
	t.Helper()
	k := new(kept)
	for n := from; n < from+2*groups; n += 2 {
		p := mustAppend(t, j, queued(n, 700), settle(n), queued(n+1, 300))
		for i, r := range []journal.Record{queued(n, 700), queued(n+1, 300)} {
			a := journal.Address{Position: p, Index: uint32(2 * i)}
			if (n+i)%keepEach == 0 {
				k.add(a, r)
			} else {
				j.Release(a)
			}
		}
	}
	return k
}

// covered saves the two checkpoints behind which nothing passing is needed, and waits for what the journal then does.
func covered(t *testing.T, j journal.Journal) {
	t.Helper()
	saveCheckpoint(t, j, j.End(), "older")
	saveCheckpoint(t, j, j.End(), "newer")
	settled()
}

// settled waits, on the clock of the bubble, until the journal has nothing to do in the background.
func settled() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

func none(func(journal.Address) bool) {}

func writeNothing(io.Writer) error { return nil }

// coldNames lists the cold segments on a disk.
func coldNames(d *faultfs.Disk) []string {
	return slices.DeleteFunc(d.Names(), func(name string) bool { return !strings.HasSuffix(name, ".cold") })
}

func TestSurvivorsAreGroupedByQueueAndSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		defer j.Close()
		j.Keep(none)
		k := backlog(t, j, 0, 150, 10)
		covered(t, j)
		total := 0
		for _, name := range coldNames(d) {
			moved, _, err := file.MovedIn(d.Bytes(name))
			if err != nil {
				t.Fatal(err)
			}
			total += len(moved)
			for i := range moved[1:] {
				a, b := moved[i], moved[i+1]
				if a.Queue > b.Queue || a.Queue == b.Queue && a.Seq >= b.Seq {
					t.Errorf("queue %d, sequence %d comes before queue %d, sequence %d", a.Queue, a.Seq, b.Queue, b.Seq)
				}
				if a.Queue != b.Queue && a.Group == b.Group {
					t.Errorf("queues %d and %d share a group", a.Queue, b.Queue)
				}
			}
		}
		if total < len(k.addrs)*2/3 {
			t.Fatalf("%d records of %d were moved", total, len(k.addrs))
		}
		k.check(t, j)
	})
}

func TestAnAddressStaysValidWhenItsRecordIsMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		j.Keep(none)
		k := backlog(t, j, 0, 200, 5)
		reopen := func() {
			t.Helper()
			k.check(t, j)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j = mustOpen(t, small(d))
			k.check(t, j) // before Keep, too
			j.Keep(slices.Values(k.addrs))
			settled()
			k.check(t, j)
		}
		covered(t, j)
		if logFiles(d) > 2 || len(coldNames(d)) == 0 {
			t.Fatalf("%d segments, cold ones: %v", logFiles(d), coldNames(d))
		}
		reopen()
		// Most of it goes: the cold segments are cleaned in their turn, several into one, again and again.
		for round := range 5 {
			first := coldNames(d)
			var left, gone kept
			for i, a := range k.addrs {
				if i%3 == 0 {
					left.add(a, k.records[i])
				} else {
					gone.add(a, k.records[i])
				}
			}
			j.Release(gone.addrs...)
			j.Release(gone.addrs...) // twice is no more than once
			*k = left
			more := backlog(t, j, 10_000*(round+1), 60, 20)
			k.addrs, k.records = append(k.addrs, more.addrs...), append(k.records, more.records...)
			covered(t, j)
			if slices.Equal(coldNames(d), first) {
				t.Fatalf("round %d: the cold segments are still %v", round, first)
			}
			for _, err := range readErrors(t, j, gone.addrs...) {
				if err != nil && !errors.Is(err, journal.ErrReleased) {
					t.Fatalf("a released record answers %v", err)
				}
			}
			reopen()
		}
		// ReleaseBefore knows them too.
		border := k.addrs[len(k.addrs)/2].Position
		before := j.Stats().LiveBytes
		j.ReleaseBefore(border)
		var left kept
		for i, a := range k.addrs {
			if a.Position >= border {
				left.add(a, k.records[i])
			}
		}
		*k = left
		settled()
		if after := j.Stats().LiveBytes; after >= before*3/4 {
			t.Errorf("%d bytes are live, %d were before half was released", after, before)
		}
		reopen()
		j.ReleaseBefore(j.End() + 1)
		settled()
		if n := coldNames(d); len(n) != 0 {
			t.Errorf("with everything released there are %v", n)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAPlaceWhereNoRecordWasMovedFromAnswersReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		defer j.Close()
		j.Keep(none)
		k := backlog(t, j, 0, 100, 10)
		covered(t, j)
		for _, a := range k.addrs[:5] {
			for _, b := range []journal.Address{
				{Position: a.Position, Index: a.Index + 1},
				{Position: a.Position, Index: 1 << 31},
				{Position: a.Position - 64, Index: a.Index + 2}, // its row would lie in the same place
				{Position: a.Position + 1, Index: a.Index},
				{Position: a.Position + 64, Index: 0},
			} {
				if errs := readErrors(t, j, b); !errors.Is(errs[0], journal.ErrReleased) {
					t.Errorf("%v, near the record at %v, answers %v", b, a, errs[0])
				}
			}
		}
		k.check(t, j)
	})
}

func TestCleaningNeverTakesASegmentBehindTheHorizon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		defer j.Close()
		j.Keep(none)
		backlog(t, j, 0, 100, 10)
		horizon := j.End()
		saveCheckpoint(t, j, horizon, "older")
		settled()
		if n := coldNames(d); len(n) != 0 {
			t.Fatalf("with one checkpoint there are %v", n)
		}
		k := backlog(t, j, 1000, 100, 10)
		saveCheckpoint(t, j, j.End(), "newer")
		settled()
		names := coldNames(d)
		if len(names) == 0 {
			t.Fatal("nothing was cleaned")
		}
		for _, name := range names {
			moved, _, err := file.MovedIn(d.Bytes(name))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range moved {
				if m.From.Position > horizon {
					t.Errorf("the record at %v was moved, the horizon is at %d", m.From, horizon)
				}
			}
		}
		// The scan from there shows every group, passing records included.
		groups := 0
		for g, err := range j.Scan(t.Context(), horizon) {
			if err != nil || len(g.Records) != 3 {
				t.Fatalf("%v, %d records", err, len(g.Records))
			}
			groups++
		}
		if groups != 100 {
			t.Errorf("%d groups of 100 are behind the horizon", groups)
		}
		k.check(t, j)
	})
}

func TestCleaningTakesOnlySegmentsOfWhichAtMostHalfIsLive(t *testing.T) {
	for _, tt := range []struct {
		name     string
		dead     func(n int) bool
		min, max uint64 // bytes copied, of 400 KB
	}{
		{"a quarter dead", func(n int) bool { return n%4 == 0 }, 0, 0},
		{"a third dead everywhere", func(n int) bool { return n%3 == 0 }, 0, 0},
		{"the first half dead but for a tenth", func(n int) bool { return n < 200 && n%10 != 0 }, 15_000, 40_000},
		{"the first tenth dead", func(n int) bool { return n < 40 }, 0, 0}, // not a third of all
		{"nine tenths dead", func(n int) bool { return n%10 != 0 }, 25_000, 60_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := faultfs.New()
				o := small(d)
				o.SegmentBytes = 64 << 10
				j := mustOpen(t, o)
				defer j.Close()
				j.Keep(none)
				var k kept
				for n := range 400 {
					a := journal.Address{Position: mustAppend(t, j, queued(n, 1000))}
					if tt.dead(n) {
						j.Release(a)
					} else {
						k.add(a, queued(n, 1000))
					}
				}
				covered(t, j)
				if n := j.Stats().CopiedBytes; n < tt.min || n > tt.max {
					t.Errorf("%d bytes were copied, not %d to %d", n, tt.min, tt.max)
				}
				k.check(t, j)
			})
		})
	}
}

func TestAStuckQueueDoesNotKeepTheLogForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.SegmentBytes = 256 << 10
		j := mustOpen(t, o)
		defer j.Close()
		j.Keep(none)
		var stuck kept
		var waiting []journal.Address
		const size, total = 1000, 16 << 10 // 16 MB in 64 segments
		for n := range total {
			r := message(n, size)
			if n%20 == 0 {
				r.Queue = 9
			}
			a := journal.Address{Position: mustAppend(t, j, r)}
			if r.Queue == 9 {
				stuck.add(a, r)
			} else if waiting = append(waiting, a); len(waiting) > 200 { // what is in flight
				if err := j.Write([]journal.Record{settle(n)}); err != nil {
					t.Fatal(err)
				}
				j.Release(waiting[0])
				waiting = waiting[1:]
			}
			if n%1024 == 1023 {
				saveCheckpoint(t, j, j.End(), "state")
				settled()
			}
		}
		st := j.Stats()
		wa := float64(st.Bytes+st.CopiedBytes) / float64(st.Bytes)
		stuckBytes := uint64(len(stuck.addrs) * size)
		t.Logf("%d bytes appended, %d copied: write amplification %.3f; %d bytes on the disk for %d stuck", st.Bytes,
			st.CopiedBytes, wa, st.TotalBytes, stuckBytes)
		if wa > 1.06 {
			t.Errorf("the write amplification is %.3f", wa)
		}
		// The log between two checkpoints and the horizon, the reserve, and one and a half times what is stuck.
		if limit := stuckBytes*3/2 + 4*1024*1200 + 5*256<<10; st.TotalBytes > limit {
			t.Errorf("%d bytes are on the disk, more than %d", st.TotalBytes, limit)
		}
		stuck.check(t, j)
	})
}

func TestManySmallColdSegmentsBecomeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.SegmentBytes = 256 << 10
		j := mustOpen(t, o)
		defer j.Close()
		j.Keep(none)
		var k kept
		for n := range 70 { // each round a segment with one record that stays
			r := message(n, 1000)
			k.add(journal.Address{Position: mustAppend(t, j, r)}, r)
			a := journal.Address{Position: mustAppend(t, j, message(n, 200<<10))}
			j.Release(a)
			covered(t, j)
			if c := len(coldNames(d)); c > 40 {
				t.Fatalf("after %d rounds there are %d cold segments", n, c)
			}
		}
		if c := len(coldNames(d)); c == 0 {
			t.Fatal("there is no cold segment")
		}
		k.check(t, j)
	})
}

func TestStatsTellWhatCheckpointsWrote(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	defer j.Close()
	saveCheckpoint(t, j, 0, strings.Repeat("x", 10_000))
	saveCheckpoint(t, j, 0, strings.Repeat("x", 20_000))
	if n := j.Stats().CheckpointBytes; n < 30_000 || n > 30_200 {
		t.Errorf("%d bytes of checkpoints", n)
	}
}

func TestWithoutCleaningASegmentWaitsForItsLastRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.CleanBytes = -1
		j := mustOpen(t, o)
		defer j.Close()
		j.Keep(none)
		k := backlog(t, j, 0, 100, 10)
		covered(t, j)
		if n := coldNames(d); len(n) != 0 {
			t.Errorf("there are %v", n)
		}
		k.check(t, j)
	})
}
