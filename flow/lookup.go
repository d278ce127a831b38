package flow

import (
	"context"
	"errors"
)

// Lookup pairs each item with the loader's value of its key. It is Map with Loader.Load without a goroutine for each
// key: what has gathered while others are being looked up is asked for together, up to n items at once, and a lone item
// is asked for at once.
//
// Options.Concurrency is how many such groups are looked up at once, 1 by default: more make sense where the loader
// runs several fetches. KeepGoing, Ordered and Scheduler are as in Map; Timeout and Retry are for each group, and
// another attempt asks only for the keys that failed.
func Lookup[T any, K comparable, V any](in Stream[T], key func(T) K, loader *Loader[K, V], n int,
	options Options) Stream[Pair[T, V]] {
	o := options
	o.Concurrency = max(1, o.Concurrency)
	o.Prefetch, o.KeepGoing = 1, false
	attempts := Options{Timeout: o.Timeout, Retry: o.Retry}.withDefaults()
	o.Timeout, o.Retry = 0, Retry{}
	groups := Map(together(in, n), func(ctx context.Context, group []piece[T]) ([]piece[Pair[T, V]], error) {
		return lookUp(ctx, group, key, loader, &attempts), nil
	}, o)
	if o.Concurrency == 1 {
		groups = Buffer(groups, 1) // the next group is looked up while this one is read
	}
	return stream(func(ctx context.Context, yield func(Pair[T, V], error) bool) error {
		return each(ctx, groups, func(group []piece[Pair[T, V]], err error) bool {
			if err != nil {
				return yield(Pair[T, V]{}, err)
			}
			for _, r := range group {
				if !yield(r.value, r.err) || r.err != nil && !options.KeepGoing {
					return false
				}
			}
			return true
		})
	})
}

// together is Batch that keeps errors in their place.
func together[T any](in Stream[T], n int) Stream[[]piece[T]] {
	pieces := func(ctx context.Context, yield func(piece[T], error) bool) error {
		return each(ctx, in, func(item T, err error) bool { return yield(piece[T]{value: item, err: err}, nil) })
	}
	return Batch(stream(pieces), n)
}

// lookUp finds the values of a group, or what is wrong with each.
func lookUp[T any, K comparable, V any](ctx context.Context, group []piece[T], key func(T) K, loader *Loader[K, V],
	o *Options) []piece[Pair[T, V]] {
	found := make([]piece[Pair[T, V]], len(group))
	keys := make([]K, len(group))
	wanted := make([]int, 0, len(group)) // places in the group
	for i, item := range group {
		found[i].value.First, found[i].err = item.value, item.err
		if item.err == nil {
			keys[i], found[i].err = call(ctx, func(context.Context, T) (K, error) { return key(item.value), nil },
				item.value)
		}
		if found[i].err == nil {
			wanted = append(wanted, i)
		}
	}
	err := o.attempts(ctx, func(ctx context.Context) error {
		asks := make([]K, len(wanted))
		for k, i := range wanted {
			asks[k] = keys[i]
		}
		values, err := loader.LoadAll(ctx, asks...)
		var failed KeyErrors[K]
		errors.As(err, &failed)
		left := wanted[:0]
		for _, i := range wanted {
			found[i].value.Second = values[keys[i]]
			if found[i].err = failed[keys[i]]; found[i].err != nil {
				left = append(left, i)
			}
		}
		wanted = left
		return err
	})
	if late, ok := err.(*TimeoutError); ok {
		for _, i := range wanted {
			found[i].err = &TimeoutError{After: late.After, Err: found[i].err}
		}
	}
	return found
}
