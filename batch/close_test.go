package batch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/batch"
)

func TestCloseHandlesWhatWaitsAndTakesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := busyWith(t, h, batch.Config[int]{Pending: 2})
		post(t, g, 1, 2)
		blocked := make(chan error, 1)
		go func() { blocked <- g.Do(context.Background(), 3) }()
		synctest.Wait()
		closed := make(chan error, 2)
		go func() { closed <- g.Close() }()
		synctest.Wait()
		if err := <-blocked; !errors.Is(err, batch.ErrClosed) {
			t.Errorf("a call that waited for room: %v, want ErrClosed", err)
		}
		go func() { closed <- g.Close() }() // waits for the same end
		synctest.Wait()
		if len(closed) != 0 {
			t.Error("Close returned before the groups were handled")
		}
		h.leave()
		for range 2 {
			if err := <-closed; err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		wantGroups(t, h, []int{0}, []int{1, 2})
		_, add := g.Add(context.Background(), 4)
		_, try := g.TryAdd(4)
		for name, err := range map[string]error{"Add": add, "TryAdd": try, "Post": g.Post(4),
			"PostWait": g.PostWait(context.Background(), 4), "Do": g.Do(context.Background(), 4)} {
			if !errors.Is(err, batch.ErrClosed) {
				t.Errorf("%s after Close: %v, want ErrClosed", name, err)
			}
		}
		if err := g.Flush(context.Background()); err != nil {
			t.Errorf("Flush after Close: %v", err)
		}
		closeIt(t, g)
	})
}

func TestCloseStopsTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		h.leave()
		g := batch.New(batch.Config[int]{Delay: time.Hour, Handle: h.handle})
		post(t, g, 1)
		closeIt(t, g)
		wantGroups(t, h, []int{1})
	})
}

func TestShutdownThatLosesPatienceEndsTheHandlersContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := batch.New(batch.Config[int]{MaxCount: 1, Handle: func(ctx context.Context, items []int) []error {
			<-ctx.Done()
			return []error{ctx.Err()}
		}})
		var results []*batch.Result
		for i := range 3 {
			r, err := g.TryAdd(i)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		ctx, cancel := context.WithTimeout(context.Background(), second)
		defer cancel()
		began := time.Now()
		if err := g.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v, want the deadline", err)
		}
		if d := time.Since(began); d != second {
			t.Errorf("Shutdown took %v, want its patience of %v", d, second)
		}
		for i, r := range results {
			if err := r.Wait(context.Background()); !errors.Is(err, context.Canceled) {
				t.Errorf("item %d: %v, want the handler's answer", i, err)
			}
		}
	})
}

func TestFlushWaitsForTheSlowestHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, fast := make(chan struct{}), make(chan struct{})
		g := batch.New(batch.Config[int]{Handlers: 2, Handle: func(_ context.Context, items []int) []error {
			if items[0] == 1 {
				<-slow
			} else {
				<-fast
			}
			return nil
		}})
		post(t, g, 1)
		synctest.Wait()
		post(t, g, 2)
		flushed := make(chan error, 1)
		go func() { flushed <- g.Flush(context.Background()) }()
		close(fast)
		synctest.Wait()
		if len(flushed) != 0 {
			t.Error("Flush returned while an item that was added before it is being handled")
		}
		post(t, g, 3) // not waited for
		close(slow)
		if err := <-flushed; err != nil {
			t.Errorf("Flush: %v", err)
		}
		closeIt(t, g)
	})
}

func TestFlushStopsWaitingWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := busyWith(t, h, batch.Config[int]{})
		ctx, cancel := context.WithTimeout(context.Background(), second)
		defer cancel()
		if err := g.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush: %v, want the deadline", err)
		}
		h.leave()
		closeIt(t, g)
	})
}
