package queue

import "slices"

// keyGroup is the messages of one key, which leave in their order and to one claimant at a time. It keeps them by what
// they are to the next claim, so that no question looks at all of them: those that were put with a delay and still
// sleep stand nowhere, for they hold up nobody.
type keyGroup struct {
	of      *queueState
	key     string
	members int
	open    sequenceSet  // that nobody holds: awake, or asleep after having been put back
	holders []*keyHolder // of the claimed ones; seldom more than one
	head    entry        // the one that is ready; none while the key is held or asleep

	heir *owner // who holds the key and may take next all the same; nil: nobody who has an owner
	next uint64 // what it may take
}

// keyHolder is a claimant with the messages of a key that it holds.
type keyHolder struct {
	claimant uint64
	held     sequenceSet
}

// goingBack is the claimant of claims that are on their way back, and nobody's number: nothing behind them may be
// handed out, not even to who held them.
const goingBack = ^uint64(0)

// holder is whom a key counts the claim for.
func (c *claimState) holder() uint64 {
	if c.back {
		return goingBack
	}
	return c.claimant
}

func (q *queueState) join(e entry, key string) {
	g := q.keys[key]
	if g == nil {
		g = &keyGroup{of: q, key: key}
		q.keys[key] = g
	}
	g.members++
	e.setGroup(g)
	g.place(e)
}

// leave is called when e has no claim any more.
func (q *queueState) leave(g *keyGroup, e entry) {
	g.open.Delete(e.seq())
	if g.members--; g.members == 0 {
		delete(q.keys, g.key)
	}
	if g.head == e {
		g.head = none
	}
}

// place puts e where it belongs by what it is now.
func (g *keyGroup) place(e entry) {
	switch x := e.extra(); {
	case x.claim != nil:
		g.holder(x.claim.holder()).held.Add(e.seq())
	case x.wake == 0 || x.retry:
		g.open.Add(e.seq())
	}
}

// displace is place's inverse, before e changes.
func (g *keyGroup) displace(e entry) {
	c := e.claim()
	if c == nil {
		g.open.Delete(e.seq())
		return
	}
	i := g.holderAt(c.holder())
	if i < 0 {
		return
	}
	if h := g.holders[i]; h.held.Delete(e.seq()) && h.held.Len() == 0 {
		g.holders = slices.Delete(g.holders, i, i+1)
	}
}

func (g *keyGroup) holderAt(claimant uint64) int {
	return slices.IndexFunc(g.holders, func(h *keyHolder) bool { return h.claimant == claimant })
}

// holder finds or makes a holder.
func (g *keyGroup) holder(claimant uint64) *keyHolder {
	if i := g.holderAt(claimant); i >= 0 {
		return g.holders[i]
	}
	h := &keyHolder{claimant: claimant}
	g.holders = append(g.holders, h)
	return h
}

// foremost is the first message that nobody holds; none when that one sleeps after having been put back.
func (g *keyGroup) foremost(now int64) entry {
	seq, ok := g.open.Min()
	if !ok {
		return none
	}
	if e, there := g.of.all.Get(seq); there && e.wake() <= now {
		return e
	}
	return none
}

// first returns the message of the key that has to leave next for the given claimant (0: one that holds nothing of it);
// none when the key is held by another or its next message sleeps after having been put back. A message that sleeps
// because it was put with a delay takes its place when it wakes, and holds up nobody.
func (g *keyGroup) first(claimant uint64, now int64) entry {
	e := g.foremost(now)
	if e == none {
		return none
	}
	for _, h := range g.holders {
		if least, _ := h.held.Min(); least < e.seq() && (claimant == 0 || h.claimant != claimant) {
			return none
		}
	}
	return e
}

// inherit notes which owner may take the next message of the key, because it holds all that are before it.
func (g *keyGroup) inherit(now int64) {
	var heir *owner
	next := uint64(0)
	if g.head == none && len(g.holders) > 0 {
		if e := g.foremost(now); e != none {
			heir, next = g.blocker(e), e.seq()
		}
	}
	if heir == g.heir && (heir == nil || next == g.next) {
		return
	}
	if g.heir != nil {
		g.heir.in(g.of).closeNext(g.next)
		g.heir.tidy(g.of)
	}
	if g.heir, g.next = heir, next; heir != nil {
		heir.in(g.of).openNext(next)
	}
}

// blocker is the owner that holds everything of the key that is held before e; nil: there are several holders, or the
// one has no owner.
func (g *keyGroup) blocker(e entry) (o *owner) {
	for _, h := range g.holders {
		least, _ := h.held.Min()
		if least > e.seq() {
			continue
		}
		x, there := g.of.all.Get(least)
		if !there || o != nil || h.claimant == goingBack || x.claim().owner == nil {
			return nil
		}
		o = x.claim().owner
	}
	return o
}

// claimantBefore is who holds everything of the key that is held before e; 0: nobody, or several do.
func (g *keyGroup) claimantBefore(e entry) (claimant uint64) {
	for _, h := range g.holders {
		if least, _ := h.held.Min(); least > e.seq() {
			continue
		}
		if claimant != 0 || h.claimant == goingBack {
			return 0
		}
		claimant = h.claimant
	}
	return claimant
}

// heldCount is how many of the key's messages are claimed.
func (g *keyGroup) heldCount() (n int) {
	for _, h := range g.holders {
		n += h.held.Len()
	}
	return n
}

// behind are the claimed messages of e's key that come after it and are not on their way to an end, last first: at most
// so many, of those before the sequence upto (0: all).
func (q *queueState) behind(e entry, upto uint64, most int) []entry {
	g := e.group()
	if g == nil || e.claim() == nil {
		return nil
	}
	var later []entry
	for _, h := range g.holders {
		if h.claimant == goingBack {
			continue
		}
		n := 0
		h.held.Descend(upto-1, func(seq uint64) bool {
			if seq <= e.seq() || n == most {
				return false
			}
			if x, there := q.all.Get(seq); there && !x.claim().settling {
				later = append(later, x)
				n++
			}
			return true
		})
	}
	if len(g.holders) > 1 {
		slices.SortFunc(later, func(a, b entry) int { return bySequence(b, a) })
	}
	return later[:min(len(later), most)]
}
