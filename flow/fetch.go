package flow

import (
	"context"
	"errors"
)

// fetch answers a group of asks. It is the handler of the loader's grouper.
func (l *Loader[K, V]) fetch(ctx context.Context, asks []*ask[K, V]) []error {
	wanted, keys := l.begin(asks)
	if len(wanted) == 0 {
		return nil
	}
	var values map[K]V
	err := error(ErrExited)
	defer func() { l.answer(wanted, values, err) }() // also if Fetch ends its goroutine
	values, err = l.fetchKeys(ctx, keys)
	return nil
}

// begin leaves the asks for which somebody still waits.
func (l *Loader[K, V]) begin(asks []*ask[K, V]) (wanted []*ask[K, V], keys []K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range asks {
		if a.callers > 0 {
			a.begun = true
			wanted = append(wanted, a)
			keys = append(keys, a.key)
		}
	}
	if len(keys) > 0 {
		l.stats.Fetches++
		l.stats.Keys += uint64(len(keys))
	}
	return wanted, keys
}

// fetchKeys calls Fetch with the time that it may take.
func (l *Loader[K, V]) fetchKeys(ctx context.Context, keys []K) (values map[K]V, err error) {
	if l.config.Fetch == nil {
		return nil, errors.New("flow: no Fetch function is configured")
	}
	if l.config.Timeout <= 0 {
		return call(ctx, l.config.Fetch, keys)
	}
	limited, cancel := context.WithTimeout(ctx, l.config.Timeout)
	defer cancel()
	values, err = call(limited, l.config.Fetch, keys)
	o := Options{Timeout: l.config.Timeout}
	return values, o.late(ctx, limited, err)
}

// answer gives each ask its own answer.
func (l *Loader[K, V]) answer(asks []*ask[K, V], values map[K]V, err error) {
	var own KeyErrors[K]
	byKey := errors.As(err, &own)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range asks {
		v, found := values[a.key]
		switch failed := own[a.key]; {
		case failed != nil:
			a.err = failed
		case found:
			a.value = v
		case err != nil && !byKey:
			a.err = err
		default:
			a.err = ErrMissing
		}
		if l.asks[a.key] == a { // else it was to be forgotten
			delete(l.asks, a.key)
			if a.err == nil {
				l.cache.put(a.key, v)
			}
		}
		close(a.done)
	}
}
