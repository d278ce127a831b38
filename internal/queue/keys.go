package queue

import "github.com/tidwall/btree"

// keyGroup is the messages of one key, which leave in their order and to one claimant at a time.
type keyGroup struct {
	key     string
	members btree.Map[uint64, entry]
	head    entry // the one that is ready; none while the key is held or asleep
}

func (q *queueState) join(e entry, key string) {
	g := q.keys[key]
	if g == nil {
		g = &keyGroup{key: key}
		q.keys[key] = g
	}
	g.members.Set(e.seq(), e)
	e.setGroup(g)
}

func (q *queueState) leave(g *keyGroup, e entry) {
	g.members.Delete(e.seq())
	if g.head == e {
		g.head = none
	}
	if g.members.Len() == 0 {
		delete(q.keys, g.key)
	}
}

// first returns the message of the key that has to leave next for the given claimant (0: one that holds nothing of it);
// none when the key is held by another or its next message sleeps after having been put back. A message that sleeps
// because it was put with a delay takes its place when it wakes, and holds up nobody.
func (g *keyGroup) first(claimant uint64, now int64) (next entry) {
	g.members.Scan(func(_ uint64, e entry) bool {
		switch x := e.extra(); {
		case x.claim != nil:
			return claimant != 0 && x.claim.claimant == claimant && !x.claim.back
		case x.wake > now && !x.retry:
			return true
		case x.wake > now:
			return false
		}
		next = e
		return false
	})
	return next
}

// behind are the claimed messages of e's key that were handed out after it to the same claimant, last first.
func (q *queueState) behind(e entry) []entry {
	if e.group() == nil || e.claim() == nil {
		return nil
	}
	var later []entry
	e.group().members.Descend(^uint64(0), func(seq uint64, x entry) bool {
		if seq <= e.seq() {
			return false
		}
		if c := x.claim(); c != nil && !c.settling {
			later = append(later, x)
		}
		return true
	})
	return later
}
