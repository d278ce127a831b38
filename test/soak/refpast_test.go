package soak

import (
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// What is settled stays in a list of its own where the queue has a history or a snapshot holds it. Nothing leaves that
// list because time goes by: whether a message of it is still kept is asked of the time at which it matters, which
// after a restart may be an earlier one. Messages in it never change, so that clones share them.

// refSnapshot is what a queue had not settled at one moment. It never changes.
type refSnapshot struct {
	name, of   queue.Name
	at, expire int64
	label      string
	before     map[uint64]bool // sequences of what was there
	next       uint64          // from this one on it holds everything
}

// pages is how many blocks of sequences the snapshot takes in memory.
func (sn *refSnapshot) pages() int64 {
	ps := map[uint64]bool{}
	for seq := range sn.before {
		ps[seq/256] = true
	}
	return int64(len(ps))
}

func (sn *refSnapshot) holds(m *refMessage) bool {
	return m.seq == 0 || m.seq >= sn.next || sn.before[m.seq]
}

// isHeld tells whether a snapshot holds a message of q.
func (r *reference) isHeld(q *refQueue, m *refMessage) bool {
	return slices.ContainsFunc(r.snapshots, func(sn *refSnapshot) bool { return sn.of == q.name && sn.holds(m) })
}

// keeps tells whether a settled message of q can be brought back now.
func (r *reference) keeps(q *refQueue, m *refMessage) bool {
	return q.def.History > 0 && m.at+q.def.History.Microseconds() > r.now || r.isHeld(q, m)
}

// kept are the settled messages of q that can be brought back now, the oldest first.
func (r *reference) kept(q *refQueue) (ms []*refMessage) {
	for _, m := range q.past {
		if r.keeps(q, m) {
			ms = append(ms, m)
		}
	}
	return ms
}

// retire takes a settled message out of sight.
func (r *reference) retire(q *refQueue, m *refMessage) {
	q.remove(m)
	if q.def.History > 0 || r.isHeld(q, m) {
		q.past = inOrder(q.past, &refMessage{id: m.id, seq: m.seq, at: m.at, body: m.body, n: m.n, s: m.s, key: m.key,
			size: m.size, expire: m.expire,
			died: m.died, tries: m.tries, unsound: m.unsound, beheaded: m.beheaded, blamed: m.blamed})
	}
}

// inOrder adds a message at its place.
func inOrder(ms []*refMessage, m *refMessage) []*refMessage {
	i := slices.IndexFunc(ms, func(x *refMessage) bool { return x.seq == 0 || x.seq > m.seq })
	if i < 0 {
		i = len(ms)
	}
	return slices.Insert(slices.Clip(ms), i, m)
}

// redefine changes a queue. What the old rule does not keep any more does not come back by the new one.
func (r *reference) redefine(q *refQueue, d queue.Definition) error {
	q.past = r.kept(q)
	if d.Unordered != q.def.Unordered && len(q.messages)+len(q.past) > 0 {
		return queue.ErrDefinition
	}
	q.def = d
	q.past = r.kept(q)
	r.wrote()
	return nil
}

// seek settles what is there and does not stay, and brings back what is settled and does.
func (r *reference) seek(q *refQueue, stays func(*refMessage) bool) (back, settled int) {
	r.wrote()
	past := r.kept(q)
	q.past = slices.Clone(past)
	for _, m := range slices.Clone(q.messages) {
		if !stays(m) {
			r.retire(q, m)
			settled++
		}
	}
	q.done += uint64(settled)
	for _, m := range past {
		if stays(m) {
			q.past = slices.DeleteFunc(q.past, func(x *refMessage) bool { return x == m })
			again := *m
			q.messages = inOrder(q.messages, &again)
			back++
		}
	}
	return back, settled
}

// target is where a seek goes: a time, or a snapshot.
type target struct {
	time     int64
	snapshot queue.Name
}

// seekTo is a seek as a Store is asked for it.
func (r *reference) seekTo(q *refQueue, to target) (back, settled int, err error) {
	if (to.time == 0) == (to.snapshot == queue.Name{}) {
		return 0, 0, queue.ErrDefinition
	}
	stays := func(m *refMessage) bool { return m.at >= to.time }
	if to.time == 0 {
		sn := r.snapshot(to.snapshot)
		switch {
		case sn == nil:
			return 0, 0, queue.ErrNotFound
		case sn.of != q.name:
			return 0, 0, queue.ErrDefinition
		}
		stays = sn.holds
	}
	back, settled = r.seek(q, stays)
	return back, settled, nil
}

// isAcross tells whether a snapshot is of another subscription of a queue's topic. The reference does not know which of
// their messages are the same, so nothing is sought so here; TestSeeksAcrossAreAsAModelHasThem of package queue does
// it.
func (r *reference) isAcross(q *refQueue, n queue.Name) bool {
	sn := r.snapshot(n)
	if sn == nil || sn.of == q.name || q.def.Topic == "" {
		return false
	}
	of := r.queue(sn.of)
	return of != nil && of.def.Topic == q.def.Topic
}

func (r *reference) snapshot(n queue.Name) *refSnapshot {
	for _, sn := range r.snapshots {
		if sn.name == n {
			return sn
		}
	}
	return nil
}

func (r *reference) takeSnapshot(n queue.Name, q *refQueue, life time.Duration, label string) (*refSnapshot, error) {
	if r.snapshot(n) != nil {
		return nil, queue.ErrSnapshot
	}
	if life == 0 {
		life = queue.DefaultSnapshotLife
	}
	sn := &refSnapshot{name: n, of: q.name, at: r.now, expire: r.now + life.Microseconds(), label: label,
		before: map[uint64]bool{}, next: q.next}
	for _, m := range q.messages {
		if m.seq == 0 {
			panic("a snapshot is taken of what nobody has seen")
		}
		sn.before[m.seq] = true
	}
	r.snapshots = append(r.snapshots, sn)
	r.wrote()
	return sn, nil
}

// forgetSnapshot ends a snapshot, by whoever; it tells whether there was one.
func (r *reference) forgetSnapshot(n queue.Name) bool {
	before := len(r.snapshots)
	r.snapshots = slices.DeleteFunc(slices.Clone(r.snapshots), func(sn *refSnapshot) bool { return sn.name == n })
	return len(r.snapshots) < before
}

// over are the snapshots whose life has ended: the Store deletes them by itself.
func (r *reference) over() (names []queue.Name) {
	for _, sn := range r.snapshots {
		if sn.expire <= r.now {
			names = append(names, sn.name)
		}
	}
	return names
}
