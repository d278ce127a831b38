package batch_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/batch"
)

const producers, perProducer = 32, 400

// stress lets many producers add by every call there is, and returns for every producer the order in which its items
// were handled.
func stress(t *testing.T, c batch.Config[[2]int]) (got [producers][]int) {
	var mu sync.Mutex
	var inHandle atomic.Int32
	c.Size = func([2]int) int { return 1 }
	c.Handle = func(_ context.Context, items [][2]int) []error {
		if n := inHandle.Add(1); int(n) > max(1, c.Handlers) {
			t.Errorf("%d groups are handled at once", n)
		}
		defer inHandle.Add(-1)
		if len(items) > c.MaxCount {
			t.Errorf("a group of %d", len(items))
		}
		mu.Lock()
		defer mu.Unlock()
		for _, i := range items {
			got[i[0]] = append(got[i[0]], i[1])
		}
		return nil
	}
	g := batch.New(c)
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range perProducer {
				var err error
				item := [2]int{p, i}
				switch (p + i) % 6 {
				case 0:
					err = g.Do(context.Background(), item)
				case 1:
					_, err = g.Add(context.Background(), item)
				case 2:
					err = g.PostWait(context.Background(), item)
				case 3:
					for err = g.Post(item); errors.Is(err, batch.ErrFull); err = g.Post(item) {
						runtime.Gosched()
					}
				case 4:
					turn, e := g.PostTurn(item)
					for ; errors.Is(e, batch.ErrFull); turn, e = g.PostTurn(item) {
						runtime.Gosched()
					}
					if err = e; turn != nil {
						turn()
					}
				case 5:
					if err = g.PostWait(context.Background(), item); err == nil && i%50 == 0 {
						err = g.Flush(context.Background())
					}
				}
				if err != nil {
					t.Errorf("producer %d, item %d: %v", p, i, err)
				}
			}
		})
	}
	wg.Wait()
	if err := g.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if s := g.Stats(); s.Items != producers*perProducer || s.Groups != s.Ready+s.Count+s.Bytes+s.Delay+s.Flush+s.Close {
		t.Errorf("stats are %+v", s)
	}
	return got
}

func TestEveryProducersItemsAreHandledOnceAndInOrder(t *testing.T) {
	for name, c := range map[string]batch.Config[[2]int]{
		"readiness":         {MaxCount: 16, Pending: 20},
		"readiness, bytes":  {MaxCount: 16, MaxBytes: 5, PendingBytes: 9},
		"thresholds":        {MaxCount: 16, Pending: 20, Delay: time.Millisecond},
		"thresholds, bytes": {MaxCount: 16, MaxBytes: 5, Delay: time.Millisecond, PendingBytes: 9},
	} {
		t.Run(name, func(t *testing.T) {
			for p, items := range stress(t, c) {
				if len(items) != perProducer {
					t.Errorf("producer %d: %d items were handled", p, len(items))
				}
				for i, n := range items {
					if n != i {
						t.Fatalf("producer %d: item %d was handled as number %d", p, n, i)
					}
				}
			}
		})
	}
}

func TestEveryItemIsHandledOnceBySeveralHandlers(t *testing.T) {
	for p, items := range stress(t, batch.Config[[2]int]{MaxCount: 8, Pending: 30, Handlers: 4,
		Delay: time.Millisecond}) {
		seen := make(map[int]bool)
		for _, n := range items {
			if seen[n] {
				t.Errorf("producer %d: item %d was handled twice", p, n)
			}
			seen[n] = true
		}
		if len(seen) != perProducer {
			t.Errorf("producer %d: %d items were handled", p, len(seen))
		}
	}
}

func TestItemsCostNoMemoryButTheirResult(t *testing.T) {
	g := batch.New(batch.Config[int]{Handle: func(context.Context, []int) []error { return nil }})
	defer g.Close()
	ctx := context.Background()
	for name, c := range map[string]struct {
		call func()
		most float64
	}{
		"Post": {func() { _ = g.Post(1); _ = g.Flush(ctx) }, 3}, // two are Flush's, one its list's
		"Do":   {func() { _ = g.Do(ctx, 1) }, 0},
		// and the channel, if the item is not done at once
		"Add": {func() { r, _ := g.Add(ctx, 1); _ = r.Wait(ctx) }, 2},
	} {
		if n := testing.AllocsPerRun(1000, c.call); n > c.most {
			t.Errorf("%s allocates %v times, want %v at most", name, n, c.most)
		}
	}
}
