package queue

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// claimOf finds the claim of a token.
func (s *state) claimOf(t Token) (*queueState, entry, error) {
	q, e := s.find(t.Queue, t.Sequence)
	if e == none {
		return nil, none, ErrStale
	}
	c := e.claim()
	if c == nil || c.settling || c.epoch != t.Epoch || c.serial != t.Serial || s.ended(c) {
		return nil, none, ErrStale
	}
	return q, e, nil
}

// settling marks a claim whose end is on the way to the journal, or is not any more.
func (s *state) settling(q *queueState, e entry, on, back bool) {
	c, g := e.claim(), e.group()
	if g != nil && c.back != back {
		g.displace(e)
		c.back = back
		g.place(e)
		s.regroup(q, g)
	}
	if o := c.owner; o != nil && on && !c.settling {
		o.drop(q, e) // it has nothing to put back of it when it is closed
	} else if o != nil && !on && c.settling {
		o.hold(q, e)
	}
	c.settling, c.back = on, back
}

// hops are what is known of a message's way so far.
func (e entry) hops() (h message.Hops) {
	h[message.Accepted] = e.at() * 1000
	if d := e.durable(); d != 0 {
		h[message.Durable] = (e.at() + int64(d)) * 1000
	}
	if c := e.claim(); c != nil {
		h[message.Claimed] = c.at
	}
	return h
}

// picked is a message that was claimed in the state; its body is still to be read.
type picked struct {
	from     int
	q        *queueState
	name     Name // of q, when it was claimed
	e        entry
	token    Token
	attempt  uint32
	deadline int64
	until    time.Time // the deadline as the reader is told
	head     []byte
	place    journal.Address
	size     int64
	layout   *layout
	columns  message.Columns
	hops     message.Hops

	owned, exactlyOnce bool
}

// event is what is written down of it.
func (p *picked) event() claimed {
	t := &p.token
	return claimed{queue: t.Queue, seq: t.Sequence, attempt: p.attempt, epoch: t.Epoch, serial: t.Serial,
		deadline: p.deadline, owned: p.owned}
}

// take claims e for the asker.
func (s *state) take(a *asker, from int, q *queueState, e entry) {
	a.bytes += int(e.size())
	deadline := int64(0)
	switch {
	case a.lease > 0:
		deadline = s.now + a.lease.Microseconds()
	case a.owner == nil:
		deadline = s.now + q.def.ClaimLease().Microseconds()
	}
	s.serial++
	a.picks = append(a.picks, picked{
		from: from, q: q, name: q.name, e: e, attempt: e.attempts() + 1, deadline: deadline, head: e.head(),
		place: e.place(), size: e.size(),
		until:  s.time.shown(deadline, s.now),
		layout: q.layoutOf(e.seq()), columns: q.def.Columns,
		token: Token{Queue: q.id, Sequence: e.seq(), Serial: s.serial, Epoch: s.epoch},
		owned: a.owner != nil, exactlyOnce: q.def.ExactlyOnce,
	})
	p := &a.picks[len(a.picks)-1]
	ev := p.event()
	s.claim(q, e, &ev, holder{owner: a.owner, claimant: a.claimant, at: s.clock, apart: a.apart})
	p.hops = e.hops()
}
