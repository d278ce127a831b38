package soak

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestASettlementThatIsLostIsToldFromOneThatHappened is about the choice after a power cut on a full disk: a claim on
// its last attempt that was put back is out of every reader's sight, and so is one that was not. Its lease tells them
// apart.
func TestASettlementThatIsLostIsToldFromOneThatHappened(t *testing.T) {
	now := time.Unix(1000, 0)
	m := &refMessage{seq: 1, attempts: 1, claimed: true, deadline: now.Add(5 * time.Second).UnixMicro()}
	claimed := &refQueue{def: queue.Definition{MaxAttempts: 1}, messages: []*refMessage{m}}
	r := &reference{now: now.UnixMicro(), queues: []*refQueue{claimed}}
	settled := r.clone()
	settled.back(settled.queues[0], settled.queues[0].messages[0], 0, false)

	shown := func(until time.Time) *seenQueue {
		p := queue.Peeked{Sequence: 1, State: queue.Claimed, Attempts: 1, Until: until}
		p.Message.Attributes.Set("n", message.Int(0))
		p.Message.Attributes.Set("s", message.String(""))
		return &seenQueue{messages: []queue.Peeked{p}}
	}
	for _, c := range []struct {
		name  string
		state *reference
		shown *seenQueue
		same  bool
	}{
		{"the claim, and a store that holds it", r, shown(timeOf(m.deadline)), true},
		{"the claim, and a store that put it back", r, shown(time.Time{}), false},
		{"what was put back, and a store that holds the claim", settled, shown(timeOf(m.deadline)), false},
		{"what was put back, and a store that did so", settled, shown(time.Time{}), true},
	} {
		q := c.state.queues[0]
		if err := c.shown.same(q, 0, q.messages[0], c.state.now, false); (err == nil) != c.same {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
