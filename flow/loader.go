package flow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/batch"
)

// LoaderConfig says what a Loader fetches. Only Fetch is required.
type LoaderConfig[K comparable, V any] struct {
	// Fetch returns the values of keys, which are different ones, asked for in this order. A key that is not in the map
	// is missing: its askers get ErrMissing. An error is that of all keys that are not in the map, unless it is, or
	// wraps, a KeyErrors: then of those that it names. What was not asked for is ignored. The context is no caller's:
	// it ends with Timeout and with Shutdown. The keys are Fetch's to keep.
	Fetch func(ctx context.Context, keys []K) (map[K]V, error)
	// MaxKeys is the most keys of a fetch. 0 or less: 1000.
	MaxKeys int
	// Concurrency is how many fetches run at once. 0 or less: 1.
	Concurrency int
	// Timeout ends the context of a fetch. 0 or less: none.
	Timeout time.Duration
	// CacheSize is how many values are kept at most; the least recently used goes first. 0 or less: none. Failures are
	// never kept.
	CacheSize int
	// TTL is how long a value is kept. 0 or less: until it has to go.
	TTL time.Duration
}

// KeyErrors are the errors of keys, each its own.
type KeyErrors[K comparable] map[K]error

func (e KeyErrors[K]) Error() string {
	for k, err := range e {
		if len(e) == 1 {
			return fmt.Sprintf("flow: key %v: %v", k, err)
		}
		return fmt.Sprintf("flow: %d keys failed, one of them %v: %v", len(e), k, err)
	}
	return "flow: no key failed"
}

// Unwrap returns the errors.
func (e KeyErrors[K]) Unwrap() []error { return slices.Collect(maps.Values(e)) }

// Loader turns look-ups of one key each into fetches of many. The first key is fetched at once; those that are asked
// for while a fetch runs travel together in the next one. So N+1 queries become a few, though nobody has written a join
// and nobody waits for a timer. A key for which a fetch is waiting or running is not asked for again: its askers share
// the answer.
//
// Its methods may be called from any goroutine; who waits on a scheduler's worker gives it back meanwhile. Close it:
// its fetches run in goroutines.
type Loader[K comparable, V any] struct {
	config LoaderConfig[K, V]
	group  *batch.Grouper[*ask[K, V]]

	mu    sync.Mutex
	asks  map[K]*ask[K, V] // that wait or are being fetched
	cache cache[K, V]
	stats LoaderStats
}

// LoaderStats are running totals.
type LoaderStats struct {
	Asked   uint64 // keys that callers asked for
	Cached  uint64 // of those, answered from the cache
	Shared  uint64 // of those, answered by a fetch that somebody else had asked for
	Fetches uint64
	Keys    uint64 // in fetches
}

// ask is a key that is to be fetched.
type ask[K comparable, V any] struct {
	key     K
	callers int // that wait. Guarded by the loader's lock, as is begun
	begun   bool
	done    chan struct{}
	value   V     // once done
	err     error // once done
}

// NewLoader starts a loader.
func NewLoader[K comparable, V any](c LoaderConfig[K, V]) *Loader[K, V] {
	l := &Loader[K, V]{config: c, asks: make(map[K]*ask[K, V]), cache: newCache[K, V](c.CacheSize, c.TTL)}
	l.group = batch.New(batch.Config[*ask[K, V]]{
		MaxCount: c.MaxKeys,
		Handlers: c.Concurrency,
		Pending:  math.MaxInt, // each key has a caller that waits: those are the bound
		Gather:   true,        // callers that were just answered come again: let them
		Handle:   l.fetch,
	})
	return l
}

// Load returns the value of a key. The error is ErrMissing, what Fetch says of the key, a *TimeoutError, a *PanicError,
// ErrClosed, or the context's own if that ends first, which harms nobody else who waits for the same fetch.
func (l *Loader[K, V]) Load(ctx context.Context, key K) (V, error) {
	v, a, err := l.ask(key)
	if a == nil {
		return v, err
	}
	return l.wait(ctx, a)
}

// LoadAll returns the values of keys. The error, if there is one, is a KeyErrors with those that have none; the others
// are in the map.
func (l *Loader[K, V]) LoadAll(ctx context.Context, keys ...K) (map[K]V, error) {
	values, failed := make(map[K]V, len(keys)), KeyErrors[K]{}
	asks := make(map[K]*ask[K, V], len(keys))
	for _, key := range keys {
		if _, twice := asks[key]; twice {
			continue
		}
		v, a, err := l.ask(key)
		switch {
		case a != nil:
			asks[key] = a
		case err != nil:
			failed[key] = err
		default:
			values[key] = v
		}
	}
	for key, a := range asks {
		if v, err := l.wait(ctx, a); err != nil {
			failed[key] = err
		} else {
			values[key] = v
		}
	}
	if len(failed) > 0 {
		return values, failed
	}
	return values, nil
}

// Forget drops what is kept of a key. A fetch that runs answers those who have asked, but what it brings is not kept.
func (l *Loader[K, V]) Forget(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.drop(key)
	if a := l.asks[key]; a != nil && a.begun {
		delete(l.asks, key)
	}
}

// Stats returns a snapshot.
func (l *Loader[K, V]) Stats() LoaderStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// Close takes no more keys, fetches those that were asked for, and returns when no goroutine is left. It returns nil.
func (l *Loader[K, V]) Close() error { return l.group.Close() }

// Shutdown is Close with limited patience: when ctx ends, so do the contexts of the fetches. It returns ctx's error if
// patience ran out.
func (l *Loader[K, V]) Shutdown(ctx context.Context) error { return l.group.Shutdown(ctx) }

// ask returns what is known of a key at once, or what to wait for.
func (l *Loader[K, V]) ask(key K) (v V, a *ask[K, V], err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Asked++
	if v, ok := l.cache.get(key); ok {
		l.stats.Cached++
		return v, nil, nil
	}
	a, shared := l.asks[key]
	if shared {
		l.stats.Shared++
	} else {
		a = &ask[K, V]{key: key, done: make(chan struct{})}
		if err := l.group.Post(a); errors.Is(err, batch.ErrClosed) {
			return v, nil, ErrClosed
		} else if err != nil {
			return v, nil, fmt.Errorf("flow: asking for a key: %w", err)
		}
		l.asks[key] = a
	}
	a.callers++
	return v, a, nil
}

// wait waits for an answer without a worker.
func (l *Loader[K, V]) wait(ctx context.Context, a *ask[K, V]) (V, error) {
	select {
	case <-a.done:
		return a.value, a.err
	default:
	}
	p := placeOf(ctx)
	p.park()
	select {
	case <-a.done:
	case <-ctx.Done():
	}
	if err := p.unpark(ctx); err != nil || ctx.Err() != nil {
		l.giveUp(a)
		var none V
		return none, context.Cause(ctx)
	}
	return a.value, a.err
}

// giveUp is for a caller that waits no longer. A key for which nobody waits is not fetched.
func (l *Loader[K, V]) giveUp(a *ask[K, V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.callers--; a.callers == 0 && !a.begun && l.asks[a.key] == a {
		delete(l.asks, a.key)
	}
}
