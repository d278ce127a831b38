// Package index is an ordered tree that answers "the oldest whose value lies in a range" in one descent.
//
// An entry is a key and a sequence. Keys are 16 bytes that order as the values they stand for: a hash of what has to be
// equal, then an order-preserving image of what lies in a range. Each branch keeps the least sequence below it, so the
// oldest entry of any range of keys is found without looking at the others, whatever their number.
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

// entry is what the tree holds.
type entry struct {
	key Key
	seq uint64
}

func (e entry) before(o entry) bool {
	c := e.key.Compare(o.key)
	return c < 0 || c == 0 && e.seq < o.seq
}

// none is the least sequence of nothing.
const none = math.MaxUint64

// branchFan is how many children a branch has at most: as many as 3 KiB hold, with what the allocator adds.
const branchFan = 63

// branch keeps children in their order. first is at most the first entry below each, least the least sequence below
// each.
type branch struct {
	below [branchFan]node // in front, so that the garbage collector reads no further
	n     int
	first [branchFan]entry
	least [branchFan]uint64
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
	use  usage
}

// usage counts what a tree is made of.
type usage struct{ leaves, wide, branches int }

// What the allocator gives for each, in bytes.
const (
	leafBytes   = 1024
	wideBytes   = 512
	branchBytes = 3072
)

// Len is the number of entries.
func (t *Tree) Len() int { return t.size }

// Bytes is the memory that the tree takes.
func (t *Tree) Bytes() int64 {
	return int64(t.use.leaves)*leafBytes + int64(t.use.wide)*wideBytes + int64(t.use.branches)*branchBytes
}

// Insert adds an entry; one that is there already stays.
func (t *Tree) Insert(k Key, seq uint64) {
	if t.root == (node{}) {
		t.root.leaf = t.use.newLeaf()
	}
	e := entry{k, seq}
	added, split := t.root.insert(e, &t.use)
	if added {
		t.size++
	}
	if split != (node{}) {
		b := t.use.newBranch()
		b.n = 2
		for i, n := range []node{t.root, split} {
			b.below[i], b.first[i], b.least[i] = n, n.firstEntry(), n.leastSeq()
		}
		t.root = node{branch: b}
	}
}

// Delete removes an entry and tells whether it was there.
func (t *Tree) Delete(k Key, seq uint64) bool {
	if t.root == (node{}) || !t.root.remove(entry{k, seq}, &t.use) {
		return false
	}
	t.size--
	for t.root.branch != nil && t.root.branch.n == 1 {
		t.root = t.root.branch.below[0]
		t.use.branches--
	}
	if t.size == 0 {
		t.root, t.use = node{}, usage{}
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

// Seek returns the first entry at or after one, in the order of keys and, for one key, of sequences: with it a walk can
// go on after the tree has changed.
func (t *Tree) Seek(k Key, seq uint64) (Key, uint64, bool) {
	if t.root == (node{}) {
		return Key{}, 0, false
	}
	e, ok := t.root.seek(entry{k, seq})
	return e.key, e.seq, ok
}

func (n node) seek(from entry) (entry, bool) {
	if l := n.leaf; l != nil {
		if i := l.search(from); i < l.len() {
			return l.at(i), true
		}
		return entry{}, false
	}
	for i := n.branch.child(from); i < n.branch.n; i++ { // the next child has it when this one does not
		if e, ok := n.branch.below[i].seek(from); ok {
			return e, true
		}
	}
	return entry{}, false
}

func (n node) firstEntry() entry {
	if n.leaf != nil {
		return n.leaf.at(0)
	}
	return n.branch.first[0]
}

func (n node) count() int {
	if n.leaf != nil {
		return n.leaf.len()
	}
	return n.branch.n
}

// leastSeq is the least sequence below n.
func (n node) leastSeq() uint64 {
	if l := n.leaf; l != nil {
		return least(l.seq[:l.n])
	}
	return least(n.branch.least[:n.branch.n])
}

// least is the least of some sequences. Two run side by side, as neither then waits for the other.
func least(seqs []uint64) uint64 {
	l, m := uint64(none), uint64(none)
	for len(seqs) > 1 {
		l, m = min(l, seqs[0]), min(m, seqs[1])
		seqs = seqs[2:]
	}
	if len(seqs) > 0 {
		l = min(l, seqs[0])
	}
	return min(l, m)
}

// leastBetween is the least sequence of the entries from lo to hi.
func (n node) leastBetween(lo, hi entry) uint64 {
	if l := n.leaf; l != nil {
		from, to := 0, l.len() // mostly one end of the range is in the leaf
		if l.at(0).before(lo) {
			from = l.search(lo)
		}
		if !l.at(to - 1).before(hi) {
			to = l.search(hi) // no entry is hi itself: its sequence is none
		}
		return least(l.seq[from:to])
	}
	b := n.branch
	from, to := b.child(lo), b.child(hi) // only these two may hold entries on both sides of an end
	if from == to {
		return b.below[from].leastBetween(lo, hi)
	}
	l := least(b.least[from+1 : to])
	if b.least[from] < l {
		l = min(l, b.below[from].leastBetween(lo, hi))
	}
	if b.least[to] < l {
		l = min(l, b.below[to].leastBetween(lo, hi))
	}
	return l
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
