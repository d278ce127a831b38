package flow

import "context"

// Buffer runs a stream in a goroutine of its own, up to n items ahead of the reader.
func Buffer[T any](in Stream[T], n int) Stream[T] {
	return stream(func(ctx context.Context, yield func(T, error) bool) error {
		return buffered(ctx, in, n, func(p *pipe[T], r piece[T]) bool { return yield(r.value, r.err) })
	})
}

// Batch yields slices of up to n items. It never waits for company: while the reader is busy with a batch the next one
// gathers, and leaves when the reader is ready, with whatever is there. A lone item is a batch of one. Each slice is
// new and the reader's.
func Batch[T any](in Stream[T], n int) Stream[[]T] {
	n = max(1, n)
	return stream(func(ctx context.Context, yield func([]T, error) bool) error {
		return buffered(ctx, in, n, func(p *pipe[T], r piece[T]) bool {
			if r.err != nil {
				return yield(nil, r.err)
			}
			return yield(p.takeMore([]T{r.value}, n), nil)
		})
	})
}

// buffered runs a stream n items ahead and gives its pairs to do until that returns false.
func buffered[T any](ctx context.Context, in Stream[T], n int, do func(p *pipe[T], r piece[T]) bool) error {
	at := placeOf(ctx)
	p := ahead(ctx, in, n, nil)
	defer p.stop(ctx, at)
	defer whenOver(ctx, p.halt)()
	for {
		r, _, ok := p.take(ctx, at)
		if !ok {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil
		}
		if !do(p, r) {
			return nil
		}
	}
}
