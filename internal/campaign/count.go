package campaign

import (
	"slices"
	"sync"
	"time"
)

// Outcome is what became of a message.
type Outcome uint8

// The outcomes.
const (
	Sent Outcome = iota
	Refused
	Dropped
	Withdrawn // settled without being sent, as its campaign is cancelled
	Capped    // settled without being sent, as its user has had as many as are allowed
)

var outcomeNames = [...]string{Sent: "sent", Refused: "refused", Dropped: "dropped", Withdrawn: "cancelled",
	Capped: "capped"}

// otherReasons is the one that reasons share which are too many.
const otherReasons = "(others)"

// tally counts what became of a campaign's messages.
type tally struct {
	mu     sync.Mutex
	counts counts
	dirty  bool
}

// Count counts a message of a campaign that is known. reason, which may be cut, is a word that many messages share.
func (r *Registry) Count(id string, o Outcome, reason string) {
	if r == nil {
		return
	}
	if c := (*r.counted.Load())[id]; c != nil {
		c.tally.add(o, reason, r.clock())
	}
}

func (t *tally) add(o Outcome, reason string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := &t.counts
	t.dirty = true
	n.Last = now
	if n.First.IsZero() {
		n.First = now
	}
	switch o {
	case Sent:
		n.Sent++
		return
	case Refused:
		n.Refused++
	case Dropped:
		n.Dropped++
	case Withdrawn:
		n.Cancelled++
		return
	case Capped:
		n.Capped++
		return
	}
	n.because(outcomeNames[o], cut(reason, mostReason))
}

// because counts a reason.
func (n *counts) because(outcome, reason string) {
	for try := 0; ; try++ {
		i := slices.IndexFunc(n.Reasons, func(one Reason) bool {
			return one.Outcome == outcome &&
				one.Reason == reason
		})
		switch {
		case i >= 0:
			n.Reasons[i].Count++
			return
		case len(n.Reasons) < mostReasons || try > 0:
			n.Reasons = append(n.Reasons, Reason{outcome, reason, 1})
			return
		}
		reason = otherReasons
	}
}

func (t *tally) read() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.counts
	n.Reasons = slices.Clone(n.Reasons)
	return n
}

// take is read for those that keep it; changed is false when nothing is new.
func (t *tally) take() (n counts, changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed, t.dirty = t.dirty, false
	n = t.counts
	n.Reasons = slices.Clone(n.Reasons)
	return n, changed
}

// untake says that what was taken could not be kept.
func (t *tally) untake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dirty = true
}

func (n *counts) settled() uint64 { return n.Sent + n.Refused + n.Dropped + n.Cancelled + n.Capped }
