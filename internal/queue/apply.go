package queue

import (
	"bytes"
	"fmt"
	"math"

	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// applied is one event with its place in the journal.
type applied struct {
	at    int64 // journaled time
	event event
	addr  journal.Address
}

// applyMost folds a durable group into the state, but for what it leaves to be done in pieces (see postpone). durable
// is the wall clock in microseconds at which the group became durable; 0 when not known.
func (s *state) applyMost(group []applied, durable int64) error {
	var bodies map[uint32]*sharedBody
	s.asked = 0
	for i := range group {
		g := &group[i]
		s.now = max(s.now, g.at)
		switch e := g.event.(type) {
		case *started:
			s.epoch = e.epoch
		case *queueDefined:
			s.applyDefined(e, g.at)
		case *queueGone:
			s.applyGone(e)
		case *topicDefined:
			s.applyTopic(e)
		case *topicGone:
			s.applyTopicGone(e)
		case *put:
			if q := s.queues[e.queue]; q != nil {
				s.insert(q, e.seq, &arrival{row: rowOf(g, e.size, durable), head: e.head, expire: e.expire}, e.wake,
					e.dedup, &e.origin)
			} else {
				s.release(g.addr)
			}
		case *shared:
			if bodies == nil {
				bodies = map[uint32]*sharedBody{}
			}
			bodies[g.addr.Index] = &sharedBody{addr: g.addr, head: bytes.Clone(e.head)}
			if t := s.topics[e.topic]; t != nil {
				t.touch(&s.saves)
				t.publishes = max(t.publishes, e.number)
				t.published++
			}
		case *share:
			body := bodies[e.index]
			if body == nil {
				return fmt.Errorf("%w: record %d of group %d shares record %d, which is no shared body", errTruncated,
					g.addr.Index, g.addr.Position, e.index)
			}
			if q := s.queues[e.queue]; q != nil {
				body.refs++
				a := &arrival{row: rowOf(g, e.size, durable), head: body.head, shared: body, expire: e.expire}
				s.insert(q, e.seq, a, e.wake, e.dedup, &e.origin)
			} else {
				s.release(g.addr)
			}
		case *claimed:
			if q, en := s.find(e.queue, e.seq); en != none {
				s.claim(q, en, e, holder{})
			}
		case *extended:
			if q, en := s.find(e.queue, e.seq); en != none && en.claim() != nil {
				en.page.touch()
				en.claim().deadline = e.deadline
				s.wakeAt(q, en)
			}
		case *settled:
			s.applySettled(e, g.at)
		case *purged:
			if q := s.queues[e.queue]; q != nil {
				e.removed = s.applyPurged(q, e.frontier)
			}
		case *removed:
			s.applyRemoved(e)
		case *renamed:
			s.applyRenamed(e)
		case *reshaped:
			if err := s.applyReshaped(e, g.at); err != nil {
				return fmt.Errorf("record %d of group %d: %w", g.addr.Index, g.addr.Position, err)
			}
		case *paged:
			s.applyPaged(e, g.addr)
		case *sought:
			s.applySought(e, g.at)
		case *snapshotTaken:
			s.applySnapshot(e, g.at)
		case *snapshotGone:
			s.applySnapshotGone(e)
		case *noted:
			s.applyNoted(e)
		default:
			return fmt.Errorf("event of kind %d has no meaning", e.kind())
		}
	}
	for _, b := range bodies {
		if b.refs == 0 { // every subscription is gone by now
			s.release(b.addr)
		}
	}
	return nil
}

func (s *state) find(queue uint32, seq uint64) (*queueState, entry) {
	q := s.queues[queue]
	if q == nil {
		return nil, none
	}
	e, _ := q.all.Get(seq)
	return q, e
}

func (s *state) release(a journal.Address) { s.released = append(s.released, a) }

// rowOf is what a page keeps of a message whose record is g. durable is as for apply.
func rowOf(g *applied, size uint32, durable int64) row {
	r := row{position: g.addr.Position, index: g.addr.Index, at: g.at, size: size}
	if durable > g.at {
		r.durable = uint32(min(durable-g.at, 1<<32-1))
	}
	return r
}

// insert adds a message that has become durable.
func (s *state) insert(q *queueState, seq uint64, a *arrival, wake, dedup int64, origin *message.Origin) {
	q.touch()
	q.next, q.seen = max(q.next, seq+1), max(q.seen, seq+1)
	q.put++
	h := readHead(&reader{b: a.head})
	if dedup != 0 {
		s.remember(q, &remembered{dedup: string(h.dedup), seq: seq, id: h.id, until: dedup})
	}
	if origin.Source != "" {
		s.tookFrom(q, origin)
	}
	e := q.all.Add(seq, a)
	q.bytes += e.size()
	s.messages++
	s.bytes += e.size()
	s.keep(e)
	if len(h.key) > 0 && !q.def.Unordered {
		q.join(e, string(h.key))
	}
	if wake != 0 && (wake > s.now || s.folding) {
		e.setWake(wake, false)
		q.delayed++
	}
	s.wakeAt(q, e)
	s.changed(q, e)
}

// remove takes a message out of the state: for good, releasing what the journal keeps of it, or into the past where a
// seek can bring it back.
func (s *state) remove(q *queueState, e entry, past bool) {
	switch x := e.extra(); {
	case x.claim == nil:
		s.hide(q, e)
	case x.group == nil: // what it has beyond the usual goes with it
		q.disown(e, x.claim)
	default:
		s.unclaim(q, e)
	}
	x := *e.extra()
	q.bytes -= e.size()
	if past {
		q.pastBytes += e.size()
		e.retire()
		s.expireAt(q, e.page, q.pastUntil(e))
	} else {
		s.drop(q, e)
	}
	if x.wake != 0 {
		q.delayed--
	}
	if x.alarm != 0 {
		s.alarms.outdate()
	}
	if x.group != nil {
		q.leave(x.group, e)
		s.regroup(q, x.group)
		s.freed(q, x.group)
	}
}

// keep counts what a new message takes in memory.
func (s *state) keep(e entry) {
	s.resident += e.resident()
	if b := e.shared(); b != nil && b.refs == 1 {
		s.resident += int64(len(b.head))
	}
}

// drop forgets a message, or one of the past, and releases what the journal keeps of it.
func (s *state) drop(q *queueState, e entry) {
	q.touch()
	s.messages--
	r := e.row()
	s.bytes -= int64(r.size)
	s.resident -= e.resident()
	s.release(r.addr())
	if shared := e.shared(); shared != nil {
		if shared.refs--; shared.refs == 0 {
			s.resident -= int64(len(shared.head))
			s.release(shared.addr)
		}
	}
	q.all.Delete(e)
	s.pageGone(e.page)
}

// pageGone forgets the alarm of a page whose last message has gone.
func (s *state) pageGone(p *page) {
	if kept := p.kept(); kept.empty() && p.alarm != 0 {
		p.alarm = 0
		s.alarms.outdate()
	}
}

// holder is who a message is handed to: nobody known, in a fold.
type holder struct {
	owner    *owner
	claimant uint64
	at       int64 // wall clock, ns
	apart    bool
}

// claim hands e out.
func (s *state) claim(q *queueState, e entry, c *claimed, h holder) {
	q.touch()
	if e.claim() != nil { // the lease of an earlier hand-out had ended
		s.unclaim(q, e)
	}
	if e.wake() != 0 {
		q.delayed--
		e.setWake(0, false)
	}
	s.hide(q, e)
	e.setAttempts(c.attempt)
	e.setClaim(claimState{epoch: c.epoch, serial: c.serial, deadline: c.deadline, owned: c.owned, owner: h.owner,
		claimant: h.claimant, at: h.at, apart: h.apart})
	q.claimed++
	q.claims++
	if h.owner != nil {
		h.owner.hold(q, e)
	}
	s.wakeAt(q, e)
	if g := e.group(); g != nil {
		s.regroup(q, g)
	}
}

// unclaim forgets e's claim and nothing else.
func (s *state) unclaim(q *queueState, e entry) {
	q.disown(e, e.claim())
	e.dropClaim()
}

// disown is unclaim where the message goes at once.
func (q *queueState) disown(e entry, c *claimState) {
	if c.owner != nil && !c.settling {
		c.owner.drop(q, e)
	}
	q.claimed--
}

// applySettled ends a claim or a message. What becomes past is decided by the record's own time, which a fold sees as
// well.
func (s *state) applySettled(e *settled, at int64) {
	q, en := s.find(e.queue, e.seq)
	if en == none {
		return
	}
	q.touch()
	switch e.end {
	case endBack:
		s.backAlone(q, en, e.wake, e.uncounted) // those behind it have events of their own
		return
	case endDone:
		q.done++
		s.settlePast(q, en, at)
	case endDead:
		q.dead++
		s.settlePast(q, en, at)
	case endExpired:
		q.expired++
		s.remove(q, en, false)
	default:
		s.remove(q, en, false)
	}
}

// back makes a claimed message claimable again, and with it those of its key that were handed out after it.
func (s *state) back(q *queueState, e entry, wake int64, uncounted bool) {
	for _, b := range q.behind(e, 0, math.MaxInt) {
		if !b.claim().stays(e.claim(), s.now) {
			s.backAlone(q, b, 0, true)
		}
	}
	s.backAlone(q, e, wake, uncounted)
}

// backAlone is back without those behind it: a fold cannot tell which of them were claimed at that moment.
func (s *state) backAlone(q *queueState, e entry, wake int64, uncounted bool) {
	if e.claim() != nil {
		s.unclaim(q, e)
	}
	if n := e.attempts(); uncounted && n > 0 {
		e.setAttempts(n - 1)
	}
	if e.wake() == 0 && wake > s.now {
		q.delayed++
		e.setWake(wake, true)
	}
	if !s.folding && !uncounted && q.spent(e) {
		s.doom(q, e, &s.exhausted)
		return
	}
	s.wakeAt(q, e)
	if g := e.group(); g != nil {
		s.regroup(q, g)
	}
	s.changed(q, e)
}

// applyPurged removes every message before a frontier, and with them the past but for what snapshots hold. A page of
// plain messages that no view shows goes as a whole.
func (s *state) applyPurged(q *queueState, frontier uint64) (removed int) {
	q.touch()
	for p := range q.all.pagesFrom(pageOf(q.purgedTo)) {
		if p.number > pageOf(frontier) {
			break
		}
		if p.number < pageOf(frontier) && p.plain() && q.snapshots == nil && q.views == nil {
			removed += s.removePage(q, p)
			continue
		}
		kept := p.kept()
		for slot := kept.next(0); slot < pageSize; slot = kept.next(slot + 1) {
			switch e := (entry{p, uint8(slot)}); {
			case e.seq() >= frontier:
			case e.there():
				s.remove(q, e, q.held(e.seq()))
				removed++
			case !q.held(e.seq()):
				s.dropPast(q, e)
			}
		}
	}
	q.purgedTo = max(q.purgedTo, frontier)
	q.purged += uint64(removed)
	q.prune()
	return removed
}

// plain tells whether all messages of the page wait, with a body of their own, for whoever comes.
func (p *page) plain() bool { return p.shared == nil && len(p.extras) == 0 }

// removePage is remove for all messages of a plain page.
func (s *state) removePage(q *queueState, p *page) (removed int) {
	kept := p.kept()
	for slot := kept.next(0); slot < pageSize; slot = kept.next(slot + 1) {
		e := entry{p, uint8(slot)}
		if e.there() {
			q.bytes -= e.size()
			removed++
		} else {
			q.pastBytes -= e.size()
		}
		s.bytes -= e.size()
		s.resident -= e.resident()
		s.release(e.addr())
	}
	s.messages -= int64(kept.count())
	q.ready.deletePage(p.number)
	q.all.DeletePage(p)
	s.pageGone(p)
	return removed
}

func (s *state) applyDefined(e *queueDefined, at int64) {
	s.nextID = max(s.nextID, e.queue+1)
	if q := s.queues[e.queue]; q != nil {
		q.touch()
		s.follow(q)
		others := !sameColumns(q.def.Columns, e.def.Columns)
		s.redefinePast(q, e, at)
		q.def = e.def
		s.redefined(q)
		q.views = nil
		s.newColumns(q)
		if others {
			q.layouts = nil // it is empty
			q.weigh()
			s.askAgain(q)
		}
		return
	}
	q := s.newQueueState(e.queue, e.name, e.def)
	s.queues[e.queue] = q
	s.queuesByID.Set(e.queue, q)
	s.takeName(q)
	s.subscribe(q)
}

func (s *state) applyGone(e *queueGone) {
	q := s.queues[e.queue]
	if q == nil {
		return
	}
	q.touch()
	q.gone = true
	delete(s.fresh, q)
	delete(s.unserved, q)
	s.dismiss(q)
	s.dissolve(q)
	s.rememberBytes(q, -q.rememberedBytes)
	s.resident -= q.weight
	q.weight, q.counts = 0, nil
	for _, n := range q.former {
		delete(s.former, n)
	}
	q.dedup, q.forget, q.former = nil, nil, nil // an alarm may keep the queue for a while
	q.origins = btree.Map[string, *originState]{}
	s.reopen(q)
	delete(s.queues, q.id)
	s.queuesByID.Delete(q.id)
	if s.queueNames[q.name] == q {
		delete(s.queueNames, q.name)
		s.queueList.Delete(q.name)
	}
	s.burying(q, "")
	s.unsubscribe(q)
}

func (s *state) applyTopic(e *topicDefined) {
	s.nextID = max(s.nextID, e.topic+1)
	if t := s.topics[e.topic]; t != nil {
		t.touch(&s.saves)
		t.labels = e.labels
		s.weighTopic(t)
		return
	}
	t := &topicState{id: e.topic, name: e.name, labels: e.labels, saved: s.saves.number}
	s.weighTopic(t)
	s.topics[e.topic] = t
	s.topicNames[e.name] = t
	s.topicList.Set(e.name)
	s.topicsByID.Set(e.topic, t)
}

// applyTopicGone removes a topic. Its subscriptions stay, as queues of their own that nothing new reaches.
func (s *state) applyTopicGone(e *topicGone) {
	t := s.topics[e.topic]
	if t == nil {
		return
	}
	t.touch(&s.saves)
	s.resident -= t.weight
	s.leaveAll(t)
	delete(s.topics, e.topic)
	s.topicsByID.Delete(e.topic)
	if s.topicNames[t.name] == t {
		delete(s.topicNames, t.name)
		s.topicList.Delete(t.name)
	}
}
