package flow

import "context"

// Collect runs a stream and returns its items. The first error ends it; the items before it are returned too.
func Collect[T any](ctx context.Context, in Stream[T]) ([]T, error) {
	var items []T
	err := ForEach(ctx, in, func(item T) error {
		items = append(items, item)
		return nil
	})
	return items, err
}

// CollectMap runs a stream and returns what entry makes of its items. Of several with the same key the last counts. The
// first error ends it; what came before it is returned too.
func CollectMap[T any, K comparable, V any](ctx context.Context, in Stream[T], entry func(T) (K, V)) (map[K]V, error) {
	entries := make(map[K]V)
	err := ForEach(ctx, in, func(item T) error {
		k, v := entry(item)
		entries[k] = v
		return nil
	})
	return entries, err
}

// ForEach runs a stream and calls f for each item, in this goroutine. It returns the first error, of the stream or of
// f, when everything has ended. A stream whose items are to be worked on by several at once wants a Map before its
// ForEach.
func ForEach[T any](ctx context.Context, in Stream[T], f func(item T) error) (err error) {
	panicked := each(ctx, in, func(item T, e error) bool {
		if e == nil {
			_, e = call(ctx, func(context.Context, T) (struct{}, error) { return struct{}{}, f(item) }, item)
		}
		err = e
		return err == nil
	})
	switch {
	case err != nil:
		return err
	case panicked != nil:
		return panicked
	case ctx.Err() != nil:
		return context.Cause(ctx) // the stream may have ended early because of it
	}
	return nil
}
