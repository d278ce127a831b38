package sqs

import (
	"context"
	"sync"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// flying counts, about, how many messages of a queue may still be handed out before its limit of messages in flight is
// reached. It asks the store only when what it knew is used up.
type flying struct {
	mu   sync.Mutex
	left int
}

// allow returns how many of max messages may be handed out now; 0: the limit is reached.
func (f *flying) allow(ctx context.Context, store queue.Looking, n queue.Name, limit, max int) (int, error) {
	f.mu.Lock()
	left := f.left
	f.mu.Unlock()
	if left >= max {
		return max, nil
	}
	stats, err := store.Stats(ctx, n) // others are not held up while it is asked
	if err != nil {
		return 0, err
	}
	left = limit - int(stats.Claimed)
	f.mu.Lock()
	f.left = left
	f.mu.Unlock()
	return min(left, max), nil
}

// handed counts messages that were handed out.
func (f *flying) handed(n int) {
	f.mu.Lock()
	f.left -= n
	f.mu.Unlock()
}

// firsts remembers, as long as there is room, when messages were first received. It keeps two generations: the older
// one is forgotten when the newer is full.
type firsts struct {
	mu       sync.Mutex
	now, old map[firstKey]int64
}

// firstKey is a message of the store.
type firstKey struct {
	queue    uint32
	sequence uint64
}

// generation is how many messages one generation of firsts holds: about 3 MB.
const generation = 50_000

// note keeps that a message was first received at a time, in milliseconds since 1970.
func (f *firsts) note(t queue.Token, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.now) >= generation || f.now == nil {
		f.old, f.now = f.now, make(map[firstKey]int64)
	}
	f.now[firstKey{t.Queue, t.Sequence}] = at
}

// of returns when a message was first received; otherwise if that is not known.
func (f *firsts) of(t queue.Token, otherwise int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := firstKey{t.Queue, t.Sequence}
	if at, ok := f.now[k]; ok {
		return at
	}
	if at, ok := f.old[k]; ok {
		return at
	}
	return otherwise
}
