package flow

import (
	"context"
	"time"
)

// Interval emits 0, 1, 2 and so on, the first after d, and waits without a worker. Ticks stand at whole multiples of d
// since the beginning; a reader that is late by one or more misses those. It ends only with its context or its reader:
// see Take and Zip.
func Interval(d time.Duration) Stream[int] {
	return Source(func(ctx context.Context, emit func(int) bool) error {
		due := time.Now()
		for i := 0; ; i++ {
			due = due.Add(d)
			if late := time.Since(due); d > 0 && late >= d {
				due = due.Add(late.Truncate(d))
			}
			if err := Sleep(ctx, time.Until(due)); err != nil {
				return err
			}
			if !emit(i) {
				return nil
			}
		}
	})
}

// Throttle lets an item pass only when the one before has passed at least that long ago, and reads no more meanwhile.
// An item that comes later than that passes at once. It waits without a worker.
func Throttle[T any](in Stream[T], every time.Duration) Stream[T] {
	return stream(func(ctx context.Context, yield func(T, error) bool) error {
		var due time.Time
		var ended error
		err := each(ctx, in, func(item T, err error) bool {
			if err == nil {
				if ended = Sleep(ctx, time.Until(due)); ended != nil {
					return false
				}
				due = time.Now().Add(every)
			}
			return yield(item, err)
		})
		if ended != nil {
			return ended
		}
		return err
	})
}
