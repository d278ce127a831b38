package file_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// soon fails the test when f has not returned after a minute.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s waits for the disk", what)
	}
}

// TestNoAppendAndNoWriteWaitsForTheDisk: while the disk does not answer, whatever it was asked for, others give their
// groups to the journal all the same: they may hold a lock that the whole process needs.
func TestNoAppendAndNoWriteWaitsForTheDisk(t *testing.T) {
	ofLog := func(op faultfs.Op) bool { return strings.HasSuffix(op.Name, ".log") }
	for what, hangs := range map[string]func(faultfs.Op) bool{
		"a write": func(op faultfs.Op) bool { return op.Kind == "write" && op.Bytes < 4096 && ofLog(op) },
		"a sync":  func(op faultfs.Op) bool { return op.Kind == "sync" && ofLog(op) },
		"the name of a segment": func(op faultfs.Op) bool {
			return op.Kind == "rename" && strings.Contains(op.Name, "spare")
		},
		"the folder's sync": func(op faultfs.Op) bool { return op.Kind == "syncdir" },
	} {
		t.Run(what, func(t *testing.T) {
			d := faultfs.New()
			o := small(d)
			o.SegmentBytes, o.CleanBytes = 64<<10, -1
			j := mustOpen(t, o)
			var want []journal.Position
			for n := range 50 { // more than half a segment
				want = append(want, mustAppend(t, j, message(n, 1000)))
			}
			waittest.Until(t, "the next segment is set aside", func() bool { return spares(j, o) > 2 })
			var reached atomic.Bool
			answer := d.Hang(func(op faultfs.Op) bool {
				if hangs(op) {
					reached.Store(true)
					return true
				}
				return false
			})
			defer answer()
			var a answers
			begin := 1
			if what != "a write" && what != "a sync" {
				begin = 14 // beyond the end of the segment
			}
			for n := range begin {
				a.append(t, j, message(100+n, 1000))
			}
			waittest.Until(t, "the disk hangs", reached.Load)
			soon(t, "an append", func() {
				for n := range 10 {
					a.append(t, j, message(200+n, 1000))
				}
			})
			soon(t, "a write", func() {
				if err := j.Write([]journal.Record{settle(1)}); err != nil {
					t.Error(err)
				}
			})
			answer()
			a.all.Wait()
			if err := errors.Join(a.errs...); err != nil {
				t.Fatal(err)
			}
			want = append(append(want, a.at...), j.End())
			if err := j.Flush(); err != nil {
				t.Fatal(err)
			}
			killed := d.AfterKill().Clone()
			abandon(t, j, d)
			if got, err := groupsOn(t, killed); err != nil || !slices.Equal(got, want) {
				t.Errorf("after a kill there are groups at %v, %v; want %v", got, err, want)
			}
		})
	}
}

// spares is how many files the journal has set aside for segments. It has no cold ones.
func spares(j *file.Journal, o file.Options) int64 {
	st := j.Stats()
	return int64(st.TotalBytes)/o.SegmentBytes - int64(st.Segments)
}

// TestWhatWasWrittenIsKeptWhileTheDiskIsFull: nobody waits for it, so it cannot be refused any more. It is in the file
// once there is room again, behind all that was kept before it, and is said to be neither flushed nor synced until
// then.
func TestWhatWasWrittenIsKeptWhileTheDiskIsFull(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	j.Keep(slices.Values([]journal.Address(nil)))
	want := []journal.Position{mustAppend(t, j, message(1, 100))}
	var full atomic.Bool
	d.Fault(noRoom(&full))
	full.Store(true)
	if err := j.Write([]journal.Record{settle(1)}); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"flush":      j.Flush(),
		"sync":       j.Sync(t.Context()),
		"checkpoint": j.SaveCheckpoint(t.Context(), j.End(), func(io.Writer) error { return nil }),
		"a message":  j.Write([]journal.Record{message(2, 50)}), // it is known by now
	} {
		if !errors.Is(err, journal.ErrFull) {
			t.Errorf("%s on a full disk: %v", what, err)
		}
	}
	if _, err := appendWait(j, message(2, 900)); !errors.Is(err, journal.ErrFull) {
		t.Errorf("append on a full disk: %v", err)
	}
	want = append(want, j.End())
	more := 0
	for ; ; more++ { // they wait in memory, which is bounded
		err := j.Write([]journal.Record{settle(2 + more)})
		if err == nil && more < 100_000 {
			continue
		}
		if !errors.Is(err, journal.ErrFull) || more < 100 {
			t.Errorf("write %d on a full disk: %v", more, err)
		}
		break
	}
	full.Store(false)
	if err := j.Flush(); err != nil {
		t.Fatalf("flush with room again: %v", err)
	}
	last := mustAppend(t, j, message(3, 50))
	st := j.Stats()
	after := d.AfterKill().Clone()
	abandon(t, j, d)
	got, err := groupsOn(t, after)
	if err != nil || len(got) != len(want)+more+1 || !slices.Equal(got[:2], want) || got[len(got)-1] != last ||
		!slices.IsSorted(got) || st.Groups != uint64(len(got)) {
		t.Errorf("%d groups, %v, %d counted; want %d, the first at %v, the last at %d", len(got), err, st.Groups,
			len(want)+more+1, want, last)
	}
}

// TestGroupsOfOneMomentKeepTheirOrderThroughAFullDisk: of what is written at once, all that somebody waits for is
// refused from the group on that did not fit, and what nobody waits for stays, in its order.
func TestGroupsOfOneMomentKeepTheirOrderThroughAFullDisk(t *testing.T) {
	d := faultfs.New()
	o := small(d)
	o.SegmentBytes = 64 << 10
	j := mustOpen(t, o)
	j.Keep(slices.Values([]journal.Address(nil)))
	var full atomic.Bool
	_, release := busySync(t, j, d, noRoom(&full))
	full.Store(true)
	var a answers
	for n := range 10 {
		a.append(t, j, message(n+1, 1000))
		if err := j.Write([]journal.Record{settle(n)}); err != nil {
			t.Fatal(err)
		}
	}
	release()
	a.all.Wait()
	full.Store(false)
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i, err := range a.errs {
		if refused := errors.Is(err, journal.ErrRefused) && errors.Is(err, journal.ErrFull); err != nil && !refused {
			t.Errorf("group %d: %v", i, err)
		} else if err == nil {
			kept++
		}
	}
	if kept == 0 || kept == len(a.errs) {
		t.Errorf("%d of %d groups were kept", kept, len(a.errs))
	}
	var settled []uint64
	puts := 0
	for g, err := range j.Scan(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if g.Records[0].Life == journal.Lasting {
			puts++
		} else {
			settled = append(settled, g.Records[0].Sequence)
		}
	}
	if puts != kept+1 || !slices.Equal(settled, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("the log has %d messages, %d were kept, and settlements %v", puts, kept+1, settled)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestWriteAndFlushSurviveAKill with what precedes them.
func TestWriteAndFlushSurviveAKill(t *testing.T) {
	for range 50 {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		var a answers
		a.append(t, j, message(1, 300))
		first := j.End()
		if err := errors.Join(j.Write([]journal.Record{settle(1)}), j.Flush()); err != nil {
			t.Fatal(err)
		}
		want := []journal.Position{first, j.End()}
		after := d.AfterKill().Clone()
		abandon(t, j, d)
		if got, err := groupsOn(t, after); err != nil || !slices.Equal(got, want) {
			t.Fatalf("after a kill there are groups at %v, %v; want %v", got, err, want)
		}
	}
}

// TestFlushOfWhatIsWrittenAlreadyAsksNothingOfTheDisk, also while that does not answer.
func TestFlushOfWhatIsWrittenAlreadyAsksNothingOfTheDisk(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, file.Options{Dir: "log", FS: d, IdleSeal: -1})
	defer j.Close()
	if err := errors.Join(j.Write([]journal.Record{settle(1)}), j.Flush()); err != nil {
		t.Fatal(err)
	}
	_, release := busySync(t, j, d, func(faultfs.Op) error { return nil })
	defer release()
	soon(t, "a flush", func() {
		if err := j.Flush(); err != nil {
			t.Error(err)
		}
	})
}

// TestALargeGroupWaitsForNoDiskEither, nor is it copied before its turn. It has its place among the others.
func TestALargeGroupWaitsForNoDiskEither(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, file.Options{Dir: "log", FS: d, SegmentBytes: 16 << 20, IdleSeal: -1})
	_, release := busySync(t, j, d, func(faultfs.Op) error { return nil })
	var a answers
	var want []int
	soon(t, "an append", func() {
		for n := range 12 {
			size := 300
			if n%4 == 1 {
				size = 2<<20 + n
			}
			want = append(want, size)
			a.append(t, j, message(n+1, size))
		}
	})
	release()
	a.all.Wait()
	if err := errors.Join(a.errs...); err != nil || !slices.IsSorted(a.at) {
		t.Fatalf("done was called with %v, %v", a.at, err)
	}
	addrs := make([]journal.Address, len(a.at))
	for i, p := range a.at {
		addrs[i].Position = p
	}
	err := j.Read(t.Context(), addrs, func(i int, r journal.Record, err error) {
		m := message(i+1, want[i])
		if err != nil || string(r.Head) != string(m.Head) || string(r.Body) != string(m.Body) {
			t.Errorf("group %d: %v, %q and %d bytes", i, err, r.Head, len(r.Body))
		}
	})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Error(err)
	}
}
