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
	return func(yield func(uint64) bool) { s.match(env, nil, func(id uint64, _ bool) bool { return yield(id) }) }
}

// Weigher is an Env that knows what a condition costs.
type Weigher interface {
	// Weigh tells how many steps a test counts, and whether it is too much to be made at all.
	Weigh(e condition.Effort) (steps int, tooMuch bool)
}

// Within is Matching that ends when it has made so many steps: it takes one off for each condition that it tests, and
// for each shape that it looks at beyond the first few, or as many as the env says, if it is a Weigher. When steps is
// negative then, there may be more ids. sure is false for an id whose condition was too much to be tested: the message
// may meet it or not.
func (s *Set) Within(env condition.Env, steps *int) iter.Seq2[uint64, bool] {
	return func(yield func(id uint64, sure bool) bool) { s.match(env, steps, yield) }
}

// fewShapes are looked at without being counted.
const fewShapes = 16

func (s *Set) match(env condition.Env, steps *int, yield func(id uint64, sure bool) bool) {
	if s.size == 0 {
		return
	}
	weigher, _ := env.(Weigher)
	if steps == nil {
		weigher = nil
	} else {
		each := 1
		if weigher != nil {
			each, _ = weigher.Weigh(condition.LookUp)
		}
		if *steps -= each * max(0, len(s.inUse)-fewShapes); *steps < 0 {
			return
		}
	}
	r := s.spare
	if s.spare = nil; r == nil { // the first walk, or one within another
		r = new(round)
	}
	s.round++
	r.env, r.weigher, r.number, r.some = env, weigher, s.round, false
	if r.bounded = steps != nil; r.bounded {
		r.left = *steps
	}
	for _, sh := range s.inUse {
		r.look(sh)
	}
	for id, sure, ok := r.next(); ok && yield(id, sure); id, sure, ok = r.next() {
	}
	if steps != nil {
		*steps = r.left
	}
	r.end()
	s.spare = r
}
