package file_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// answers collects what the done functions of several appends were told, in their order.
type answers struct {
	all  sync.WaitGroup
	mu   sync.Mutex
	at   []journal.Position
	errs []error
}

func (a *answers) append(t *testing.T, j *file.Journal, records ...journal.Record) {
	t.Helper()
	a.all.Add(1)
	err := j.Append(records, func(p journal.Position, err error, _ int) {
		defer a.all.Done()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.at, a.errs = append(a.at, p), append(a.errs, err)
	})
	if err != nil {
		t.Fatalf("append: %v", err)
	}
}

// busySync begins a sync that does not end before release is called. Until then nobody else gets to the disk. fault is
// asked about all other operations.
func busySync(t *testing.T, j *file.Journal, d *faultfs.Disk, fault func(faultfs.Op) error) (first *answers,
	release func()) {
	t.Helper()
	began, end := make(chan struct{}), make(chan struct{})
	var once sync.Once
	d.Fault(func(op faultfs.Op) error {
		if op.Kind == "sync" {
			once.Do(func() { close(began); <-end })
		}
		return fault(op)
	})
	first = new(answers)
	first.append(t, j, message(0, 100))
	<-began
	return first, func() { close(end) }
}

func TestGroupsThatGatherWhileASyncRunsShareOneWriteAndOneSync(t *testing.T) {
	d := faultfs.New()
	o := small(d)
	o.SegmentBytes = 1 << 20
	j := mustOpen(t, o)
	defer j.Close()
	var writes, syncs atomic.Int32
	_, release := busySync(t, j, d, func(op faultfs.Op) error {
		switch {
		case op.Kind == "sync":
			syncs.Add(1)
		// no zeros ahead
		case op.Kind == "write" && strings.HasPrefix(op.Name, "log/0") && op.Offset < 100_000 && op.Bytes < 100_000:
			writes.Add(1)
		}
		return nil
	})
	writes.Store(0)
	var a answers
	for n := range 50 {
		a.append(t, j, message(n, 1000))
	}
	release()
	a.all.Wait()
	if !slices.IsSorted(a.at) || errors.Join(a.errs...) != nil {
		t.Errorf("done was called with %v, %v", a.at, a.errs)
	}
	if w, s := writes.Load(), syncs.Load(); w != 1 || s != 2 {
		t.Errorf("%d writes and %d syncs, not one write, and one sync after the one that ran", w, s)
	}
}

func TestGroupThatHasAPlaceIsReadAndScannedBeforeItsSync(t *testing.T) {
	for range 50 {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		var a answers
		a.append(t, j, message(1, 300))
		err := j.Read(t.Context(), []journal.Address{{Position: j.End()}}, func(_ int, r journal.Record, err error) {
			if want := message(1, 300); err != nil || string(r.Body) != string(want.Body) {
				t.Errorf("read: %v, %q", err, r.Body)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		a.append(t, j, message(2, 300))
		n := 0
		for _, err := range j.Scan(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 2 {
			t.Errorf("%d groups were scanned", n)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFullDiskUnderManyGroupsKeepsThoseThatFittedAndRefusesTheRest(t *testing.T) {
	d := faultfs.New()
	o := small(d)
	o.SegmentBytes = 64 << 10
	j := mustOpen(t, o)
	j.Keep(slices.Values([]journal.Address(nil)))
	var full atomic.Bool
	first, release := busySync(t, j, d, noRoom(&full))
	full.Store(true)
	before := j.Stats()
	var a answers
	for n := range 10 {
		a.append(t, j, message(n+1, 1000))
	}
	release()
	a.all.Wait()
	full.Store(false)
	want := slices.Clone(first.at)
	for i, err := range a.errs {
		switch {
		case i < 5 && err == nil:
			want = append(want, a.at[i])
		case i >= 5 && errors.Is(err, journal.ErrRefused) && errors.Is(err, journal.ErrFull):
		default:
			t.Errorf("group %d of 10, half of which fitted: %v", i, err)
		}
	}
	if end := want[len(want)-1]; j.End() != end {
		t.Errorf("the log ends at %d, not at %d", j.End(), end)
	}
	if st := j.Stats(); st.Groups != before.Groups+5 || st.Records != before.Records+5 ||
		st.LiveBytes >= before.LiveBytes+6*1000 {
		t.Errorf("counted %+v after %+v", st, before)
	}
	killed := d.Clone()
	if got, err := groupsOn(t, killed); err != nil || !slices.Equal(got, want) {
		t.Errorf("after a kill there are groups at %v, %v; want %v", got, err, want)
	}
	want = append(want, mustAppend(t, j, message(11, 700)))
	killed = d.AfterKill().Clone()
	abandon(t, j, d)
	if got, err := groupsOn(t, killed); err != nil || !slices.Equal(got, want) {
		t.Errorf("after one more and a kill there are groups at %v, %v; want %v", got, err, want)
	}
}

func TestWhatWaitsInMemoryIsBoundedWhileASyncRuns(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, file.Options{Dir: "log", FS: d, IdleSeal: -1})
	defer j.Close()
	largest := 0
	_, release := busySync(t, j, d, func(op faultfs.Op) error {
		if op.Kind == "write" {
			largest = max(largest, op.Bytes)
		}
		return nil
	})
	var a answers
	appended := make(chan struct{})
	go func() {
		defer close(appended)
		for n := range 300 {
			a.append(t, j, message(n, 10_000)) // waits for the disk when a megabyte is there
		}
	}()
	release()
	<-appended
	a.all.Wait()
	if err := errors.Join(a.errs...); err != nil || len(a.errs) != 300 {
		t.Fatalf("%d answers, %v", len(a.errs), err)
	}
	if err := j.Close(); err != nil { // ends whoever else writes, so that largest is nobody's but ours
		t.Fatal(err)
	}
	if largest > 1<<20+20_000 {
		t.Errorf("%d bytes were written at once", largest)
	}
}

func TestLargeGroupsKeepTheirPlaceAmongSmallOnes(t *testing.T) {
	d := faultfs.New()
	o := small(d)
	o.MaxGroupBytes = 4 << 20
	j := mustOpen(t, o)
	var a answers
	for n := range 30 {
		size := 500
		if n%7 == 3 {
			size = 2 << 20
		}
		a.append(t, j, message(n, size))
	}
	a.all.Wait()
	if err := errors.Join(a.errs...); err != nil || !slices.IsSorted(a.at) {
		t.Fatalf("done was called with %v, %v", a.at, err)
	}
	after := d.AfterKill().Clone()
	abandon(t, j, d)
	if got, err := groupsOn(t, after); err != nil || !slices.Equal(got, a.at) {
		t.Errorf("groups at %v, %v; want %v", got, err, a.at)
	}
}

func TestZerosAheadOfTheLogNeverCoverAGroup(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, file.Options{Dir: "log", FS: d, SegmentBytes: 4 << 20, IdleSeal: -1})
	zeros := make(chan struct{})
	var once sync.Once
	d.Fault(func(op faultfs.Op) error {
		if op.Kind == "write" && strings.HasSuffix(op.Name, ".log") && op.Bytes == 128<<10 {
			once.Do(func() { close(zeros) })
		}
		return nil
	})
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for n := range 1500 {
				if _, err := appendWait(j, message(w*10_000+n, 1000+n%500)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	<-zeros
	if _, err := content(t.Context(), j); err != nil {
		t.Error(err)
	}
	after := d.AfterKill().Clone()
	abandon(t, j, d)
	if got, err := groupsOn(t, after); err != nil || len(got) != 6000 {
		t.Errorf("%d groups, %v", len(got), err)
	}
}
