package batch

import (
	"context"
	"math"
	"time"
)

// Config says how items are grouped and who handles them. Only Handle is required.
type Config[T any] struct {
	// MaxCount is the most items a group has. 0 or less: 1000.
	MaxCount int
	// MaxBytes is the most bytes a group has, as Size counts them; a single larger item is a group of its own.
	// 0 or less: no limit.
	MaxBytes int
	// Delay chooses the policy. 0 or less: readiness, a group leaves as soon as a handler is free. More: a group that
	// is not full leaves when its oldest item has waited this long since it was offered. A group that stands in
	// the way of an item because as much waits as may leaves at once.
	Delay time.Duration
	// Gather, with readiness, lets those whose items were just answered come again before the next group leaves: a
	// handler that has an item yields the processor until as many wait as it has answered last, or until yielding
	// brings nobody. It is for handlers that take much longer than their callers need to come back, such as a sync of a
	// disk: without it about half of the callers share each group. No clock is involved, and a lone caller causes no
	// yield.
	Gather bool
	// Handlers is how many groups are handled at once. 0 or less: 1.
	Handlers int
	// Pending is how many items may wait, those being handled not counted. 0 or less: 10 × MaxCount. A group is never
	// larger than what may wait.
	Pending int
	// PendingBytes is how many bytes may wait; a single larger item may wait alone. 0 or less: no bound.
	PendingBytes int
	// Size returns the bytes of an item; it is called once an item, before the item is taken. nil: every item counts 0.
	Size func(T) int
	// Handle handles a group. It returns one result an item in the same order, or nil if all succeeded. A panic, or
	// a slice of any other length, becomes the error of every item. The context ends only when Shutdown loses
	// patience. The slice is the grouper's and is used again: keep items, not the slice. With several Handlers it is
	// called from several goroutines at once. It must not call Close, Shutdown or Flush, and with one handler not wait
	// for another item.
	Handle func(ctx context.Context, items []T) []error
}

// withDefaults returns the configuration with every value that was left out filled in.
func (c Config[T]) withDefaults() Config[T] {
	if c.MaxCount <= 0 {
		c.MaxCount = 1000
	}
	if c.Handlers <= 0 {
		c.Handlers = 1
	}
	if c.Pending <= 0 {
		c.Pending = 10 * min(c.MaxCount, math.MaxInt/10)
	}
	c.MaxBytes = max(c.MaxBytes, 0)
	c.PendingBytes = max(c.PendingBytes, 0)
	c.Delay = max(c.Delay, 0)
	if c.Handle == nil {
		c.Handle = func(_ context.Context, items []T) []error {
			errs := make([]error, len(items))
			for i := range errs {
				errs[i] = ErrNoHandler
			}
			return errs
		}
	}
	return c
}
