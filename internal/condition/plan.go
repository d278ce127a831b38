package condition

import (
	"slices"

	"github.com/hikyaku/hikyaku/internal/message"
)

// A condition that would need more branches in its Plan, or more terms in one, leaves the rest to the residue: the plan
// of a long condition would take seconds to make and to look up else.
const (
	MaxBranches = 64
	MaxTerms    = 16
)

// Plan says how indexes can serve a condition: a message matches if and only if it lies in one of the branches and the
// residue is true for it. Branches may overlap. A Plan is immutable; the caller must not change it.
type Plan struct {
	// Branches are the places to look. None means that nothing can ever match.
	Branches []Branch
	// Residue is what is still to be tested of a message in a branch; nil when the branches say it all.
	Residue *Expr
}

// Never tells whether the condition contradicts itself: nothing can match it.
func (p Plan) Never() bool { return len(p.Branches) == 0 }

// Served tells whether indexes narrow the search in every branch. If not, every message has to be looked at.
func (p Plan) Served() bool {
	return !slices.ContainsFunc(p.Branches, func(b Branch) bool { return len(b.Equal) == 0 && b.Range == nil })
}

// Field names what an index is made of. It is comparable, to be a map's key.
type Field struct {
	Name string
	View View
}

// Branch is the conjunction of its terms. One without terms holds every message.
type Branch struct {
	Equal []Equal // ordered by field; each field once
	Range *Range  // nil for none; of a field that is not in Equal
}

// Equal asks that the field's key be this one.
type Equal struct {
	Field
	Key message.Value
}

// Range asks that the field's key lie between two ends.
type Range struct {
	Field
	Low, High End
}

// End is one end of a Range. The zero End is none: the range goes on without bound.
type End struct {
	Key   message.Value
	Given bool // there is an end
	Open  bool // the key itself is not in the range
}

// Contains tells whether a key of the range's view lies in it.
func (r *Range) Contains(key message.Value) bool {
	if r.Low.Given {
		if c := CompareKeys(key, r.Low.Key); c < 0 || c == 0 && r.Low.Open {
			return false
		}
	}
	if r.High.Given {
		if c := CompareKeys(key, r.High.Key); c > 0 || c == 0 && r.High.Open {
			return false
		}
	}
	return true
}

// Contains tells whether a message with these values lies in the branch.
func (b *Branch) Contains(env Env) bool {
	for i := range b.Equal {
		key, ok := b.Equal[i].View.Key(env.Lookup(b.Equal[i].Name))
		if !ok || key != b.Equal[i].Key {
			return false
		}
	}
	if b.Range == nil {
		return true
	}
	key, ok := b.Range.View.Key(env.Lookup(b.Range.Name))
	return ok && b.Range.Contains(key)
}

// Plan is what indexes can serve. It is worked out when it is asked for first, which takes some microseconds, or some
// 100 ms for a condition of 64 KiB: where others wait it should have been done before.
func (e *Expr) Plan() Plan {
	e.planned.Do(func() { e.plan = e.makePlan() })
	return e.plan
}

func (e *Expr) makePlan() Plan {
	conjuncts := conjunctsOf(nil, e.bound, true)
	sets := make([]set, len(conjuncts))
	for i, c := range conjuncts {
		sets[i] = matching(c, true)
	}
	// Equalities first: they leave the one range free. Then single ranges, which multiply nothing. Ties keep their
	// order.
	order := make([]int, len(conjuncts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return sets[i].cost() - sets[j].cost() })

	result := everything()
	var residue []*node
	for _, i := range order {
		both, exact := result.and(sets[i])
		result = both
		if !exact || !sets[i].exact {
			residue = append(residue, conjuncts[i])
		}
	}
	p := Plan{Branches: result.branches}
	if len(residue) > 0 && !p.Never() {
		p.Residue = e.part(residue)
	}
	return p
}

// conjunctsOf appends the conditions that must all be true for n to be true (want) or false. not (a or b) has two.
func conjunctsOf(list []*node, n *node, want bool) []*node {
	switch {
	case n.op == opNot:
		return conjunctsOf(list, n.args[0], !want)
	case n.op == opAnd && want, n.op == opOr && !want:
		for _, a := range n.args {
			list = conjunctsOf(list, a, want)
		}
		return list
	case want:
		return append(list, n)
	default:
		return append(list, newNode(opNot, n.offset, n))
	}
}

// part is the conjunction of some of e's conjuncts as a condition of its own.
func (e *Expr) part(conjuncts []*node) *Expr {
	root := conjuncts[0]
	if len(conjuncts) > 1 {
		// In the order of the text, as the writer may have put the cheap tests first.
		slices.SortFunc(conjuncts, func(a, b *node) int { return a.offset - b.offset })
		root = newNode(opAnd, 0, conjuncts...)
	}
	slots := map[string]int{}
	var names []string
	root = bind(root, func(n *node) int {
		slot, ok := slots[n.name]
		if !ok {
			slot = len(names)
			slots[n.name] = slot
			names = append(names, n.name)
		}
		return slot
	})
	return newExpr(e.text, root, names)
}
