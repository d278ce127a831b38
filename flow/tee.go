package flow

import (
	"context"
	"fmt"
)

// Tee passes a stream on and gives each item to every side too. A side is a function that reads a stream; it runs in a
// goroutine of its own, begins with the run and is waited for at its end. The slowest holds up all, by no more than a
// few items. A side that returns early reads no more; one that returns an error ends the stream with it.
func Tee[T any](in Stream[T], sides ...func(ctx context.Context, s Stream[T]) error) Stream[T] {
	return stream(func(ctx context.Context, yield func(T, error) bool) (err error) {
		at := placeOf(ctx)
		within, cancel := context.WithCancelCause(ctx)
		branches := make([]*branch[T], len(sides))
		for i, side := range sides {
			branches[i] = newBranch(within, side, cancel)
		}
		complete, told := false, false
		defer func() {
			if !complete || err != nil { // the reader has had enough, or something failed
				cancel(errEnough)
			}
			at.park()
			for _, b := range branches {
				close(b.items)
				<-b.ended
			}
			_ = at.unpark(ctx) // there is little left to do
			if cause := context.Cause(within); err == nil && !told && cause != nil && cause != errEnough {
				err = cause
			}
			cancel(errEnough)
		}()
		complete = true
		return each(within, in, func(item T, err error) bool {
			complete = false
			if err != nil && within.Err() != nil && ctx.Err() == nil {
				return false // because a side has failed, which is told in the end
			}
			for _, b := range branches {
				if !b.put(within, at, item, err) {
					return false
				}
			}
			told = err != nil
			complete = yield(item, err)
			return complete
		})
	})
}

// branch is a side of a Tee. Its items wait in a channel.
type branch[T any] struct {
	items chan piece[T]
	ended chan struct{}
	err   error // once it has ended
}

func newBranch[T any](ctx context.Context, side func(context.Context, Stream[T]) error,
	fail context.CancelCauseFunc) *branch[T] {
	b := &branch[T]{items: make(chan piece[T], 16), ended: make(chan struct{}), err: ErrExited}
	ctx, at := newPlace(ctx, &place{name: "goroutine", of: new(client)})
	go func() {
		defer close(b.ended)
		defer func() {
			if v := recover(); v != nil {
				b.err = caught(v)
			}
			if b.err != nil {
				fail(fmt.Errorf("flow: side of a Tee: %w", b.err))
			}
		}()
		b.err = side(ctx, stream(func(ctx context.Context, yield func(T, error) bool) error {
			return b.read(ctx, at,
				yield)
		}))
	}()
	return b
}

// put gives the side an item, unless it reads no more; false: the stream is over.
func (b *branch[T]) put(ctx context.Context, at *place, item T, err error) bool {
	r := piece[T]{value: item, err: err}
	select {
	case b.items <- r:
		return true
	case <-b.ended:
		return b.err == nil
	default:
	}
	at.park()
	defer func() { _ = at.unpark(ctx) }() // without a worker if ctx has ended: then the stream is over
	select {
	case b.items <- r:
		return true
	case <-b.ended:
		return b.err == nil
	case <-ctx.Done():
		return false
	}
}

// read yields what is put, until there is no more.
func (b *branch[T]) read(ctx context.Context, at *place, yield func(T, error) bool) error {
	for {
		at.park()
		var r piece[T]
		ok, over := false, false
		select {
		case r, ok = <-b.items:
			over = !ok
		case <-ctx.Done():
		}
		if err := at.unpark(ctx); err != nil {
			return err
		}
		switch {
		case over:
			return nil
		case !ok:
			return context.Cause(ctx)
		case !yield(r.value, r.err):
			return nil
		}
	}
}
