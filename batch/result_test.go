package batch_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hikyaku/hikyaku/batch"
)

func TestEveryItemGetsItsOwnResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := busyWith(t, h, batch.Config[int]{})
		odd := errors.New("odd")
		var results []*batch.Result
		for i := 1; i <= 3; i++ {
			r, err := g.Add(context.Background(), i)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		select {
		case <-results[0].Done():
			t.Error("done before it was handled")
		default:
		}
		if err := results[0].Err(); err != nil {
			t.Errorf("an error before it was handled: %v", err)
		}
		h.release <- nil
		h.release <- []error{odd, nil, odd}
		for i, want := range []error{odd, nil, odd} {
			if err := results[i].Wait(context.Background()); err != want {
				t.Errorf("item %d: %v, want %v", i+1, err, want)
			}
			<-results[i].Done() // also when it is asked for late
			if err := results[i].Err(); err != want {
				t.Errorf("item %d: Err %v, want %v", i+1, err, want)
			}
		}
		closeIt(t, g)
		if s := g.Stats(); s.Failed != 2 {
			t.Errorf("stats are %+v", s)
		}
	})
}

func TestGivingUpWaitingDoesNotTakeTheItemBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newGate()
		g := busyWith(t, h, batch.Config[int]{})
		r, err := g.Add(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), second)
		defer cancel()
		if err := r.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v, want the deadline", err)
		}
		ctx2, cancel2 := context.WithTimeout(context.Background(), second)
		defer cancel2()
		if err := g.Do(ctx2, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do: %v, want the deadline", err)
		}
		h.leave()
		if err := r.Wait(ctx); ctx.Err() == nil || (err != nil && !errors.Is(err, context.DeadlineExceeded)) {
			t.Errorf("Wait again: %v", err)
		}
		closeIt(t, g)
		if err := r.Wait(ctx); err != nil {
			t.Errorf("a known result gives way to an ended context: %v", err)
		}
		wantGroups(t, h, []int{0}, []int{1, 2})
	})
}

func TestHandlerThatMisbehavesFailsItsItemsAndNothingElse(t *testing.T) {
	cause := errors.New("cause")
	var panicked *batch.PanicError
	var wrong *batch.ResultsError
	handlers := map[string]struct {
		handle func() []error
		is     func(error) bool
	}{
		"panics": {
			func() []error { panic("no") },
			func(err error) bool {
				return errors.As(err, &panicked) && panicked.Value == "no" && len(panicked.Stack) > 0
			},
		},
		"panics with an error": {
			func() []error { panic(cause) },
			func(err error) bool { return errors.Is(err, cause) },
		},
		"ends its goroutine": {
			func() []error { runtime.Goexit(); return nil },
			func(err error) bool { return errors.Is(err, batch.ErrHandlerExit) },
		},
		"returns too few": {
			func() []error { return []error{} },
			func(err error) bool { return errors.As(err, &wrong) && wrong.Results == 0 },
		},
		"returns too many": {
			func() []error { return make([]error, 2) },
			func(err error) bool { return errors.As(err, &wrong) && wrong.Items == 1 },
		},
	}
	for name, c := range handlers {
		t.Run(name, func(t *testing.T) {
			bad := true
			g := batch.New(batch.Config[int]{Handle: func(context.Context, []int) []error {
				if bad {
					bad = false
					return c.handle()
				}
				return nil
			}})
			defer g.Close()
			err := g.Do(context.Background(), 1)
			if err == nil || !c.is(err) || err.Error() == "" {
				t.Errorf("the item's error is %v", err)
			}
			if err := g.Do(context.Background(), 2); err != nil {
				t.Errorf("the next item's error is %v", err)
			}
		})
	}
}

func TestWithoutAHandlerEveryItemFails(t *testing.T) {
	g := batch.New(batch.Config[int]{})
	defer g.Close()
	if err := g.Do(context.Background(), 1); !errors.Is(err, batch.ErrNoHandler) {
		t.Errorf("Do: %v, want ErrNoHandler", err)
	}
}

func TestResultsOfDoAreNeverMixedUp(t *testing.T) {
	g := batch.New(batch.Config[int]{MaxCount: 7, Handlers: 3, Handle: func(_ context.Context, items []int) []error {
		errs := make([]error, len(items))
		for i, n := range items {
			if n%2 == 1 {
				errs[i] = fmt.Errorf("%d", n)
			}
		}
		return errs
	}})
	done := make(chan []string)
	for p := range 16 {
		go func() {
			var bad []string
			for i := range 500 {
				n := p*1000 + i
				ctx, cancel := context.WithCancel(context.Background())
				if i%5 == 0 {
					cancel() // results of calls that gave up must not come back to others
				}
				err := g.Do(ctx, n)
				cancel()
				switch {
				case errors.Is(err, context.Canceled):
				case n%2 == 1 && (err == nil || err.Error() != fmt.Sprint(n)), n%2 == 0 && err != nil:
					bad = append(bad, fmt.Sprintf("%d: %v", n, err))
				}
			}
			done <- bad
		}()
	}
	var bad []string
	for range 16 {
		bad = append(bad, <-done...)
	}
	if closeIt(t, g); len(bad) > 0 {
		t.Errorf("%d wrong results, such as %v", len(bad), slices.Compact(bad)[0])
	}
}
