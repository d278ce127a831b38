package flow

import (
	"context"
	"iter"
	"slices"
)

// Stream is a sequence that has yet to be run. Each call with a context and each loop over the result is a run of its
// own, from the beginning. A pair is an item or an error; after an error nothing more comes, unless the stage that
// yields it keeps going (Options.KeepGoing).
//
// When the loop ends, by break, return or panic, or the context does, everything that the run has started has ended
// before the loop returns. A source that waits for anything has to watch the context it was given.
//
// Any function of this type will do; Source helps to write one.
type Stream[T any] func(ctx context.Context) iter.Seq2[T, error]

// Pair is what Zip makes of two items.
type Pair[A, B any] struct {
	First  A
	Second B
}

// Source makes a stream of a function that emits items, one after the other, and returns nil at the end or the error
// that ends the stream. When emit returns false nobody wants more, and what the function returns no longer matters. The
// context ends when nobody wants more: pass it to whatever waits. A stream whose context has ended never ends well, so
// that nobody takes half of it for the whole.
func Source[T any](run func(ctx context.Context, emit func(T) bool) error) Stream[T] {
	return stream(func(ctx context.Context, yield func(T, error) bool) error {
		err := run(ctx, func(item T) bool { return yield(item, nil) })
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	})
}

// Of is the stream of these items.
func Of[T any](items ...T) Stream[T] { return From(slices.Values(items)) }

// From is the stream of the items of a sequence, which has to be one that can be run again if the stream is.
func From[T any](items iter.Seq[T]) Stream[T] {
	return Source(func(ctx context.Context, emit func(T) bool) error {
		for item := range items {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !emit(item) {
				return nil
			}
		}
		return nil
	})
}

// Take ends a stream after n items.
func Take[T any](in Stream[T], n int) Stream[T] {
	return stream(func(ctx context.Context, yield func(T, error) bool) error {
		if n <= 0 {
			return nil
		}
		left := n
		return each(ctx, in, func(item T, err error) bool {
			if err == nil {
				left--
			}
			return yield(item, err) && left > 0
		})
	})
}

// stream makes a Stream of a stage's run. Its context carries a place; an error that it returns, or its panic, becomes
// the last pair.
func stream[T any](run func(ctx context.Context, yield func(T, error) bool) error) Stream[T] {
	return func(ctx context.Context) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			ctx, _ := standing(ctx)
			enough, err := guard(yield, func(yield func(T, error) bool) error { return run(ctx, yield) })
			if err != nil && !enough {
				var none T
				yield(none, err)
			}
		}
	}
}

// each runs a stream and gives its pairs to do until that returns false. A panic of the stream is returned as an error.
func each[T any](ctx context.Context, in Stream[T], do func(T, error) bool) error {
	_, err := guard(do, func(yield func(T, error) bool) error {
		in(ctx)(yield)
		return nil
	})
	return err
}

// guard lets run yield, and returns whether yield has had enough and the error of run. A panic of run becomes its
// error; one of yield belongs to somebody further down and goes on.
func guard[T any](yield func(T, error) bool, run func(yield func(T, error) bool) error) (enough bool, err error) {
	yielding := false
	defer func() {
		if yielding {
			return
		}
		if v := recover(); v != nil {
			err = caught(v)
		}
	}()
	err = run(func(item T, err error) bool {
		if enough {
			return false
		}
		yielding = true
		enough = !yield(item, err)
		yielding = false
		return !enough
	})
	return enough, err
}
