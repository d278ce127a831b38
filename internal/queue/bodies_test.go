package queue

import (
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// bodyParts are what the journal keeps of messages beside their heads, where a test has no journal.
type bodyParts map[journal.Address][]byte

// know does for messages what the Store does without the lock: it reads their bodies.
func (b bodyParts) know(xs []*looked) {
	for _, x := range xs {
		x.know(b[x.place], nil, nil)
	}
}

// ready is finderFor with everything built on the spot.
func (b bodyParts) ready(s *state, q *queueState, where *condition.Expr) finder {
	for {
		f, unbuilt := s.finderFor(q, where, 0)
		if len(unbuilt) == 0 {
			return f
		}
		for _, v := range unbuilt {
			ask := v.unasked()
			if ask == nil {
				s.build(q, v)
				continue
			}
			b.know(ask.xs)
			for _, x := range ask.xs {
				v.judge(x)
			}
			v.learn(s, ask.xs)
		}
	}
}

// choose is choose with everything built on the spot.
func (b bodyParts) choose(s *state, a *asker) (taken int) {
	for a.again = true; a.again; {
		for i := range a.from {
			a.from[i].find = b.ready(s, a.from[i].q, a.from[i].where)
		}
		a.again = false
		taken = s.choose(a)
	}
	return taken
}

// goOnServing does a piece of what serving left.
func (b bodyParts) goOnServing(s *state) {
	defer s.tellAll()
	if len(s.offerings) > 0 {
		s.beginPiece()
		s.offerPiece()
		s.endPiece()
		return
	}
	xs := s.asideUnread()
	b.know(xs)
	s.serveRead(xs)
}

// ready is that of bodyParts where no condition asks for a body.
func (s *state) ready(q *queueState, where *condition.Expr) finder {
	return bodyParts(nil).ready(s, q, where)
}
