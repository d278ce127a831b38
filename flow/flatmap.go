package flow

import (
	"context"
	"iter"
)

// FlatMap makes a stream of each item and yields the items of all of them: as they come, or with Options.Ordered those
// of the first stream, then those of the second, and so on. Up to Options.Concurrency streams run at once, each at most
// Prefetch items ahead; with 1 the streams run one after the other.
func FlatMap[In, Out any](in Stream[In], f func(item In) Stream[Out], options Options) Stream[Out] {
	o := options.withDefaults()
	return stream(func(ctx context.Context, yield func(Out, error) bool) error {
		if o.inline() {
			return flatInline(ctx, in, f, o, yield)
		}
		return flatCrew(f, o).run(ctx, in, yield)
	})
}

// FlatMapByKey is FlatMap in which at most perKey streams of items with the same key run at once. An item that has to
// wait for one of its key lets those of other keys pass, as long as no more than Concurrency × Prefetch items have been
// read. With perKey 1 the streams of a key run one after the other, in the order of their items. Options.Ordered has no
// effect.
func FlatMapByKey[In, Out any, K comparable](in Stream[In], key func(In) K, perKey int, f func(item In) Stream[Out],
	options Options) Stream[Out] {
	o := options.withDefaults()
	o.Ordered = false
	return stream(func(ctx context.Context, yield func(Out, error) bool) error {
		if o.inline() {
			return flatInline(ctx, in, f, o, yield)
		}
		items := Map(in, func(_ context.Context, item In) (keyed[In, K], error) {
			return keyed[In, K]{item, key(item)}, nil // here its panic harms only the item
		}, Options{KeepGoing: o.KeepGoing})
		c := flatCrew(func(k keyed[In, K]) Stream[Out] { return f(k.item) }, o)
		c.window = o.Concurrency * o.Prefetch
		c.keys = &perKeys[In, K]{most: max(1, perKey), lines: make(map[K]*keyLine[In, K])}
		return c.run(ctx, items, yield)
	})
}

// Merge yields the items of all streams as they come. All of them run at once.
func Merge[T any](streams ...Stream[T]) Stream[T] {
	return FlatMap(Of(streams...), func(s Stream[T]) Stream[T] { return s }, Options{Concurrency: len(streams)})
}

func flatCrew[In, Out any](f func(In) Stream[Out], o Options) *crew[In, Out] {
	return newCrew(o, func(h *hand[In, Out], item In) piece[Out] {
		err := runStream(h.ctx, f, item, &o,
			func(out Out, err error) bool { return h.emit(piece[Out]{value: out, err: err}) })
		return piece[Out]{err: err, none: err == nil}
	})
}

func flatInline[In, Out any](ctx context.Context, in Stream[In], f func(In) Stream[Out], o Options,
	yield func(Out, error) bool) error {
	var none Out
	return each(ctx, in, func(item In, err error) bool {
		more := true
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = runStream(ctx, f, item, &o, func(out Out, err error) bool {
				more = yield(out, err) && (err == nil || o.KeepGoing)
				return more
			})
		}
		if more && err != nil {
			more = yield(none, err) && o.KeepGoing
		}
		return more
	})
}

// runStream runs the stream of an item, again if it fails before its first item, and returns an error that was not
// emitted.
func runStream[In, Out any](ctx context.Context, f func(In) Stream[Out], item In, o *Options,
	emit func(Out, error) bool) error {
	began := false
	limits := *o
	again := o.Retry.If
	limits.Retry.If = func(err error) bool { return !began && (again == nil || again(err)) }
	return limits.attempts(ctx, func(limited context.Context) error {
		var failed error
		enough, told := false, false
		panicked := each(limited, func(ctx context.Context) iter.Seq2[Out, error] { return f(item)(ctx) },
			func(out Out, err error) bool {
				if err != nil {
					err = o.late(ctx, limited, err)
					if !began && o.Retry.Attempts > 1 {
						failed = err
						return false
					}
					told = true
				}
				began = true
				enough = !emit(out, err)
				return !enough
			})
		switch {
		case panicked != nil:
			return panicked
		case failed == nil && !enough && !told && limited.Err() != nil:
			return context.Cause(limited) // the stream may have ended early because of it
		default:
			return failed
		}
	})
}

// keyed is an item and its key.
type keyed[In any, K comparable] struct {
	item In
	key  K
}

// perKeys keeps items back whose key is busy.
type perKeys[In any, K comparable] struct {
	most  int
	lines map[K]*keyLine[In, K] // of keys that are busy
}

type keyLine[In any, K comparable] struct {
	busy int
	kept ring[job[keyed[In, K]]]
}

func (k *perKeys[In, K]) enter(j job[keyed[In, K]]) bool {
	l := k.lines[j.item.key]
	if l == nil {
		l = new(keyLine[In, K])
		k.lines[j.item.key] = l
	}
	if l.busy == k.most {
		l.kept.push(j)
		return false
	}
	l.busy++
	return true
}

func (k *perKeys[In, K]) leave(item keyed[In, K]) (next job[keyed[In, K]], ok bool) {
	l := k.lines[item.key]
	if l == nil {
		return next, false // a key that does not equal itself, as NaN
	}
	if l.kept.n > 0 {
		return l.kept.pop(), true
	}
	if l.busy--; l.busy == 0 {
		delete(k.lines, item.key)
	}
	return next, false
}
