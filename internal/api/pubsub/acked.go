package pubsub

import (
	"errors"
	"sync"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// acked remembers the last claims that were acknowledged or put back where delivery is exactly once, so that doing the
// same again is confirmed as it was the first time: the client may not have seen the answer. The zero value is ready to
// use.
type acked struct {
	mu   sync.Mutex
	is   map[settled]struct{}
	ring []settled // in the order in which they came; next is the oldest when it is full
	next int
}

// settled is a claim and how it ended.
type settled struct {
	token queue.Token
	back  bool
}

// maxAcked is how many are remembered.
const maxAcked = 1 << 16

// judge remembers those of ids that were settled now, and takes back the errors of those that were before.
func (a *acked) judge(ids []ackID, back bool, errs []error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range ids {
		t := settled{ids[i].token, back}
		_, before := a.is[t]
		switch {
		case errs[i] == nil && !before:
			a.add(t)
		case before && errors.Is(errs[i], queue.ErrStale):
			errs[i] = nil
		}
	}
}

func (a *acked) add(t settled) {
	if a.is == nil {
		a.is = map[settled]struct{}{}
	}
	a.is[t] = struct{}{}
	if len(a.ring) < maxAcked {
		a.ring = append(a.ring, t)
		return
	}
	delete(a.is, a.ring[a.next])
	a.ring[a.next] = t
	a.next = (a.next + 1) % maxAcked
}
