package flow

import "context"

// Zip pairs the n-th item of one stream with the n-th of the other, and ends with the shorter one. Both run at once;
// the second runs ahead by a few items.
func Zip[A, B any](a Stream[A], b Stream[B]) Stream[Pair[A, B]] {
	return stream(func(ctx context.Context, yield func(Pair[A, B], error) bool) error {
		at := placeOf(ctx)
		left, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		right := ahead(ctx, b, 16, func() { cancel(errEnough) }) // there is nothing to pair with any more
		defer right.stop(ctx, at)
		defer whenOver(ctx, right.halt)()

		err := each(left, a, func(first A, err error) bool {
			if context.Cause(left) == errEnough {
				return false
			}
			if err != nil {
				yield(Pair[A, B]{}, err)
				return false
			}
			second, last, ok := right.take(ctx, at)
			if !ok {
				return false
			}
			return yield(Pair[A, B]{first, second.value}, second.err) && !last
		})
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	})
}
