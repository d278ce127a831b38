package flow_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/flow"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBroken = errors.New("broken")

// numbers emits 0 to n-1, each after so long, which it waits as its context lets it.
func numbers(n int, each time.Duration) flow.Stream[int] {
	return flow.Source(func(ctx context.Context, emit func(int) bool) error {
		for i := range n {
			if err := flow.Sleep(ctx, each); err != nil {
				return err
			}
			if !emit(i) {
				return nil
			}
		}
		return nil
	})
}

// failing emits 0 to n-1 and then fails.
func failing(n int) flow.Stream[int] {
	return flow.Source(func(_ context.Context, emit func(int) bool) error {
		for i := range n {
			if !emit(i) {
				return nil
			}
		}
		return errBroken
	})
}

// hanging waits for its context.
func hanging[T any]() flow.Stream[T] {
	return flow.Source(func(ctx context.Context, _ func(T) bool) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
}

// wait is work that takes so long and watches its context.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// read collects items and errors, also after the first.
func read[T any](s iter.Seq2[T, error]) (items []T, errs []error) {
	for item, err := range s {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		items = append(items, item)
	}
	return items, errs
}

func collect[T any](t *testing.T, s flow.Stream[T]) []T {
	t.Helper()
	items, err := flow.Collect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func wantItems[T comparable](t *testing.T, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("items are %v, want %v", got, want)
	}
}

func itself(_ context.Context, i int) (int, error) { return i, nil }

// elapsed is how long do takes, in the time of the test.
func elapsed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}
