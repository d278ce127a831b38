package journaltest

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// fill appends n groups of one message and returns their addresses and records.
func fill(t *testing.T, j journal.Journal, n, size int) ([]journal.Address, []journal.Record) {
	t.Helper()
	var addrs []journal.Address
	var records []journal.Record
	for i := range n {
		r := message(i, size)
		if err := j.Write([]journal.Record{r}); err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, journal.Address{Position: j.End()})
		records = append(records, r)
	}
	if err := j.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return addrs, records
}

func testScanFrom(t *testing.T, h Harness) {
	j := open(t, h)
	addrs, _ := fill(t, j, 60, 700)
	all := scan(t, j, 0)
	for i, a := range addrs {
		if diff := cmp.Diff(all[i+1:], append([]scanned{}, scan(t, j, a.Position)...)); diff != "" {
			t.Fatalf("scan from group %d:\n%s", i, diff)
		}
		// A number between two positions is as good as the position before it.
		if got := scan(t, j, a.Position-1); len(got) != len(all)-i {
			t.Fatalf("scan from just before group %d shows %d groups, not %d", i, len(got), len(all)-i)
		}
	}
	if got := scan(t, j, math.MaxUint64); len(got) != 0 {
		t.Errorf("scan from behind the end shows %d groups", len(got))
	}
}

func testScanEnds(t *testing.T, h Harness) {
	j := open(t, h)
	fill(t, j, 10, 10)
	n := 0
	for _, err := range j.Scan(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		appendWait(t, j, settle(n))
	}
	if n != 10 {
		t.Errorf("scan showed %d groups, 10 were there when it began", n)
	}
}

func testScanStops(t *testing.T, h Harness) {
	j := open(t, h)
	fill(t, j, 10, 10)
	for range j.Scan(t.Context(), 0) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range j.Scan(ctx, 0) {
		cancel()
		last = err
		n++
	}
	if !errors.Is(last, context.Canceled) || n != 2 {
		t.Errorf("after its context ended the scan took %d steps, the last with %v", n, last)
	}
}

func testRead(t *testing.T, h Harness) {
	j := open(t, h)
	addrs, records := fill(t, j, 100, 500)
	mustRead(t, j, addrs, records)
	slices.Reverse(addrs)
	slices.Reverse(records)
	mustRead(t, j, addrs, records)
	// The same one twice, and none at all.
	mustRead(t, j, []journal.Address{addrs[3], addrs[9], addrs[3]},
		[]journal.Record{records[3], records[9], records[3]})
	mustRead(t, j, nil, nil)
	got, _ := readAll(t, j, addrs[0], addrs[1])
	clear(got[0].Body) // the caller's
	clear(got[0].Head)
	if !sameRecord(got[1], records[1]) {
		t.Error("altering one record that was read altered another")
	}
	mustRead(t, j, addrs[:1], records[:1])
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Read(ctx, addrs, func(int, journal.Record, error) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("read with a context that ended: %v", err)
	}
}

func testReadUnknown(t *testing.T, h Harness) {
	j := open(t, h)
	addrs, records := fill(t, j, 5, 5000)
	unknown := []journal.Address{
		{Position: 0},
		{Position: addrs[0].Position - 1},
		{Position: addrs[2].Position, Index: 1},
		{Position: addrs[2].Position, Index: math.MaxUint32},
		{Position: j.End() + 1},
		{Position: j.End() + 64},
		{Position: math.MaxUint64},
	}
	if next := addrs[2].Position + 1; next != addrs[3].Position { // in some logs there is nothing between two groups
		unknown = append(unknown, journal.Address{Position: next})
	}
	got, errs := readAll(t, j, append(unknown, addrs...)...)
	for i := range unknown {
		if !errors.Is(errs[i], journal.ErrReleased) {
			t.Errorf("unknown address %v answers %v", unknown[i], errs[i])
		}
	}
	for i := range addrs {
		if n := len(unknown) + i; errs[n] != nil || !sameRecord(got[n], records[i]) {
			t.Errorf("address %v among unknown ones: %v", addrs[i], errs[n])
		}
	}
}

// reclaimable puts everything in a state in which the journal may reclaim whatever is released.
func reclaimable(t *testing.T, j journal.Journal) {
	t.Helper()
	for n := range 2 {
		saveCheckpoint(t, j, j.End(), settle(n).Head)
	}
}

func testRelease(t *testing.T, h Harness) {
	j := open(t, h)
	j.Keep(slices.Values([]journal.Address(nil)))
	addrs, records := fill(t, j, 200, 900)
	for i, a := range addrs {
		if i%2 == 0 {
			j.Release(a, a) // twice is no more than once
			j.Release(a)
		}
	}
	j.Release()
	j.Release(journal.Address{Position: math.MaxUint64})
	reclaimable(t, j)
	for range 2 {
		got, errs := readAll(t, j, addrs...)
		for i := range addrs {
			if i%2 == 0 {
				goneOrSame(t, got[i], errs[i], records[i])
			} else if errs[i] != nil || !sameRecord(got[i], records[i]) {
				t.Fatalf("record %d was not released and answers %v", i, errs[i])
			}
		}
		shut(t, j)
		j = open(t, h)
	}
}

func testReleaseBefore(t *testing.T, h Harness) {
	j := open(t, h)
	j.Keep(slices.Values([]journal.Address(nil)))
	addrs, records := fill(t, j, 200, 900)
	const border = 120
	j.ReleaseBefore(addrs[border].Position)
	reclaimable(t, j)
	mustRead(t, j, addrs[border:], records[border:])
	got, errs := readAll(t, j, addrs[:border]...)
	for i := range border {
		goneOrSame(t, got[i], errs[i], records[i])
	}
	if live := j.Stats().LiveBytes; live == 0 {
		t.Error("stats tell that nothing is live")
	}
	shut(t, j)
	j = open(t, h)
	mustRead(t, j, addrs[border:], records[border:])
}

func testKeep(t *testing.T, h Harness) {
	j := open(t, h)
	addrs, records := fill(t, j, 200, 900)
	reclaimable(t, j)
	mustRead(t, j, addrs, records) // nothing is reclaimed before Keep
	shut(t, j)
	j = open(t, h)
	mustRead(t, j, addrs, records)
	kept := func(i int) bool { return i == 7 || i >= 150 }
	j.Keep(func(yield func(journal.Address) bool) {
		for i, a := range addrs {
			if kept(i) && !yield(a) {
				return
			}
		}
	})
	later := appendWait(t, j, message(1000, 50))
	reclaimable(t, j)
	check := func() {
		t.Helper()
		got, errs := readAll(t, j, addrs...)
		for i := range addrs {
			if !kept(i) {
				goneOrSame(t, got[i], errs[i], records[i])
			} else if errs[i] != nil || !sameRecord(got[i], records[i]) {
				t.Fatalf("record %d was kept and answers %v", i, errs[i])
			}
		}
		mustRead(t, j, []journal.Address{{Position: later}}, []journal.Record{message(1000, 50)})
	}
	check()
	shut(t, j)
	j = open(t, h)
	check()
}
