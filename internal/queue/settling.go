package queue

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// marking is the claims that a change marks as settling, and the events that end them.
type marking struct {
	s      *state
	marked []doomed
	events []settled

	// Room for the usual change: one settlement.
	one      [1]doomed
	oneEvent [1]settled
}

func newMarking(s *state, n int) *marking {
	m := &marking{s: s}
	m.marked, m.events = m.one[:0], m.oneEvent[:]
	if n > 1 {
		m.marked, m.events = make([]doomed, 0, n), make([]settled, n)
	}
	return m
}

func (m *marking) mark(q *queueState, e entry, kind SettleKind) {
	m.s.settling(q, e, true, kind == Back)
	m.marked = append(m.marked, doomed{q: q, e: e})
}

// undo takes all marks back.
func (m *marking) undo() {
	for _, d := range m.marked {
		m.s.unsettle(d.q, d.e)
	}
}

// unsettle takes back the mark of a claim whose end did not get to the journal.
func (s *state) unsettle(q *queueState, e entry) {
	if !e.there() || e.claim() == nil {
		return // purged meanwhile
	}
	s.settling(q, e, false, false)
	if c := e.claim(); c.owner != nil && c.owner.closed { // nobody else would ever end it
		c.deadline = max(1, s.now)
	}
	s.wakeAt(q, e)
	if g := e.group(); g != nil {
		s.freed(q, g)
	}
}

// settles plans settlements. For those that can be made it marks the claims as settling; undo takes that back. letters
// are the dead letters, by the index of their settlement, and open tells whether one can still go where it was made
// for. seen are those settled with Done, if somebody wants to observe them, and all others, if messages are traced.
func (p *plan) settles(all []Settlement, letters map[int]*deadLetter, open func(*deadLetter) bool,
	observe bool) (errs []error, seen []observed, undo func(), err error) {
	if len(all) == 0 {
		return nil, nil, nil, nil
	}
	errs = make([]error, len(all))
	m := newMarking(p.s, len(all))
	undo = m.undo
	for i, st := range all {
		q, e, err := p.s.claimOf(st.Token)
		if err != nil {
			errs[i] = err
			continue
		}
		ev := &m.events[i]
		ev.queue, ev.seq = q.id, e.seq()
		switch st.Kind {
		case Done:
			ev.end = endDone
		case Back:
			ev.end, ev.uncounted = endBack, st.Uncounted
			if st.Delay > 0 {
				ev.wake = p.now + st.Delay.Microseconds()
			}
			if st.Apart {
				break
			}
			// Its order would be lost otherwise; their hand-out did not count. There are not many: see shed.
			for _, later := range q.behind(e, 0, math.MaxInt) {
				m.mark(q, later, Back)
				p.draft.add(&settled{queue: q.id, seq: later.seq(), end: endBack, uncounted: true})
			}
		case Dead:
			ev.end = endDead
			d := letters[i]
			if d == nil || d.entry != e || !open(d) {
				return nil, nil, undo, errAgain
			}
			if err := p.putLetter(d); err != nil {
				return nil, nil, undo, err
			}
		default:
			return nil, nil, undo, fmt.Errorf("settlement of kind %d has no meaning", st.Kind)
		}
		if observe && st.Kind == Done || p.s.traced {
			o := observedOf(q, e)
			o.kind, o.at = st.Kind, i
			if seen == nil {
				seen = make([]observed, 0, len(all)-i)
			}
			seen = append(seen, o)
		}
		m.mark(q, e, st.Kind)
		p.draft.add(ev)
	}
	return errs, seen, undo, nil
}

// shedPiece is how many claims go back at once with others of their keys that are put back.
const shedPiece = 1000

// toShed are the ends of some claims that are to go back before a change with so many records is planned: see
// Store.shed. They are of one key, the last ones behind those that the change puts back; none: there is room.
func (s *state) toShed(c *Change, records int) []event {
	var first map[*keyGroup]heldMessage
	for i := range c.Settles {
		st := &c.Settles[i]
		if st.Kind != Back || st.Apart {
			continue
		}
		q, e, err := s.claimOf(st.Token)
		if err != nil || e.group() == nil {
			continue
		}
		if g := e.group(); first[g].e == none || e.seq() < first[g].e.seq() {
			if first == nil {
				first = map[*keyGroup]heldMessage{}
			}
			first[g] = heldMessage{q, e}
		}
	}
	left := min(shedPiece, max(0, records-c.records()))
	for g, x := range first {
		if left -= g.heldCount(); left >= 0 {
			continue
		}
		if events := x.toShed(c); len(events) > 0 {
			return events
		}
	}
	return nil
}

// toShed are the ends of the last claims behind a message of which a change has nothing to say.
func (x heldMessage) toShed(c *Change) (events []event) {
	named := make(map[uint64]bool, len(c.Settles))
	for i := range c.Settles {
		if t := &c.Settles[i].Token; t.Queue == x.q.id {
			named[t.Sequence] = true
		}
	}
	for _, later := range x.q.behind(x.e, 0, shedPiece+len(named)) {
		if !named[later.seq()] && len(events) < shedPiece {
			events = append(events, &settled{queue: x.q.id, seq: later.seq(), end: endBack, uncounted: true})
		}
	}
	return events
}

// takeBack undoes claims when the record of some could not be written.
func (s *state) takeBack(picks []picked) {
	for _, p := range picks {
		if _, e, err := s.claimOf(p.token); err == nil && e == p.e {
			s.back(p.q, p.e, 0, true)
		}
	}
}

// toReturn are the ends of claims of which nobody was told, as if they had not been made.
func (s *state) toReturn(picks []picked) (events []event) {
	for _, p := range slices.Backward(picks) {
		// else it ended meanwhile, and may be another's
		if _, e, err := s.claimOf(p.token); err == nil && e == p.e {
			events = append(events, &settled{queue: p.q.id, seq: p.e.seq(), end: endBack, uncounted: true})
		}
	}
	return events
}

// toPutBack are the ends of claims whose owner has ended.
func toPutBack(es []heldMessage) []event {
	events := make([]event, len(es))
	for i, x := range es {
		events[i] = &settled{queue: x.q.id, seq: x.e.seq(), end: endBack}
	}
	return events
}

// putBack ends claims whose owner has ended, where that cannot be written.
func (s *state) putBack(es []heldMessage) {
	for _, x := range es {
		if x.e.there() && x.e.claim() != nil { // else it was written that it goes back
			s.backAlone(x.q, x.e, 0, false)
		}
	}
}

// toExtend are the new ends of claims; errs tells of each why there is none. exactly: a queue promises that they are
// durable. seen are the claims that go on, if messages are traced.
func (s *state) toExtend(tokens []Token, lease time.Duration) (events []event, errs []error, seen []observed,
	exactly bool) {
	errs = make([]error, len(tokens))
	for i, t := range tokens {
		q, e, err := s.claimOf(t)
		if err != nil {
			errs[i] = err
			continue
		}
		exactly = exactly || q.def.ExactlyOnce
		events = append(events, &extended{queue: q.id, seq: e.seq(), deadline: s.now + lease.Microseconds()})
		if s.traced {
			seen = append(seen, observedOf(q, e))
		}
	}
	return events, errs, seen, exactly
}

// ends plans the ends of those of ds that are still there, and with each what follows from it. It tells how many.
func (p *plan) ends(ds []doomed, how ending, each func(p *plan, i int) error) (n int, err error) {
	for i, d := range ds {
		if !d.there() {
			continue
		}
		n++
		p.draft.add(&settled{queue: d.q.id, seq: d.e.seq(), end: how})
		if err := each(p, i); err != nil {
			return n, err
		}
	}
	return n, nil
}

// tokenOf is the token of the claim that holds a message. ok is false when nobody holds it, when its end is on the way,
// and when it is its owner's.
func (s *state) tokenOf(q *queueState, seq uint64) (t Token, ok bool) {
	e, there := q.all.Get(seq)
	if !there {
		return t, false
	}
	c := e.claim()
	if c == nil || c.settling || c.owned {
		return t, false
	}
	return Token{Queue: q.id, Sequence: seq, Serial: c.serial, Epoch: c.epoch}, true
}
