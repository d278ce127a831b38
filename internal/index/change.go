package index

// insert adds e below n. When n was full it is split, and the right part returned.
func (n node) insert(e entry) (added bool, split node) {
	if n.leaf != nil {
		return n.leaf.insert(e)
	}
	b := n.branch
	i := b.child(e)
	added, right := b.below[i].insert(e)
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
	return true, b.add(i+1, right)
}

func (l *leaf) insert(e entry) (added bool, split node) {
	i := l.search(e)
	if i < l.n && l.entries[i] == e {
		return false, node{}
	}
	if l.n < fan {
		copy(l.entries[i+1:l.n+1], l.entries[i:l.n])
		l.entries[i] = e
		l.n++
		return true, node{}
	}
	right := new(leaf)
	half := fan / 2
	if i == fan { // entries that come in their order leave full leaves behind
		half = fan
	}
	right.n = copy(right.entries[:], l.entries[half:])
	clear(l.entries[half:])
	l.n = half
	if i >= half && half < fan || half == fan {
		right.insert(e)
	} else {
		l.insert(e)
	}
	return true, node{leaf: right}
}

// add puts a child at i. When b was full it is split, and the right part returned.
func (b *branch) add(i int, child node) (split node) {
	if b.n < fan {
		copy(b.first[i+1:b.n+1], b.first[i:b.n])
		copy(b.least[i+1:b.n+1], b.least[i:b.n])
		copy(b.below[i+1:b.n+1], b.below[i:b.n])
		b.first[i], b.least[i], b.below[i] = child.firstEntry(), child.leastSeq(), child
		b.n++
		return node{}
	}
	right := new(branch)
	half := fan / 2
	if i == fan {
		half = fan
	}
	right.n = copy(right.first[:], b.first[half:])
	copy(right.least[:], b.least[half:])
	copy(right.below[:], b.below[half:])
	clear(b.below[half:])
	b.n = half
	if i > half || half == fan {
		right.add(i-half, child)
	} else {
		b.add(i, child)
	}
	return node{branch: right}
}

// remove takes e out below n and tells whether it was there. Children that become empty go; ones that become small join a neighbour.
func (n node) remove(e entry) bool {
	if l := n.leaf; l != nil {
		i := l.search(e)
		if i == l.n || l.entries[i] != e {
			return false
		}
		copy(l.entries[i:], l.entries[i+1:l.n])
		l.n--
		return true
	}
	b := n.branch
	i := b.child(e)
	if !b.below[i].remove(e) {
		return false
	}
	switch c := b.below[i]; {
	case c.count() == 0:
		b.drop(i)
	case c.count() < fan/4 && b.n > 1:
		b.join(i)
	case b.least[i] == e.seq:
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

// join moves child i and a neighbour into one, where they fit.
func (b *branch) join(i int) {
	if i == b.n-1 {
		i--
	}
	l, r := b.below[i], b.below[i+1]
	if l.count()+r.count() <= fan*3/4 {
		if l.leaf != nil {
			l.leaf.n += copy(l.leaf.entries[l.leaf.n:], r.leaf.entries[:r.leaf.n])
		} else {
			x, y := l.branch, r.branch
			copy(x.first[x.n:], y.first[:y.n])
			copy(x.least[x.n:], y.least[:y.n])
			copy(x.below[x.n:], y.below[:y.n])
			x.n += y.n
		}
		b.drop(i + 1)
	} else {
		b.least[i+1] = r.leastSeq()
	}
	b.least[i] = b.below[i].leastSeq()
}
