package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

// stage is the room of one node: what waits there, what sleeps until its retry, and how many groups are worked on.
//
// Its goroutines live as long as there is work: one that has worked on a group takes the next one, or ends.
type stage struct {
	p    *Pipeline
	node *node
	work func(g *group) sample // is done with every part of the group when it returns

	turns              *turns        // of its groups; nil: they need not keep an order
	maxCount, maxBytes int           // of a group
	delay              time.Duration // what a group that is not full waits for company; 0: nothing
	roomN, roomB       int           // what the stage holds at most, sleepers and groups under way included

	mu        sync.Mutex
	limiter   limiter
	pacer     pacer
	halves    line[[]*part] // groups that leave as they are
	again     line[*part]   // parts that have slept
	fresh     line[*part]
	waiting   int // bytes in again and fresh
	sleepers  sleepers
	held      int
	heldBytes int
	left      uint64 // parts that have left, whatever became of them
	blocked   line[*arrival]
	busy      int
	flushing  bool      // nothing more comes from the sources: groups do not wait
	ended     bool      // parts are given back
	stopBy    time.Time // zero: there was no stop
	sleepBy   time.Time // the same
	timer     *time.Timer

	// Of a component.AsyncSink, which takes parts one by one instead of groups (stage_async.go).
	sink    component.AsyncSink
	moving  bool        // a goroutine hands parts over and deals with answers
	flights []*flight   // parts handed over and not answered
	replies []reply     // answers that nobody has dealt with
	over    atomic.Bool // as ended, for those without the lock
}

// group is what is worked on at once.
type group struct {
	parts  []*part
	ticket uint64
	turn   *turn // nil: it need not wait for those before it
}

// arrival is a part that waits for room.
type arrival struct {
	part     *part
	admitted chan struct{}
}

// kick lets as many groups leave as may. It is called with the lock after every change.
func (s *stage) kick() {
	if s.sink != nil {
		s.kickAsync()
		return
	}
	now := time.Now()
	s.rouse(now)
	for s.busy < s.limiter.limit() {
		g := s.next(now)
		if g == nil {
			break
		}
		s.p.goroutines.Go(func() { s.serve(g) })
	}
	s.arm(now)
}

// came lets groups leave now that a part has come. While all slots are taken it changes nothing: who frees one looks
// again.
func (s *stage) came() {
	if s.moving || s.sink == nil && s.busy >= s.limiter.limit() {
		return
	}
	s.kick()
}

// serve works on groups until there is none to take.
func (s *stage) serve(g *group) {
	for g != nil {
		told := s.work(g)
		s.mu.Lock()
		s.limiter.end(g.ticket, told)
		s.busy--
		g = nil
		now := time.Now()
		s.rouse(now)
		if s.busy < s.limiter.limit() {
			g = s.next(now)
		}
		s.kick()
		s.mu.Unlock()
	}
}

// rouse lets parts that are due wait for a slot.
func (s *stage) rouse(now time.Time) {
	for q := s.sleepers.wake(now); q != nil; q = s.sleepers.wake(now) {
		s.again.push(q)
		s.waiting += q.size
	}
}

// next takes a group out, if one may leave now, and counts it as busy.
func (s *stage) next(now time.Time) *group {
	if s.ended {
		return nil
	}
	if at := s.pacer.next(); at.After(now) {
		return nil
	}
	g := &group{}
	switch {
	case s.halves.n > 0:
		g.parts = s.halves.pop()
	case s.due(now):
		g.parts = s.gather()
	default:
		return nil
	}
	s.pacer.took(now)
	s.busy++
	g.turn = s.turns.next()
	g.ticket = s.limiter.begin(s.busy, len(g.parts))
	return g
}

// due tells whether what waits may leave.
func (s *stage) due(now time.Time) bool {
	n := s.again.n + s.fresh.n
	switch {
	case n == 0:
		return false
	case s.delay == 0, s.flushing, n >= s.maxCount, s.waiting >= s.maxBytes, s.again.n > 0:
		return true
	// company can not come: there is no room for it
	case s.busy == 0 && (s.blocked.n > 0 || s.p.budget.crowded.Load() > 0):
		return true
	}
	return !s.fresh.front().entered.Add(s.delay).After(now)
}

// gather takes a group from what waits, those that have slept first.
func (s *stage) gather() []*part {
	parts := make([]*part, 0, min(s.maxCount, s.again.n+s.fresh.n))
	size := 0
	for _, from := range []*line[*part]{&s.again, &s.fresh} {
		for from.n > 0 && len(parts) < s.maxCount {
			q := from.front()
			if len(parts) > 0 && size+q.size > s.maxBytes {
				break
			}
			size += q.size
			parts = append(parts, from.pop())
		}
	}
	s.waiting -= size
	return parts
}

// arm sets the timer for the next thing that only time brings: the end of a sleep, of a delay, or of a pause between
// requests.
func (s *stage) arm(now time.Time) {
	at := s.sleepers.next()
	if s.busy < s.limiter.limit() && s.halves.n+s.again.n+s.fresh.n > 0 {
		leaves := s.pacer.next()
		if s.halves.n == 0 && !s.due(now) {
			if end := s.fresh.front().entered.Add(s.delay); end.After(leaves) {
				leaves = end
			}
		}
		if leaves.After(now) && (at.IsZero() || leaves.Before(at)) {
			at = leaves
		}
	}
	switch {
	case at.IsZero() || s.ended:
		if s.timer != nil {
			s.timer.Stop()
		}
	case s.timer == nil:
		s.timer = time.AfterFunc(at.Sub(now), s.tick)
	default:
		s.timer.Reset(at.Sub(now))
	}
}

func (s *stage) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kick()
}
