package queue

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// told are the ends of receipts.
type told struct {
	mu   sync.Mutex
	put  int
	errs []error
}

// receipt makes one for a queue.
func (e *told) receipt(to, body string) *component.Receipt {
	return &component.Receipt{To: named(to), Message: message.Message{Body: []byte(body)}, Done: func(err error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if err == nil {
			e.put++
		} else {
			e.errs = append(e.errs, err)
		}
	}}
}

func with(r *component.Receipt) component.Outcome { return component.Outcome{Receipt: r} }

// claimed runs a source over n messages and takes them all.
func claimed(t *testing.T, store *queue.Store, n int) (*running, []component.Delivery) {
	t.Helper()
	ms := make([]message.Message, n)
	for i := range ms {
		ms[i] = text(fmt.Sprint(i))
	}
	put(t, store, "q", ms...)
	r := run(t, store, Config{Queue: "q", Max: n})
	var ds []component.Delivery
	for range n {
		d, _ := r.take(t)
		if !d.Receipts {
			t.Fatal("its settlement takes no receipts")
		}
		ds = append(ds, d)
	}
	return r, ds
}

func TestReceiptsArePutWithTheSettlements(t *testing.T) {
	store, _ := open(t)
	const n = 300
	r, ds := claimed(t, store, n)
	var ends told
	before := store.JournalStats().Groups
	for i, d := range ds {
		first := ends.receipt("receipts", fmt.Sprint(i))
		first.Next = ends.receipt("receipts", fmt.Sprint(i, "b"))
		d.Settle(with(first))
	}
	r.stop(t)
	if st := stats(t, store, "q"); st.TotalDone != n {
		t.Errorf("%+v", st)
	}
	if st := stats(t, store, "receipts"); st.TotalPut != 2*n || ends.put != 2*n || len(ends.errs) > 0 {
		t.Errorf("%d receipts, %d told: %v", st.TotalPut, ends.put, ends.errs)
	}
	if groups := store.JournalStats().Groups - before; groups > n/4 {
		t.Errorf("%d groups for %d settlements with receipts", groups, n)
	}
	if r.receipts.bytes != 0 || len(r.receipts.of) != 0 {
		t.Errorf("%d bytes and %d receipts are still held", r.receipts.bytes, len(r.receipts.of))
	}
}

func TestAFullQueueOfReceiptsHoldsUpNoSettlement(t *testing.T) {
	store, _ := open(t)
	const n, room = 100, 40
	if _, err := store.CreateQueue(t.Context(), named("receipts"), queue.Definition{MaxMessages: room}); err != nil {
		t.Fatal(err)
	}
	r, ds := claimed(t, store, n)
	var ends told
	for i, d := range ds {
		d.Settle(with(ends.receipt("receipts", fmt.Sprint(i))))
	}
	r.stop(t)
	if st := stats(t, store, "q"); st.TotalDone != n {
		t.Errorf("%+v", st)
	}
	if st := stats(t, store, "receipts"); int(st.TotalPut) != ends.put || ends.put == 0 || ends.put > room {
		t.Errorf("%d receipts, %d told", st.TotalPut, ends.put)
	}
	if ends.put+len(ends.errs) != n || !errors.Is(ends.errs[0], queue.ErrQueueFull) {
		t.Errorf("%d are put, of the others is told %v", ends.put, ends.errs)
	}
}

func TestReceiptsThatTheirQueueRefusesHoldUpNoSettlement(t *testing.T) {
	store, _ := open(t)
	columns, err := message.ParseColumns([]string{"n int"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateQueue(t.Context(), named("rows"), queue.Definition{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	r, ds := claimed(t, store, 3)
	var ends told
	for _, d := range ds {
		d.Settle(with(ends.receipt("rows", "this is no row")))
	}
	r.stop(t)
	if st := stats(t, store, "q"); st.TotalDone != 3 {
		t.Errorf("%+v", st)
	}
	if len(ends.errs) != 3 || !errors.Is(ends.errs[0], queue.ErrMismatch) {
		t.Errorf("%v", ends.errs)
	}
}

func TestReceiptsOfMessagesThatComeBackArePut(t *testing.T) {
	store, _ := open(t)
	r, ds := claimed(t, store, 1)
	var ends told
	back := component.Again(0, errors.New("half of it was not sent"))
	back.Receipt = ends.receipt("receipts", "of the other half")
	ds[0].Settle(back)
	r.stop(t)
	if st := stats(t, store, "q"); st.TotalDone != 0 || ends.put != 1 {
		t.Errorf("%+v, %d receipts", st, ends.put)
	}
}

func TestTooManyReceiptsAreDroppedAndNotHeld(t *testing.T) {
	store, _ := open(t)
	r, ds := claimed(t, store, 2)
	var ends told
	r.mu.Lock()
	r.receipts.bytes = mostReceiptBytes // as if so many waited for a slow disk
	r.mu.Unlock()
	ds[0].Settle(with(ends.receipt("receipts", "one too many")))
	r.mu.Lock()
	r.receipts.bytes = 0
	r.mu.Unlock()
	ds[1].Settle(with(ends.receipt("receipts", "fits")))
	r.stop(t)
	if st := stats(t, store, "q"); st.TotalDone != 2 || ends.put != 1 || len(ends.errs) != 1 ||
		!errors.Is(ends.errs[0], errManyReceipts) {
		t.Errorf("%+v, %d receipts, %v", st, ends.put, ends.errs)
	}
}

func TestReceiptsOfAStoreThatIsOverAreTold(t *testing.T) {
	store, _ := open(t)
	r, ds := claimed(t, store, 1)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	var ends told
	ds[0].Settle(with(ends.receipt("receipts", "late")))
	if err := <-r.ended; !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Run: %v", err)
	}
	if err := r.Close(); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Close: %v", err)
	}
	if len(ends.errs) != 1 || !errors.Is(ends.errs[0], queue.ErrClosed) {
		t.Errorf("%v", ends.errs)
	}
}
