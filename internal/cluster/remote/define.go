package remote

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Arguments of methods that have several.
type (
	none          struct{}
	two[A, B any] struct {
		One A
		Two B
	}
	three[A, B, C any] struct {
		One   A
		Two   B
		Three C
	}
)

func pair[A, B any](a A, b B) two[A, B]                { return two[A, B]{a, b} }
func triple[A, B, C any](a A, b B, c C) three[A, B, C] { return three[A, B, C]{a, b, c} }

// found is a result that may not be there.
type found[R any] struct {
	Value R
	OK    bool
}

// The functions below make calls of methods of a shard, by how many arguments and results they have: ask for a value
// and an error, find for a value that may not be there, tell for an error alone.

func ask0[R any](name string, do func(queue.Shard, context.Context) (R, error)) method[none, R] {
	return define(name, func(ctx context.Context, s queue.Shard, _ none, _ *exchange) (R, error) { return do(s, ctx) })
}

func ask1[A, R any](name string, do func(queue.Shard, context.Context, A) (R, error)) method[A, R] {
	return define(name, func(ctx context.Context, s queue.Shard, a A, _ *exchange) (R, error) { return do(s, ctx, a) })
}

func ask2[A, B, R any](name string, do func(queue.Shard, context.Context, A, B) (R, error)) method[two[A, B], R] {
	return define(name, func(ctx context.Context, s queue.Shard, a two[A, B], _ *exchange) (R, error) {
		return do(s, ctx, a.One, a.Two)
	})
}

func ask3[A, B, C, R any](name string, do func(queue.Shard, context.Context, A, B, C) (R, error)) method[three[A, B, C],
	R] {
	return define(name, func(ctx context.Context, s queue.Shard, a three[A, B, C], _ *exchange) (R, error) {
		return do(s, ctx, a.One, a.Two, a.Three)
	})
}

func find1[A, R any](name string, do func(queue.Shard, context.Context, A) (R, bool, error)) method[A, found[R]] {
	return define(name, func(ctx context.Context, s queue.Shard, a A, _ *exchange) (f found[R], err error) {
		f.Value, f.OK, err = do(s, ctx, a)
		return f, err
	})
}

func find2[A, B, R any](name string, do func(queue.Shard, context.Context, A, B) (R, bool, error)) method[two[A, B],
	found[R]] {
	return define(name, func(ctx context.Context, s queue.Shard, a two[A, B], _ *exchange) (f found[R], err error) {
		f.Value, f.OK, err = do(s, ctx, a.One, a.Two)
		return f, err
	})
}

func tell0(name string, do func(queue.Shard, context.Context) error) method[none, none] {
	return define(name, func(ctx context.Context, s queue.Shard, _ none, _ *exchange) (none, error) {
		return none{}, do(s, ctx)
	})
}

func tell1[A any](name string, do func(queue.Shard, context.Context, A) error) method[A, none] {
	return define(name, func(ctx context.Context, s queue.Shard, a A, _ *exchange) (none, error) {
		return none{}, do(s, ctx, a)
	})
}

func tellAll[A any](name string, do func(queue.Shard, context.Context, ...A) error) method[[]A, none] {
	return define(name, func(ctx context.Context, s queue.Shard, a []A, _ *exchange) (none, error) {
		return none{}, do(s, ctx, a...)
	})
}

func tell2[A, B any](name string, do func(queue.Shard, context.Context, A, B) error) method[two[A, B], none] {
	return define(name, func(ctx context.Context, s queue.Shard, a two[A, B], _ *exchange) (none, error) {
		return none{}, do(s, ctx, a.One, a.Two)
	})
}
