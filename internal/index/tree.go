// Package index is an ordered tree that answers "the oldest whose value lies in a range" in one descent.
//
// An entry is a key and a sequence. Keys are 16 bytes that order as the values they stand for: a hash of what has to be equal, then an
// order-preserving image of what lies in a range. Each branch keeps the least sequence below it, so the oldest entry of
// any range of keys is found without looking at the others, whatever their number.
//
// It knows no messages, no conditions and no locks: whoever uses it decides what keys mean, verifies what two values
// with one key have not in common, and keeps goroutines apart.
//
//	var t index.Tree
//	t.Insert(index.Key{A: lang, B: priority}, sequence)
//	oldest, ok := t.Least(index.Key{A: lang, B: 3}, index.Key{A: lang, B: math.MaxUint64})
package index

import "math"

// Key is what an entry is ordered by, A first.
type Key struct{ A, B uint64 }

// Compare orders keys: -1, 0 or +1.
func (k Key) Compare(o Key) int {
	switch {
	case k.A < o.A || k.A == o.A && k.B < o.B:
		return -1
	case k == o:
		return 0
	}
	return 1
}

// entry is what a leaf keeps.
type entry struct {
	key Key
	seq uint64
}

func (e entry) before(o entry) bool {
	c := e.key.Compare(o.key)
	return c < 0 || c == 0 && e.seq < o.seq
}

// fan is how many entries a leaf, and how many children a branch has at most.
const fan = 64

// none is the least sequence of nothing.
const none = math.MaxUint64

// leaf keeps entries in their order.
type leaf struct {
	n       int
	entries [fan]entry
}

// branch keeps children in their order. first is at most the first entry below each, least the least sequence below each.
type branch struct {
	n     int
	first [fan]entry
	least [fan]uint64
	below [fan]node
}

// node is a leaf or a branch: one of the two.
type node struct {
	leaf   *leaf
	branch *branch
}

// Tree is the index. The zero value is empty and ready to use. Sequences are less than math.MaxUint64.
type Tree struct {
	root node
	size int
}

// Len is the number of entries.
func (t *Tree) Len() int { return t.size }

// Insert adds an entry; one that is there already stays.
func (t *Tree) Insert(k Key, seq uint64) {
	if t.root == (node{}) {
		t.root.leaf = new(leaf)
	}
	e := entry{k, seq}
	added, split := t.root.insert(e)
	if added {
		t.size++
	}
	if split != (node{}) {
		b := &branch{n: 2}
		for i, n := range []node{t.root, split} {
			b.below[i], b.first[i], b.least[i] = n, n.firstEntry(), n.leastSeq()
		}
		t.root = node{branch: b}
	}
}

// Delete removes an entry and tells whether it was there.
func (t *Tree) Delete(k Key, seq uint64) bool {
	if t.root == (node{}) || !t.root.remove(entry{k, seq}) {
		return false
	}
	t.size--
	for t.root.branch != nil && t.root.branch.n == 1 {
		t.root = t.root.branch.below[0]
	}
	if t.size == 0 {
		t.root = node{}
	}
	return true
}

// Least returns the least sequence of the entries whose key lies between lo and hi, both included.
func (t *Tree) Least(lo, hi Key) (seq uint64, ok bool) {
	if t.root == (node{}) || hi.Compare(lo) < 0 {
		return 0, false
	}
	seq = t.root.leastBetween(entry{lo, 0}, entry{hi, none})
	return seq, seq != none
}

func (n node) firstEntry() entry {
	if n.leaf != nil {
		return n.leaf.entries[0]
	}
	return n.branch.first[0]
}

func (n node) count() int {
	if n.leaf != nil {
		return n.leaf.n
	}
	return n.branch.n
}

// leastSeq is the least sequence below n.
func (n node) leastSeq() uint64 {
	least := uint64(none)
	if l := n.leaf; l != nil {
		for i := range l.n {
			least = min(least, l.entries[i].seq)
		}
		return least
	}
	for _, s := range n.branch.least[:n.branch.n] {
		least = min(least, s)
	}
	return least
}

// leastBetween is the least sequence of the entries from lo to hi.
func (n node) leastBetween(lo, hi entry) uint64 {
	least := uint64(none)
	if l := n.leaf; l != nil {
		for i := l.search(lo); i < l.n && !hi.before(l.entries[i]); i++ {
			least = min(least, l.entries[i].seq)
		}
		return least
	}
	b := n.branch
	from, to := b.child(lo), b.child(hi) // only these two may hold entries on both sides of an end
	for i := from + 1; i < to; i++ {
		least = min(least, b.least[i])
	}
	if b.least[from] < least {
		least = min(least, b.below[from].leastBetween(lo, hi))
	}
	if to != from && b.least[to] < least {
		least = min(least, b.below[to].leastBetween(lo, hi))
	}
	return least
}

// search is the index of the first entry that is not before e.
func (l *leaf) search(e entry) int {
	lo, hi := 0, l.n
	for lo < hi {
		m := (lo + hi) / 2
		if l.entries[m].before(e) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// child is the index of the child that e belongs below.
func (b *branch) child(e entry) int {
	lo, hi := 1, b.n
	for lo < hi {
		m := (lo + hi) / 2
		if e.before(b.first[m]) {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo - 1
}
