package shard

import (
	"context"
	"hash/maphash"
	"slices"
)

// stripes are locks for more keys than anybody could keep locks for: some keys share one.
type stripes []chan struct{}

func newStripes(n int) stripes {
	s := make(stripes, n)
	for i := range s {
		s[i] = make(chan struct{}, 1)
	}
	return s
}

// seed spreads keys over stripes. It may be another one in each process.
var seed = maphash.MakeSeed()

// stripeOf is the lock of a key.
func stripeOf[K comparable](s stripes, key K) int {
	return int(maphash.Comparable(seed, key) % uint64(len(s)))
}

// lock keeps others from locking some keys, until unlock is called. Who locks several does so in one call. The error is
// ctx's: then nothing is locked.
func lock[K comparable](ctx context.Context, s stripes, keys ...K) (unlock func(), err error) {
	of := make([]int, len(keys))
	for i, k := range keys {
		of[i] = stripeOf(s, k)
	}
	slices.Sort(of)
	of = slices.Compact(of)
	locked := 0
	unlock = func() {
		for _, i := range of[:locked] {
			<-s[i]
		}
	}
	for _, i := range of {
		select {
		case s[i] <- struct{}{}:
			locked++
		case <-ctx.Done():
			unlock()
			return nil, ctx.Err()
		}
	}
	return unlock, nil
}

// through does something to its end, with some keys locked, also when ctx ends: then it returns ctx's error at once,
// and nobody else does anything to the keys until it has ended.
func through[K comparable, T any](ctx context.Context, s stripes, keys []K,
	do func(ctx context.Context) (T, error)) (t T, err error) {
	unlock, err := lock(ctx, s, keys...)
	if err != nil {
		return t, err
	}
	type answer struct {
		t   T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		defer unlock()
		t, err := do(context.WithoutCancel(ctx))
		done <- answer{t, err}
	}()
	select {
	case a := <-done:
		return a.t, a.err
	case <-ctx.Done():
		return t, ctx.Err()
	}
}
