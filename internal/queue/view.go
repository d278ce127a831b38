package queue

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/index"
)

// view is something kept over the ready messages of a queue so that claims need not look at all of them: an index, or
// the messages that match one condition.
type view interface {
	show(env *entryEnv, e entry) // e has become ready
	hide(env *entryEnv, e entry) // e is ready no more
	progress() *building
	advance(s *state, q *queueState, piece int) // looks at so many more messages, at most
	describe() ViewStats
	unasked() *questions          // the messages whose bodies it has to know
	judge(x *looked)              // finds out, from the body and without the lock, what it has to know of a message
	learn(s *state, xs []*looked) // what judge found out, under the lock
}

// building is how far a view has come, which is made at the first use, a piece at a time: it holds the ready messages
// up to a sequence, and all of them once done.
type building struct {
	upto uint64
	done bool
}

// covers tells whether the view has to be told of a message of that sequence.
func (b *building) covers(seq uint64) bool { return b.done || seq <= b.upto }

// buildPiece is how many messages are looked at while the lock is held.
const buildPiece = walkPiece

// build lets a view go on by a piece.
func (s *state) build(q *queueState, v view) { v.advance(s, q, buildPiece) }

// effort counts what a view costs and what it is good for.
type effort struct {
	examined uint64 // messages looked at one by one
	uses     uint64
	last     int64 // when it was used last, µs
}

func (e *effort) used(now int64) {
	e.uses++
	e.last = now
}

// Bounds of the views of a queue; what was not used for longest goes. A claim that names more conditions at once has
// them all, up to maxTogether of a kind.
const (
	maxMatchers = 16
	maxIndexes  = 8
	maxTogether = 64
)

// together is how many views of each kind the claim at hand needs at once.
type together struct{ indexes, matchers int }

// togetherFor counts what these wishes need of their queue.
func togetherFor(ws []wanted) (t together) {
	shapes, texts := map[string]bool{}, map[string]bool{}
	for _, w := range ws {
		if w.where == nil {
			continue
		}
		q, plan := w.q, w.where.Plan()
		whole := servable(plan, q)
		if !whole && !plan.Never() {
			texts[w.where.String()] = true
		}
		if whole || narrows(plan, q) {
			for i := range plan.Branches {
				shapes[shapeOf(&plan.Branches[i])] = true
			}
		}
	}
	return together{len(shapes), len(texts)}
}

// finder finds the oldest ready message of those that a reader wants.
type finder interface {
	oldest(s *state, q *queueState) entry
	more() bool // there may be others than oldest finds: look again, with what has to be built first
}

type everything struct{}

func (everything) more() bool                           { return false }
func (everything) oldest(_ *state, q *queueState) entry { return q.oldestOf(&q.ready) }

type nothing struct{}

func (nothing) more() bool                       { return false }
func (nothing) oldest(*state, *queueState) entry { return none }

// oldestOf is the oldest message of a set.
func (q *queueState) oldestOf(set *sequences) entry {
	seq, ok := set.Min()
	if !ok {
		return none
	}
	e, _ := q.all.Get(seq)
	return e
}

// finderFor returns how to find the ready messages that match where (nil: every one), and the views that have to be
// built first.
//
// Of those that match it knows want before anything is taken, if there are so many.
func (s *state) finderFor(q *queueState, where *condition.Expr, want int) (f finder, unbuilt []view) {
	if where == nil {
		return everything{}, nil
	}
	plan := where.Plan()
	switch {
	case plan.Never():
		return nothing{}, nil
	case servable(plan, q):
		p := &planned{where: where, plan: plan, branches: make([]bounded, len(plan.Branches)), left: walkPiece}
		if unbuilt = q.narrow(p.branches, plan); !p.walked(q) {
			return p, unbuilt
		}
	}
	m := q.matcherFor(where, plan)
	m.ahead, m.asked, m.left = max(m.ahead, m.asked, min(want, walkPiece)), 0, walkPiece
	if !m.gathered || m.branches != nil && !m.built.done { // else it needs no index any more
		if unbuilt = q.narrow(m.branches, plan); len(unbuilt) > 0 {
			return m, unbuilt
		}
	}
	if !m.answers() {
		unbuilt = []view{m}
	}
	return m, unbuilt
}

// narrow finds the indexes that serve the branches of a plan, and their bounds, and returns those that have to be built
// first.
func (q *queueState) narrow(branches []bounded, plan condition.Plan) (unbuilt []view) {
	for i := range branches {
		x := q.indexFor(&plan.Branches[i])
		branches[i].index = x
		branches[i].lo, branches[i].hi = x.bounds(&plan.Branches[i])
		if !x.complete() && !slices.Contains(unbuilt, view(x)) {
			unbuilt = append(unbuilt, x)
		}
	}
	return unbuilt
}

// indexFor finds or begins the index that serves a branch.
func (q *queueState) indexFor(b *condition.Branch) *indexed {
	shape := shapeOf(b)
	return use(q, func(v view) (*indexed, bool) {
		x, ok := v.(*indexed)
		return x, ok && x.shape == shape
	}, func() *indexed { return newIndexed(q, b) }, max(maxIndexes, q.together.indexes))
}

// matcherFor finds or begins the matcher of a condition.
func (q *queueState) matcherFor(where *condition.Expr, plan condition.Plan) *matcher {
	text := where.String()
	return use(q, func(v view) (*matcher, bool) {
		m, ok := v.(*matcher)
		return m, ok && m.text == text
	}, func() *matcher { return q.newMatcher(text, where, plan) }, max(maxMatchers, q.together.matchers))
}

// use finds a view and puts it in front, or makes it; of its kind at most most stay.
func use[V view](q *queueState, is func(view) (V, bool), begin func() V, most int) V {
	for i, v := range q.views {
		if found, ok := is(v); ok {
			copy(q.views[1:i+1], q.views[:i])
			q.views[0] = found
			return found
		}
	}
	made := begin()
	q.views = slices.Insert(q.views, 0, view(made))
	kept := 0
	q.views = slices.DeleteFunc(q.views, func(v view) bool {
		if _, same := v.(V); !same {
			return false
		}
		if kept++; kept > most {
			q.unlink(v)
		}
		return kept > most
	})
	return made
}

// unlink makes conditions forget an index that goes, so that its memory goes too. They find another one before they
// look on.
func (q *queueState) unlink(gone view) {
	for _, v := range q.views {
		if m, ok := v.(*matcher); ok {
			for i := range m.branches {
				if view(m.branches[i].index) == gone {
					m.branches[i].index = nil
				}
			}
		}
	}
}

// matcher keeps, for one condition that indexes do not serve whole, which ready messages match it. It tests them one by
// one, each once, in the order of their sequences, and only as far as claims want to know: all ready messages or, where
// indexes serve a part of the condition, those that lie in its branches. Where it stopped the next claim goes on. A
// message that becomes ready before that point is tested when it does.
type matcher struct {
	of      *queueState
	text    string
	where   *condition.Expr
	built   building // upto: how far it has tested. done: it is told of every message, also of those beyond
	matched sequences
	bodies  wantedBodies
	effort

	branches []bounded // where messages that match lie; nil: anywhere
	gathered bool      // it knows which messages to test
	waiting  sequences // with done: those to test, and some that it has tested
	branch   int       // while it gathers: in which branch it is, and
	at       index.Key // which entry comes next
	seq      uint64

	// how many that match it finds before it answers, so that a claim seldom has to test any with the lock held
	ahead int
	asked int // how many the last claim wanted
	left  int // how many messages may still be tested while the claim at hand takes what it finds
}

// lookAhead is the least that a matcher looks ahead. Claims of more at once raise it.
const lookAhead = 64

func (q *queueState) newMatcher(text string, where *condition.Expr, plan condition.Plan) *matcher {
	m := &matcher{of: q, text: text, where: where, ahead: lookAhead, gathered: true}
	if !narrows(plan, q) {
		return m
	}
	m.branches = make([]bounded, len(plan.Branches))
	if slices.ContainsFunc(plan.Branches, func(b condition.Branch) bool { return b.Range != nil }) {
		// The index has them in the order of their values: they are gathered, to be tested in the order of their
		// sequences.
		m.gathered, m.built.done = false, true
	}
	return m
}

func (m *matcher) show(env *entryEnv, e entry) {
	if seq := e.seq(); seq > m.built.upto {
		m.waiting.Add(seq)
	} else {
		m.test(env, e)
	}
}

func (m *matcher) hide(_ *entryEnv, e entry) {
	m.matched.Delete(e.seq())
	m.bodies.drop(e)
	if m.built.done {
		m.waiting.Delete(e.seq())
	}
}

func (m *matcher) progress() *building { return &m.built }

// test returns how many steps it counts.
func (m *matcher) test(env *entryEnv, e entry) (steps int) {
	m.of.scanned++
	m.examined++
	a, steps := env.ask(m.where)
	switch a {
	case mustRead, tooMuch:
		m.bodies.add(e)
	case isMet:
		m.matched.Add(e.seq())
	}
	return steps
}

func (m *matcher) unasked() *questions { return m.bodies.ask(m.of, m) }

func (m *matcher) judge(x *looked) { x.meets = m.where.Match(&x.env) }

func (m *matcher) learn(_ *state, xs []*looked) {
	for _, x := range xs {
		if m.bodies.answered(x) && x.meets {
			m.matched.Add(x.entry.seq())
		}
	}
}

// answers tells whether the oldest that match are known.
func (m *matcher) answers() bool {
	if !m.gathered || m.bodies.some() {
		return false
	}
	return m.matched.Len() >= m.ahead || m.tested()
}

// tested tells whether there is nothing left to test, as far as is known.
func (m *matcher) tested() bool {
	if m.branches != nil && !m.built.done &&
		slices.ContainsFunc(m.branches, func(b bounded) bool { return b.index == nil || !b.index.complete() }) {
		return false
	}
	if m.bodies.some() {
		return false
	}
	for range m.untested() {
		return false
	}
	return m.gathered
}

func (m *matcher) advance(s *state, _ *queueState, piece int) {
	if !m.gathered {
		if m.gather(piece); m.gathered {
			noteUse(m.branches, s.now)
		}
		return
	}
	m.search(s, piece, m.ahead)
}

// search tests at most so many messages, until it knows of enough that match.
func (m *matcher) search(s *state, most, enough int) {
	for seq := range m.untested() {
		if most <= 0 || m.matched.Len() >= enough || m.bodies.full() {
			return
		}
		e, _ := m.of.all.Get(seq)
		steps := m.test(s.env(m.of, e), e)
		most -= steps
		m.left -= steps
		m.built.upto = seq
	}
}

func (m *matcher) oldest(s *state, q *queueState) entry {
	if m.asked++; m.asked == 1 {
		m.used(s.now)
		if !m.built.done {
			noteUse(m.branches, s.now)
		}
	}
	if m.matched.Len() == 0 { // the claim has taken more than were found ahead
		m.search(s, max(0, m.left), 1)
	}
	if m.bodies.before(&m.matched) {
		return none // an older one may match
	}
	return q.oldestOf(&m.matched)
}

func (m *matcher) more() bool { return m.bodies.some() || m.matched.Len() == 0 && !m.tested() }

// untested are the sequences of the messages to test next, the oldest first. No view changes meanwhile.
func (m *matcher) untested() iter.Seq[uint64] {
	from := m.built.upto + 1
	return func(yield func(uint64) bool) {
		switch {
		case m.built.done:
			m.waiting.Ascend(from, yield)
		case m.branches == nil:
			m.of.ready.Ascend(from, yield)
		default:
			for {
				next := uint64(math.MaxUint64)
				for i := range m.branches {
					b := &m.branches[i] // all entries have one key, and so are in the order of their sequences
					if k, seq, ok := b.index.tree.Seek(b.lo, from); ok && k == b.lo {
						next = min(next, seq)
					}
				}
				if next == math.MaxUint64 || !yield(next) {
					return
				}
				from = next + 1
			}
		}
	}
}

// gather takes a piece of what lies in its branches. Messages that come meanwhile it is told of; those that go, too.
func (m *matcher) gather(piece int) {
	for range piece {
		if m.branch == len(m.branches) {
			m.gathered = true
			return
		}
		b := &m.branches[m.branch]
		if m.at.Compare(b.lo) < 0 {
			m.at, m.seq = b.lo, 0
		}
		k, seq, ok := b.index.tree.Seek(m.at, m.seq)
		if !ok || k.Compare(b.hi) > 0 {
			m.branch++
			m.at, m.seq = index.Key{}, 0
			continue
		}
		m.waiting.Add(seq)
		m.at, m.seq = k, seq+1
	}
}

// gather sees to it that each queue keeps all that these wishes need of it at once, so that nothing is made again while
// the rest is made. The lock is held.
func gather(ws []wanted) error {
	if len(ws) <= 2 { // they fit
		for _, w := range ws {
			w.q.together = together{}
		}
		return nil
	}
	of := map[*queueState][]wanted{}
	for _, w := range ws {
		of[w.q] = append(of[w.q], w)
	}
	for q, wishes := range of {
		t := togetherFor(wishes)
		if t.indexes > maxTogether || t.matchers > maxTogether {
			return fmt.Errorf("%w: queue %s: one claim names conditions on %d combinations of names, and %d that no "+
				"index serves: at most %d of each can be looked up at once",
				ErrCondition, q.name.Short(), t.indexes, t.matchers, maxTogether)
		}
		q.together = t
	}
	return nil
}

// buildFor lets what the conditions need go on by a piece and tells whether all of it is there, or what has to be asked
// for it without the lock (see Store.goOn).
func (s *state) buildFor(ws []wanted, want int) (done bool, ask *questions) {
	s.effort = 0 // claims build under holds of their own
	for i := range ws {
		w := &ws[i]
		var unbuilt []view
		if w.find, unbuilt = s.finderFor(w.q, w.where, want); len(unbuilt) > 0 {
			if ask = unbuilt[0].unasked(); ask == nil {
				s.build(w.q, unbuilt[0])
			}
			return false, ask
		}
	}
	return true, nil
}
