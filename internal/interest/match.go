package interest

import (
	"iter"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// Matching walks the ids of those who wait for a condition that the message meets whose values env gives: in rising
// order, each once. It asks env for each name at most once, and only while it walks. Ids are found as they are asked
// for.
//
// The set must not change while a walk goes on: a body that changes it has to leave the loop.
func (s *Set) Matching(env condition.Env) iter.Seq[uint64] {
	return func(yield func(uint64) bool) { s.match(env, nil, yield) }
}

// Within is Matching that ends when it has made so many steps: it takes one off for each condition that it tests, and
// for each shape that it looks at beyond the first few. When steps is negative then, there may be more ids.
func (s *Set) Within(env condition.Env, steps *int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) { s.match(env, steps, yield) }
}

// fewShapes are looked at without being counted.
const fewShapes = 16

func (s *Set) match(env condition.Env, steps *int, yield func(uint64) bool) {
	if s.size == 0 {
		return
	}
	if steps != nil {
		if *steps -= max(0, len(s.inUse)-fewShapes); *steps < 0 {
			return
		}
	}
	r := s.spare
	if s.spare = nil; r == nil { // the first walk, or one within another
		r = new(round)
	}
	s.round++
	r.env, r.number, r.some = env, s.round, false
	if r.bounded = steps != nil; r.bounded {
		r.left = *steps
	}
	for _, sh := range s.inUse {
		r.look(sh)
	}
	for id, ok := r.next(); ok && yield(id); id, ok = r.next() {
	}
	if steps != nil {
		*steps = r.left
	}
	r.end()
	s.spare = r
}
