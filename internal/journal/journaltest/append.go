package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func testOrder(t *testing.T, h Harness) {
	j := open(t, h)
	if end := j.End(); end != 0 {
		t.Errorf("the end of an empty log is %d, not 0", end)
	}
	var want []scanned
	for n := range 50 {
		records := []journal.Record{message(n, n*7), settle(n)}
		p := appendWait(t, j, records...)
		if end := j.End(); end != p {
			t.Fatalf("end is %d after a group got position %d", end, p)
		}
		want = append(want, scanned{p, withoutBodies(records)})
	}
	if diff := cmp.Diff(want, scan(t, j, 0)); diff != "" {
		t.Errorf("scan differs from what was appended:\n%s", diff)
	}
	for i := 1; i < len(want); i++ {
		if want[i].Position <= want[i-1].Position {
			t.Fatalf("position %d follows %d", want[i].Position, want[i-1].Position)
		}
	}
	st := j.Stats()
	if st.Groups != 50 || st.Records != 100 || st.Bytes == 0 {
		t.Errorf("stats tell %d groups with %d records, %d bytes", st.Groups, st.Records, st.Bytes)
	}
}

func testManyRecords(t *testing.T, h Harness) {
	j := open(t, h)
	var records []journal.Record
	var addrs []journal.Address
	for n := range min(900, j.Info().Limits.GroupRecords) {
		records = append(records, message(n, n%50))
	}
	p := appendWait(t, j, records...)
	for i := range records {
		addrs = append(addrs, journal.Address{Position: p, Index: uint32(i)})
	}
	mustRead(t, j, addrs, records)
	groups := scan(t, j, 0)
	if len(groups) != 1 || !cmp.Equal(groups[0].Records, withoutBodies(records)) {
		t.Errorf("scan shows %d groups, or other records", len(groups))
	}
	if _, errs := readAll(t, j, journal.Address{Position: p, Index: uint32(len(records))}); !errors.Is(errs[0],
		journal.ErrReleased) {
		t.Errorf("an index behind the last record answers %v", errs[0])
	}
}

func testDoneOrder(t *testing.T, h Harness) {
	j := open(t, h)
	const total = 200
	var mu sync.Mutex
	var got []journal.Position
	busy := false
	all := make(chan struct{})
	for n := range total {
		err := j.Append([]journal.Record{message(n, 20)}, func(p journal.Position, err error, left int) {
			mu.Lock()
			defer mu.Unlock()
			if left != 0 && len(got) == total-1 {
				t.Errorf("done at %d, the last one: %d are said to follow", p, left)
			}
			if busy || err != nil {
				t.Errorf("done at %d: two at a time: %t, error: %v", p, busy, err)
			}
			busy = true
			got = append(got, p)
			if len(got) == total {
				close(all)
			}
			busy = false
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	<-all
	for i, g := range scan(t, j, 0) {
		if got[i] != g.Position {
			t.Fatalf("call %d of done was for position %d, the log has %d there", i, got[i], g.Position)
		}
	}
}

// testLeft: who gathers what it is told until nothing is said to follow has everything, also when others wait for
// syncs of no group of their own.
func testLeft(t *testing.T, h Harness) {
	j := open(t, h)
	const writers, each = 8, 100
	var gathered []chan struct{} // done functions are called one at a time
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				told := make(chan struct{})
				done := func(_ journal.Position, _ error, left int) {
					gathered = append(gathered, told)
					for left == 0 && len(gathered) > 0 {
						close(gathered[0])
						gathered = gathered[1:]
					}
				}
				turn, err := j.AppendTurn([]journal.Record{settle(w*each + n)}, done)
				if err != nil {
					t.Error(err)
					return
				}
				if turn != nil {
					turn()
				}
				if w%2 == 0 {
					if err := j.Sync(t.Context()); err != nil {
						t.Error(err)
					}
				}
				select {
				case <-told:
				case <-time.After(time.Minute):
					t.Error("others were said to follow, and none did")
					return
				}
			}
		})
	}
	all.Wait()
}

func testDoneOutside(t *testing.T, h Harness) {
	j := open(t, h)
	for n := range 100 {
		var held sync.Mutex // done takes it: from within Append that could not end
		called := make(chan struct{})
		held.Lock()
		err := j.Append([]journal.Record{settle(n)}, func(journal.Position, error, int) {
			held.Lock()
			defer held.Unlock()
			close(called)
		})
		held.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		<-called
	}
}

func testConcurrent(t *testing.T, h Harness) {
	j := open(t, h)
	const writers, each = 8, 50
	var mu sync.Mutex
	at := map[uint64]journal.Position{}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			last := journal.Position(0)
			for i := range each {
				n := w*each + i
				p, err := appendSync(j, []journal.Record{message(n, 100), settle(n)})
				if err != nil {
					t.Errorf("append %d: %v", n, err)
					return
				}
				if p <= last {
					t.Errorf("one caller's group got position %d after %d", p, last)
				}
				last = p
				mu.Lock()
				at[uint64(n)] = p
				mu.Unlock()
			}
		})
	}
	all.Wait()
	groups := scan(t, j, 0)
	if len(groups) != writers*each {
		t.Fatalf("%d groups are in the log, not %d", len(groups), writers*each)
	}
	for _, g := range groups {
		n := g.Records[0].Sequence
		if at[n] != g.Position || len(g.Records) != 2 || g.Records[1].Sequence != n {
			t.Errorf("group %d is at %d with %d records, its done said %d", n, g.Position, len(g.Records), at[n])
		}
		delete(at, n)
	}
}

func testWriteBeforeAppend(t *testing.T, h Harness) {
	j := open(t, h)
	for n := range 20 {
		if err := j.Write([]journal.Record{settle(2 * n)}); err != nil {
			t.Fatal(err)
		}
		written := j.End()
		if p := appendWait(t, j, settle(2*n+1)); p <= written {
			t.Fatalf("an append got position %d, the write before it %d", p, written)
		}
	}
	for i, g := range scan(t, j, 0) {
		if g.Records[0].Sequence != uint64(i) {
			t.Fatalf("group %d is %d", i, g.Records[0].Sequence)
		}
	}
}

func testSync(t *testing.T, h Harness) {
	j := open(t, h)
	if err := j.Sync(t.Context()); err != nil {
		t.Fatalf("sync of an empty log: %v", err)
	}
	if err := j.Write([]journal.Record{message(1, 10)}); err != nil {
		t.Fatal(err)
	}
	if err := j.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(scan(t, j, 0)); n != 1 {
		t.Errorf("%d groups after a write and a sync", n)
	}
}

func testSlicesAreNotKept(t *testing.T, h Harness) {
	j := open(t, h)
	head, body := make([]byte, 8), make([]byte, 64)
	records := make([]journal.Record, 1)
	var addrs []journal.Address
	var want []journal.Record
	for n := range 50 {
		copy(head, fmt.Sprintf("%08d", n))
		copy(body, fmt.Sprintf("%064d", n))
		records[0] = journal.Record{Sequence: uint64(n), Life: journal.Lasting, Head: head, Body: body}
		if err := j.Append(records, func(journal.Position, error, int) {}); err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, journal.Address{Position: j.End()})
		want = append(want, journal.Record{Sequence: uint64(n), Life: journal.Lasting,
			Head: fmt.Appendf(nil, "%08d", n), Body: fmt.Appendf(nil, "%064d", n)})
	}
	if err := j.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustRead(t, j, addrs, want)
}

func testLimits(t *testing.T, h Harness) {
	j := open(t, h)
	limits := j.Info().Limits
	large := journal.Record{Life: journal.Lasting, Head: []byte("head"), Body: make([]byte, limits.GroupBytes-4)}
	for i := range large.Body {
		large.Body[i] = byte(i * 7)
	}
	p := appendWait(t, j, large)
	mustRead(t, j, []journal.Address{{Position: p}}, []journal.Record{large})
	never := func(journal.Position, error, int) { t.Error("done was called for a group that was refused") }
	large.Body = append(large.Body, 0)
	if err := j.Append([]journal.Record{large}, never); !errors.Is(err, journal.ErrTooLarge) {
		t.Errorf("a group of %d bytes: %v", large.Size(), err)
	}
	if err := j.Append(make([]journal.Record, limits.GroupRecords+1), never); !errors.Is(err, journal.ErrTooLarge) {
		t.Errorf("a group of %d records: %v", limits.GroupRecords+1, err)
	}
	if err := j.Write([]journal.Record{large}); !errors.Is(err, journal.ErrTooLarge) {
		t.Errorf("writing a group of %d bytes: %v", large.Size(), err)
	}
	if q := appendWait(t, j, settle(1)); q <= p {
		t.Errorf("position %d follows %d", q, p)
	}
	if n := len(scan(t, j, 0)); n != 2 {
		t.Errorf("%d groups are in the log, not 2", n)
	}
}
