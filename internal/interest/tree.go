package interest

import (
	"math/rand/v2"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// node is a branch of a condition in the interval tree of its drawer. Nodes are ordered by where their ranges begin;
// each knows the farthest end of a range at or below it, so that a search turns back where nothing reaches its point,
// and the least id that waits at or below it, so that it finds the longest waiting first. The tree is a treap:
// priorities drawn at random keep it shallow, whatever ranges come in which order.
type node struct {
	of        *interest
	span      *condition.Range // nil: everything, as where only equality is asked for
	low, high uint64           // images of its ends
	number    uint64           // orders ranges that begin alike
	priority  uint32           // at least that of the nodes below

	left, right *node
	least       uint64
	farthest    *node
	far         uint64 // farthest.high
}

func newNode(of *interest, span *condition.Range, number uint64) *node {
	n := &node{of: of, span: span, low: before, high: beyond, number: number, priority: rand.Uint32()}
	if span != nil && span.Low.Given {
		n.low = condition.Image(span.Low.Key)
	}
	if span != nil && span.High.Given {
		n.high = condition.Image(span.High.Key)
	}
	return n
}

// begun tells whether the range begins at or before the point. What comes after n in the tree has not begun if n has
// not.
func (n *node) begun(p *point) bool {
	if n.low != p.image {
		return n.low < p.image
	}
	if n.span == nil || !n.span.Low.Given {
		return true
	}
	c := condition.CompareKeys(p.key, n.span.Low.Key)
	return c > 0 || c == 0 && !n.span.Low.Open
}

// lasting tells whether the range ends at or after the point.
func (n *node) lasting(p *point) bool {
	if n.high != p.image {
		return n.high > p.image
	}
	if n.span == nil || !n.span.High.Given {
		return true
	}
	c := condition.CompareKeys(p.key, n.span.High.Key)
	return c < 0 || c == 0 && !n.span.High.Open
}

// reaches tells whether a range at or below n ends at or after the point.
func (n *node) reaches(p *point) bool {
	if n == nil {
		return false
	}
	if n.far != p.image {
		return n.far > p.image
	}
	return n.farthest.lasting(p)
}

// before tells whether n stands before m in a tree.
func (n *node) before(m *node) bool {
	if n.low != m.low {
		return n.low < m.low
	}
	if n.low != before { // both are given
		a, b := &n.span.Low, &m.span.Low
		if c := condition.CompareKeys(a.Key, b.Key); c != 0 {
			return c < 0
		}
		if a.Open != b.Open {
			return b.Open
		}
	}
	return n.number < m.number
}

// outlasts tells whether n's range goes on where m's has ended.
func (n *node) outlasts(m *node) bool {
	if n.high != m.high {
		return n.high > m.high
	}
	if m.span == nil || !m.span.High.Given {
		return false
	}
	if n.span == nil || !n.span.High.Given {
		return true
	}
	a, b := &n.span.High, &m.span.High
	c := condition.CompareKeys(a.Key, b.Key)
	return c > 0 || c == 0 && b.Open && !a.Open
}

// gather works out anew what n knows of the nodes at and below it.
func (n *node) gather() {
	n.least, n.farthest = n.of.first, n
	if l := n.left; l != nil {
		n.take(l)
	}
	if r := n.right; r != nil {
		n.take(r)
	}
	n.far = n.farthest.high
}

func (n *node) take(child *node) {
	n.least = min(n.least, child.least)
	if child.farthest.outlasts(n.farthest) {
		n.farthest = child.farthest
	}
}

// insert adds m to the tree n, which may be nil, and returns the tree's new root.
func (n *node) insert(m *node) *node {
	if n == nil {
		m.gather()
		return m
	}
	top := n
	if m.before(n) {
		if n.left = n.left.insert(m); n.left.priority > n.priority {
			top, n.left, n.left.right = n.left, n.left.right, n
		}
	} else {
		if n.right = n.right.insert(m); n.right.priority > n.priority {
			top, n.right, n.right.left = n.right, n.right.left, n
		}
	}
	n.gather()
	if top != n {
		top.gather()
	}
	return top
}

// remove takes m, which is there, out of the tree n and returns the tree's new root.
func (n *node) remove(m *node) *node {
	switch {
	case n == m:
		return join(n.left, n.right)
	case m.before(n):
		n.left = n.left.remove(m)
	default:
		n.right = n.right.remove(m)
	}
	n.gather()
	return n
}

// join makes one tree of two, the first of which stands before the second.
func join(a, b *node) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority > b.priority:
		a.right = join(a.right, b)
		a.gather()
		return a
	default:
		b.left = join(a, b.left)
		b.gather()
		return b
	}
}

// refresh lets the nodes of the tree n learn that another one waits first for what m stands for.
func (n *node) refresh(m *node) {
	switch {
	case n == m:
	case m.before(n):
		n.left.refresh(m)
	default:
		n.right.refresh(m)
	}
	n.gather()
}
