package interest

import (
	"slices"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// values are the values of a message, few enough to be searched in their order.
type values []struct {
	name  string
	value message.Value
}

func (v values) Lookup(name string) message.Value {
	for i := range v {
		if v[i].name == name {
			return v[i].value
		}
	}
	return message.Null()
}

func one(name string, v message.Value) values {
	return values{{name, v}}
}

func parse(t fataler, text string) *condition.Expr {
	if text == "" {
		return nil
	}
	e, err := condition.Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return e
}

// fataler is a *testing.T, a *testing.B or a *rapid.T.
type fataler interface{ Fatalf(string, ...any) }

// waits is one Add; a list of them is the plainest set there is.
type waits struct {
	id    uint64
	where *condition.Expr
}

type list []waits

func (l list) matching(env condition.Env) (ids []uint64) {
	for _, w := range l {
		if w.where == nil || w.where.Match(env) {
			ids = append(ids, w.id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// check holds the set to what it promises of itself.
func (s *Set) check(t fataler) {
	places, uses := 0, 0
	for text, i := range s.interests.entries {
		if i.line.empty() || i.first != i.line.first() {
			t.Fatalf("%q: the first is not %d", text, i.first)
		}
		places += len(i.places)
		uses += len(i.names)
	}
	if s.shapes.size() != len(s.inUse) {
		t.Fatalf("%d shapes, %d in use", s.shapes.size(), len(s.inUse))
	}
	nodes := 0
	for at, sh := range s.inUse {
		if sh.at != at || sh.drawers.size() == 0 {
			t.Fatalf("shape %s stands at %d, not %d, with %d drawers", sh.text, at, sh.at, sh.drawers.size())
		}
		if uses += len(sh.equal); sh.span != nil {
			uses++
		}
		for key, d := range sh.drawers.entries {
			if d.key != key || d.of != sh || d.root == nil {
				t.Fatalf("shape %s has an empty or misplaced drawer", sh.text)
			}
			nodes += d.root.check(t)
		}
	}
	if nodes != places {
		t.Fatalf("%d branches are filed, %d are there", nodes, places)
	}
	for text, n := range s.names.entries {
		if uses -= n.uses; n.uses == 0 || n.text != text || n.round != 0 || !n.value.IsNull() {
			t.Fatalf("name %q: %+v", text, *n)
		}
	}
	if uses != 0 {
		t.Fatalf("%d more uses of names than are counted", uses)
	}
	if s.spare != nil && s.spare.env != nil {
		t.Fatalf("the last message is still held")
	}
}

// check looks through a tree and returns its number of nodes.
func (n *node) check(t fataler) int {
	size, far := 1, n
	least := n.of.first
	for _, c := range []*node{n.left, n.right} {
		if c == nil {
			continue
		}
		size += c.check(t)
		least = min(least, c.least)
		if c.farthest.outlasts(far) {
			far = c.farthest
		}
		if c.priority > n.priority || c.before(n) != (c == n.left) {
			t.Fatalf("a node is not in order")
		}
	}
	if n.least != least || n.far != far.high || n.farthest.outlasts(far) || far.outlasts(n.farthest) {
		t.Fatalf("a node says %d and %v of what is below, not %d and %v", n.least, n.far, least, far.high)
	}
	return size
}

func (n *node) height() int {
	if n == nil {
		return 0
	}
	return 1 + max(n.left.height(), n.right.height())
}
