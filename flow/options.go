package flow

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Options say how a stage does its work. The zero value: one item after the other, in the goroutine of the one who
// reads.
type Options struct {
	// Concurrency is how many items are worked on at once. 0 or less: as many as the scheduler has workers, and 1
	// without a scheduler. 1 starts no goroutine, unless Prefetch is more than 1.
	Concurrency int
	// Prefetch × Concurrency is how many items are read ahead: read from the stage before and not yet taken by the one
	// after, those being worked on included. Of FlatMap it is how many items each stream runs ahead. 0 or less: such
	// that the product is about 64, at least 1.
	Prefetch int
	// Ordered yields results in the order of the items they are made of, so that the output is what Concurrency 1 would
	// yield, errors included. Otherwise they come as they are ready.
	Ordered bool
	// Scheduler's workers do the work. nil: goroutines of the stage's own.
	Scheduler *Scheduler
	// KeepGoing yields the error of an item in its place and goes on with the others. Otherwise the first error cancels
	// everything and is the last that is yielded.
	KeepGoing bool
	// Timeout ends the context of each attempt, or of each stream of FlatMap. A function that ignores its context
	// is waited for all the same. 0 or less: none.
	Timeout time.Duration
	// Retry says how often a failed item is tried. FlatMap tries a stream again only if it had not yielded anything.
	Retry Retry
}

// Retry says how often something is tried, and how long to wait between: a random time up to Wait, then up to twice
// that, and so on (full jitter). No worker is held meanwhile. A panic is never tried again.
type Retry struct {
	Attempts int              // in all; 0 or less: 1
	Wait     time.Duration    // 0 or less: 100 ms
	MaxWait  time.Duration    // 0 or less: 10 s
	If       func(error) bool // whether it is worth another attempt; nil: always
}

// withDefaults returns the options with every value that was left out filled in.
func (o Options) withDefaults() Options {
	if o.Concurrency <= 0 {
		o.Concurrency = 1
		if o.Scheduler != nil {
			o.Concurrency = o.Scheduler.max
		}
	}
	switch {
	case o.Prefetch > 0:
	case o.Concurrency == 1:
		o.Prefetch = 1
	default:
		o.Prefetch = max(1, 64/o.Concurrency)
	}
	if o.Retry.Wait <= 0 {
		o.Retry.Wait = 100 * time.Millisecond
	}
	if o.Retry.MaxWait <= 0 {
		o.Retry.MaxWait = 10 * time.Second
	}
	return o
}

// plain says whether an item is just worked on, once.
func (o *Options) plain() bool { return o.Scheduler == nil && o.Timeout <= 0 && o.Retry.Attempts <= 1 }

// inline says whether the stage works in the goroutine of its reader.
func (o *Options) inline() bool { return o.Concurrency == 1 && o.Prefetch == 1 }

// attempts calls do until it succeeds or is not worth another try.
func (o *Options) attempts(ctx context.Context, do func(ctx context.Context) error) error {
	for tries := 1; ; tries++ {
		err := o.attempt(ctx, do)
		if err == nil || tries >= o.Retry.Attempts || ctx.Err() != nil || !o.again(err) {
			return err
		}
		wait := o.Retry.MaxWait
		if doublings := tries - 1; doublings < 30 {
			wait = min(wait, o.Retry.Wait<<doublings)
		}
		if wait <= 0 { // shifted too far
			wait = o.Retry.MaxWait
		}
		if e := Sleep(ctx, rand.N(wait)); e != nil {
			return errors.Join(err, e)
		}
	}
}

func (o *Options) again(err error) bool {
	var panicked *PanicError
	return !errors.As(err, &panicked) && (o.Retry.If == nil || o.Retry.If(err))
}

// attempt calls do once, with the scheduler's worker and the time that it may take.
func (o *Options) attempt(ctx context.Context, do func(ctx context.Context) error) error {
	if o.Scheduler != nil {
		p := placeOf(ctx)
		h, err := p.enter(ctx, o.Scheduler)
		if err != nil {
			return err
		}
		defer p.leave(ctx, h)
	}
	if o.Timeout <= 0 {
		return do(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	return o.late(ctx, limited, do(limited))
}

// late makes a TimeoutError of an error if the time that was allowed is over.
func (o *Options) late(ctx, limited context.Context, err error) error {
	if err == nil || ctx.Err() != nil || limited.Err() == nil {
		return err
	}
	if _, known := err.(*TimeoutError); known {
		return err
	}
	return &TimeoutError{After: o.Timeout.String(), Err: err}
}
