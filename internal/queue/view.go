package queue

import (
	"slices"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// view is something kept over the ready messages of a queue so that claims need not look at all of them: an index, or the messages
// that match one condition.
type view interface {
	show(env condition.Env, e entry) // e has become ready
	hide(env condition.Env, e entry) // e is ready no more
	progress() *building
}

// building is how far a view has come, which is made at the first use, a piece at a time: it holds the ready messages up to a sequence,
// and all of them once done.
type building struct {
	upto uint64
	done bool
}

// covers tells whether a message of that sequence is in the view if it is ready.
func (b *building) covers(seq uint64) bool { return b.done || seq <= b.upto }

// buildPiece is how many messages are looked at while the lock is held.
const buildPiece = 2000

// build lets a view go on by a piece.
func (s *state) build(q *queueState, v view) {
	b := v.progress()
	n := 0
	more := false
	q.ready.Ascend(b.upto+1, func(seq uint64) bool {
		if n++; n > buildPiece {
			more = true
			return false
		}
		q.scanned++
		e, _ := q.all.Get(seq)
		v.show(s.env(q, e), e)
		b.upto = seq
		return true
	})
	b.done = !more
}

// matcher keeps, for one condition that indexes do not serve, which ready messages match it, so that a claim does not look at the
// others again.
type matcher struct {
	text    string
	where   *condition.Expr
	matched sequences
	built   building
}

func (m *matcher) show(env condition.Env, e entry) {
	if m.where.Match(env) {
		m.matched.Add(e.seq())
	}
}

func (m *matcher) hide(_ condition.Env, e entry) { m.matched.Delete(e.seq()) }

func (m *matcher) progress() *building { return &m.built }

// Bounds of the views of a queue; what was not used for longest goes.
const (
	maxMatchers = 16
	maxIndexes  = 8
)

// finder finds the oldest ready message of those that a reader wants.
type finder interface {
	oldest(s *state, q *queueState) entry
}

type everything struct{}

func (everything) oldest(_ *state, q *queueState) entry { return q.oldestOf(&q.ready) }

type nothing struct{}

func (nothing) oldest(*state, *queueState) entry { return none }

func (m *matcher) oldest(_ *state, q *queueState) entry { return q.oldestOf(&m.matched) }

// oldestOf is the oldest message of a set.
func (q *queueState) oldestOf(set *sequences) entry {
	seq, ok := set.Min()
	if !ok {
		return none
	}
	e, _ := q.all.Get(seq)
	return e
}

// finderFor returns how to find the ready messages that match where (nil: every one), and the views that have to be built first.
func (s *state) finderFor(q *queueState, where *condition.Expr) (f finder, unbuilt []view) {
	if where == nil {
		return everything{}, nil
	}
	plan := where.Plan()
	switch {
	case plan.Never():
		return nothing{}, nil
	case servable(plan, q):
		p := &planned{where: where, branches: make([]bounded, len(plan.Branches))}
		for i := range plan.Branches {
			x := q.indexFor(&plan.Branches[i])
			p.branches[i].index = x
			p.branches[i].lo, p.branches[i].hi = x.bounds(&plan.Branches[i])
			if !x.built.done && !slices.Contains(unbuilt, view(x)) {
				unbuilt = append(unbuilt, x)
			}
		}
		return p, unbuilt
	}
	m := q.matcherFor(where)
	if !m.built.done {
		unbuilt = []view{m}
	}
	return m, unbuilt
}

// ready is finderFor with everything built on the spot.
func (s *state) ready(q *queueState, where *condition.Expr) finder {
	f, unbuilt := s.finderFor(q, where)
	for _, v := range unbuilt {
		for !v.progress().done {
			s.build(q, v)
		}
	}
	return f
}

// indexFor finds or begins the index that serves a branch.
func (q *queueState) indexFor(b *condition.Branch) *indexed {
	shape := shapeOf(b)
	return use(q, func(v view) (*indexed, bool) {
		x, ok := v.(*indexed)
		return x, ok && x.shape == shape
	}, func() *indexed { return newIndexed(b) }, maxIndexes)
}

// matcherFor finds or begins the matcher of a condition.
func (q *queueState) matcherFor(where *condition.Expr) *matcher {
	text := where.String()
	return use(q, func(v view) (*matcher, bool) {
		m, ok := v.(*matcher)
		return m, ok && m.text == text
	}, func() *matcher { return &matcher{text: text, where: where} }, maxMatchers)
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
		kept++
		return kept > most
	})
	return made
}
