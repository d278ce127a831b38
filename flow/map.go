package flow

import "context"

// Map calls f for each item and yields what it returns. f has the context of the item's attempt, and is called by up to
// Options.Concurrency goroutines at once; it may run streams of its own. Its error, or panic, is the item's.
func Map[In, Out any](in Stream[In], f func(ctx context.Context, item In) (Out, error), options Options) Stream[Out] {
	o := options.withDefaults()
	do := func(ctx context.Context, item In) (Out, error) { return call(ctx, f, item) }
	if !o.plain() {
		do = func(ctx context.Context, item In) (out Out, err error) {
			err = o.attempts(ctx, func(ctx context.Context) error {
				out, err = call(ctx, f, item)
				return err
			})
			return out, err
		}
	}
	return stream(func(ctx context.Context, yield func(Out, error) bool) error {
		if o.inline() {
			return mapInline(ctx, in, do, o.KeepGoing, yield)
		}
		c := newCrew(o, func(h *hand[In, Out], item In) piece[Out] {
			out, err := do(h.ctx, item)
			return piece[Out]{value: out, err: err}
		})
		c.single = true
		c.window = o.Concurrency * o.Prefetch
		return c.run(ctx, in, yield)
	})
}

func mapInline[In, Out any](ctx context.Context, in Stream[In], do func(context.Context, In) (Out, error),
	keepGoing bool, yield func(Out, error) bool) error {
	return each(ctx, in, func(item In, err error) bool {
		var out Out
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			out, err = do(ctx, item)
		}
		return yield(out, err) && (err == nil || keepGoing)
	})
}

// call calls f and returns its panic as an error.
func call[In, Out any](ctx context.Context, f func(context.Context, In) (Out, error), item In) (out Out, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = caught(v)
		}
	}()
	return f(ctx, item)
}
