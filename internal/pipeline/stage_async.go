package pipeline

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// handsAtOnce is how many messages are handed to an AsyncSink before answers are looked at again: enough to share the
// cost of a lock, few enough to keep no answer waiting.
const handsAtOnce = 64

// flight is a part in the hands of an AsyncSink.
type flight struct {
	stage  *stage
	part   *part // nil: it was answered, or given up
	msg    *message.Message
	root   *message.Message // as the source delivered it
	ticket uint64
	began  time.Time
	place  int // in the stage's flights
}

// reply is an answer of an AsyncSink.
type reply struct {
	part    *part
	ticket  uint64
	began   time.Time
	came    time.Time
	outcome component.Outcome
}

// kickAsync is kick for an AsyncSink: it sees to it that somebody hands over what may leave and deals with what was
// answered.
func (s *stage) kickAsync() {
	if s.moving {
		return // it looks again before it ends
	}
	now := time.Now()
	s.rouse(now)
	if len(s.replies) > 0 || s.mayHand(now) {
		s.moving = true
		s.p.goroutines.Go(s.move)
		return
	}
	s.arm(now)
}

// mayHand tells whether another part may be handed over now.
func (s *stage) mayHand(now time.Time) bool {
	return s.again.n+s.fresh.n > 0 && !s.ended && s.busy < s.limiter.limit() && !s.pacer.next().After(now)
}

// move is the life of the goroutine that works for an AsyncSink: one at a time, and none while there is nothing to do.
// That answers are dealt with here, and not by whoever brings them, lets those that come together share locks, and
// keeps the sink from being called by its own goroutines.
func (s *stage) move() {
	var replies []reply
	var hands []*flight
	s.mu.Lock()
	for {
		now := time.Now()
		s.rouse(now)
		replies, s.replies = s.replies, replies
		for i := range replies {
			s.busy--
			s.limiter.end(replies[i].ticket, replies[i].sample())
		}
		hands = s.take(now, hands)
		if len(replies) == 0 && len(hands) == 0 {
			s.moving = false
			s.arm(now)
			s.mu.Unlock()
			return
		}
		deadline := now.Add(s.node.Settings.Request.Timeout)
		if !s.stopBy.IsZero() && s.stopBy.Before(deadline) {
			deadline = s.stopBy
		}
		s.mu.Unlock()
		if len(hands) > 0 {
			s.node.request(len(hands))
		}
		for _, f := range hands {
			s.hand(f, deadline)
		}
		s.reckon(replies)
		clear(hands)
		clear(replies)
		hands, replies = hands[:0], replies[:0]
		s.mu.Lock()
	}
}

// take puts the next parts that may leave into flight.
func (s *stage) take(now time.Time, hands []*flight) []*flight {
	for len(hands) < handsAtOnce && s.mayHand(now) {
		from := &s.again
		if from.n == 0 {
			from = &s.fresh
		}
		q := from.pop()
		s.waiting -= q.size
		s.pacer.took(now)
		s.busy++
		f := &flight{stage: s, part: q, msg: q.msg, root: q.j.root, began: now, place: len(s.flights),
			ticket: s.limiter.begin(s.busy, 1)}
		s.flights = append(s.flights, f)
		hands = append(hands, f)
	}
	return hands
}

// hand gives a part to the sink, whatever that does.
func (s *stage) hand(f *flight, deadline time.Time) {
	if s.over.Load() {
		return // it is given back
	}
	var err error
	func() {
		defer s.p.recovered(s.node, "deliver", &err)
		for _, v := range s.node.overseers {
			if o, stops := v.Stops(f.root); stops {
				f.answer(o)
				return
			}
		}
		s.sink.Deliver(f.msg, deadline, f.answer)
	}()
	if err != nil {
		f.answer(component.Again(0, err))
	}
}

// answer takes the sink's answer. Only the first one counts.
func (f *flight) answer(o component.Outcome) {
	s, came := f.stage, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.part == nil {
		return
	}
	s.replies = append(s.replies, reply{f.part, f.ticket, f.began, came, o})
	last := len(s.flights) - 1
	s.flights[f.place] = s.flights[last]
	s.flights[f.place].place = f.place
	s.flights[last] = nil
	s.flights = s.flights[:last]
	f.part = nil
	s.kickAsync()
}

// sample is what an answer tells about the far end.
func (r *reply) sample() sample {
	told := sample{at: r.came, took: r.came.Sub(r.began), size: 1}
	if r.outcome.Verdict == component.Retry && !r.outcome.Held {
		told.failed, told.slow = 1, r.outcome.Slow
	}
	return told
}

// reckon does what follows from answers.
func (s *stage) reckon(replies []reply) {
	if len(replies) == 0 {
		return
	}
	gone, bytes := 0, 0
	now := s.p.options.Clock()
	for i := range replies {
		r := &replies[i]
		if r.outcome.Verdict == component.Retry && component.IsStop(r.outcome.Reason) {
			s.p.halt(s.node, r.outcome.Reason)
			r.part.lose(s.node)
			gone, bytes = gone+1, bytes+r.part.size
			continue
		}
		way := s.p.sending(r.part)
		s.p.tell(s.node, r.part, &r.outcome, r.began, r.came, &way)
		if !s.p.answered(s.node, r.part, r.outcome, now) {
			gone, bytes = gone+1, bytes+r.part.size
			continue
		}
		s.node.retries.Add(1)
	}
	s.leave(gone, bytes)
}

// abandon gives up what the sink has not answered, at the end of the stage. Later answers change nothing. The lock is
// held.
func (s *stage) abandon() []*part {
	parts := make([]*part, 0, len(s.flights))
	for _, f := range s.flights {
		parts = append(parts, f.part)
		f.part = nil
	}
	s.busy -= len(s.flights)
	clear(s.flights)
	s.flights = s.flights[:0]
	return parts
}
