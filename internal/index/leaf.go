package index

import "slices"

// leafFan is how many entries a leaf holds at most: as many as 1 KiB holds, with what the allocator adds.
const leafFan = 62

// leaf keeps entries in their order. The keys of neighbours mostly have a half in common: where things are compared
// with = and in a range, many have one A; where they are compared with = alone, all have one B. What they have in
// common is kept once.
type leaf struct {
	more *[leafFan]uint64 // the B of each key, when form is wide
	same uint64           // the half that all keys have in common, when it is not
	form form
	n    uint8
	last uint8 // where the last entry was inserted
	part [leafFan]uint64
	seq  [leafFan]uint64
}

// form says how a leaf keeps its keys.
type form uint8

const (
	sameA form = iota // A is the same, and part their B
	sameB             // B is the same, and part their A
	wide              // part is their A
)

func (u *usage) newLeaf() *leaf {
	u.leaves++
	return new(leaf)
}

func (l *leaf) len() int { return int(l.n) }

// at is the entry at i.
func (l *leaf) at(i int) entry {
	switch l.form {
	case sameA:
		return entry{Key{l.same, l.part[i]}, l.seq[i]}
	case sameB:
		return entry{Key{l.part[i], l.same}, l.seq[i]}
	}
	return entry{Key{l.part[i], l.more[i]}, l.seq[i]}
}

// search is the index of the first entry that is not before e.
func (l *leaf) search(e entry) int {
	lo, hi := 0, l.len()
	part, seq := e.key.A, e.seq
	switch l.form {
	case wide:
		for lo < hi {
			if m := (lo + hi) / 2; l.at(m).before(e) {
				lo = m + 1
			} else {
				hi = m
			}
		}
		return lo
	case sameA:
		switch part = e.key.B; {
		case e.key.A < l.same:
			return 0
		case e.key.A > l.same:
			return hi
		}
	case sameB:
		switch { // whatever their sequences: entries with this A are not before e, or all are
		case e.key.B < l.same:
			seq = 0
		case e.key.B > l.same:
			seq = none
		}
	}
	for lo < hi {
		m := (lo + hi) / 2
		if p := l.part[m]; p < part || p == part && l.seq[m] < seq {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// put inserts e at i. There is room.
func (l *leaf) put(i int, e entry, u *usage) {
	l.fit(e.key, u)
	n := l.len()
	copy(l.part[i+1:n+1], l.part[i:n])
	copy(l.seq[i+1:n+1], l.seq[i:n])
	l.seq[i] = e.seq
	switch l.form {
	case sameA:
		l.part[i] = e.key.B
	case sameB:
		l.part[i] = e.key.A
	case wide:
		copy(l.more[i+1:n+1], l.more[i:n])
		l.part[i], l.more[i] = e.key.A, e.key.B
	}
	l.n++
	l.last = uint8(i)
}

// fit makes sure that the leaf's form has room for a key.
func (l *leaf) fit(k Key, u *usage) {
	n := l.len()
	switch {
	case n == 0:
		l.form, l.same = sameA, k.A
	case l.form == wide, l.form == sameA && l.same == k.A, l.form == sameB && l.same == k.B:
	case l.form == sameA && l.part[0] == k.B && l.part[n-1] == k.B:
		for i := range l.part[:n] {
			l.part[i] = l.same
		}
		l.form, l.same = sameB, k.B
	default:
		l.more = new([leafFan]uint64)
		u.wide++
		for i := range n {
			k := l.at(i).key
			l.part[i], l.more[i] = k.A, k.B
		}
		l.form = wide
	}
}

// cut keeps the entries before n, and their keys in as little space as they need now.
func (l *leaf) cut(n int, u *usage) {
	l.n = uint8(n)
	if l.form != wide {
		return
	}
	if n > 0 {
		first, last := l.at(0).key, l.at(n-1).key
		switch {
		case first.A == last.A:
			copy(l.part[:n], l.more[:n])
			l.form, l.same = sameA, first.A
		case slices.ContainsFunc(l.more[:n], func(b uint64) bool { return b != first.B }):
			return
		default:
			l.form, l.same = sameB, first.B
		}
	} else {
		l.form = sameA
	}
	l.more = nil
	u.wide--
}

// take removes the entry at i.
func (l *leaf) take(i int) {
	n := l.len()
	copy(l.part[i:], l.part[i+1:n])
	copy(l.seq[i:], l.seq[i+1:n])
	if l.form == wide {
		copy(l.more[i:], l.more[i+1:n])
	}
	l.n--
	if l.last >= uint8(i) && l.last > 0 {
		l.last--
	}
}

// append adds the entries of r from one on.
func (l *leaf) append(r *leaf, from int, u *usage) {
	for i := from; i < r.len(); i++ {
		l.put(l.len(), r.at(i), u)
	}
}

// forget counts a leaf that nothing holds any more.
func (u *usage) forget(l *leaf) {
	u.leaves--
	if l.form == wide {
		u.wide--
	}
}
