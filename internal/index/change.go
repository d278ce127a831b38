package index

// insert adds e below n. When n was full it is split, and the right part returned.
func (n node) insert(e entry, u *usage) (added bool, split node) {
	if n.leaf != nil {
		return n.leaf.insert(e, u)
	}
	b := n.branch
	i := b.child(e)
	if b.roomBehind(i, e) {
		i++
	}
	added, right := b.below[i].insert(e, u)
	if !added {
		return false, node{}
	}
	if e.before(b.first[i]) {
		b.first[i] = e
	}
	if right == (node{}) {
		b.least[i] = min(b.least[i], e.seq)
		return true, node{}
	}
	b.least[i] = b.below[i].leastSeq()
	return true, b.add(i+1, right, u)
}

// roomBehind tells whether e comes between two leaves and better goes into the second one: that has others of its A and
// room, which the first, child i, has not. So what comes in falling order fills leaves too, and those of one A stay
// together.
func (b *branch) roomBehind(i int, e entry) bool {
	l := b.below[i].leaf
	if l == nil || i+1 == b.n {
		return false
	}
	last := l.at(l.len() - 1)
	if !last.before(e) || last.key.A == e.key.A && l.len() < leafFan {
		return false
	}
	r := b.below[i+1].leaf
	return r.len() < leafFan && r.at(0).key.A == e.key.A
}

func (l *leaf) insert(e entry, u *usage) (added bool, split node) {
	i := l.search(e)
	if i < l.len() && l.at(i) == e {
		return false, node{}
	}
	if l.len() < leafFan {
		l.put(i, e, u)
		return true, node{}
	}
	// Entries that come in rising or falling order, all of them or those of one key, leave full leaves behind: the leaf
	// is split where they come.
	half := leafFan / 2
	if last := int(l.last); i == leafFan || i == last+1 || i == last {
		half = i
	}
	right := u.newLeaf()
	right.append(l, half, u)
	l.cut(half, u)
	if i < half || i == half && half < leafFan {
		l.put(i, e, u)
	} else {
		right.put(i-half, e, u)
	}
	return true, node{leaf: right}
}

func (u *usage) newBranch() *branch {
	u.branches++
	return new(branch)
}

// add puts a child at i. When b was full it is split, and the right part returned.
func (b *branch) add(i int, child node, u *usage) (split node) {
	if b.n < branchFan {
		copy(b.first[i+1:b.n+1], b.first[i:b.n])
		copy(b.least[i+1:b.n+1], b.least[i:b.n])
		copy(b.below[i+1:b.n+1], b.below[i:b.n])
		b.first[i], b.least[i], b.below[i] = child.firstEntry(), child.leastSeq(), child
		b.n++
		return node{}
	}
	right := u.newBranch()
	half := branchFan / 2
	if i == branchFan {
		half = branchFan
	}
	right.n = copy(right.first[:], b.first[half:])
	copy(right.least[:], b.least[half:])
	copy(right.below[:], b.below[half:])
	clear(b.below[half:])
	b.n = half
	if i > half || half == branchFan {
		right.add(i-half, child, u)
	} else {
		b.add(i, child, u)
	}
	return node{branch: right}
}

// remove takes e out below n and tells whether it was there. Children that become empty go; ones that become small join
// a neighbour.
func (n node) remove(e entry, u *usage) bool {
	if l := n.leaf; l != nil {
		i := l.search(e)
		if i == l.len() || l.at(i) != e {
			return false
		}
		l.take(i)
		return true
	}
	b := n.branch
	i := b.child(e)
	if !b.below[i].remove(e, u) {
		return false
	}
	c := b.below[i]
	if left := c.count(); left == 0 {
		if c.leaf != nil {
			u.forget(c.leaf)
		} else {
			u.branches--
		}
		b.drop(i)
		return true
	} else if left < leafFan/2 && left%4 == 0 && b.join(i, u) { // not at every step: it looks at the neighbours
		return true
	}
	if b.least[i] == e.seq {
		b.least[i] = c.leastSeq()
	}
	return true
}

// drop takes child i away.
func (b *branch) drop(i int) {
	copy(b.first[i:], b.first[i+1:b.n])
	copy(b.least[i:], b.least[i+1:b.n])
	copy(b.below[i:], b.below[i+1:b.n])
	b.n--
	b.below[b.n] = node{}
}

// join moves child i and a neighbour into one, if they leave it with some room.
func (b *branch) join(i int, u *usage) bool {
	const most = leafFan * 7 / 8
	n := b.below[i].count()
	switch {
	case i+1 < b.n && n+b.below[i+1].count() <= most:
	case i > 0 && n+b.below[i-1].count() <= most:
		i--
	default:
		return false
	}
	if l, r := b.below[i].leaf, b.below[i+1].leaf; l != nil {
		l.append(r, 0, u)
		l.cut(l.len(), u)
		u.forget(r)
	} else {
		x, y := b.below[i].branch, b.below[i+1].branch
		copy(x.first[x.n:], y.first[:y.n])
		copy(x.least[x.n:], y.least[:y.n])
		copy(x.below[x.n:], y.below[:y.n])
		x.n += y.n
		u.branches--
	}
	b.drop(i + 1)
	b.least[i] = b.below[i].leastSeq()
	return true
}
