package harness

import (
	"context"
	"sync"
)

// Crowd runs work n times at once and returns when all have ended. The first error cancels the others and is returned.
func Crowd(ctx context.Context, n int, work func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := work(ctx, i); err != nil {
				cancel(err) // only the first counts
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
