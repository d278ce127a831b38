package soak

import (
	"cmp"
	"slices"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// due is something that time brings.
type due struct {
	when int64
	q    *refQueue
	m    *refMessage
}

// nextDue is the first thing that has to happen by now, nil if nothing has.
func (r *reference) nextDue(now int64) *due {
	var found []due
	for _, q := range r.queues {
		for _, m := range q.messages {
			switch {
			case m.doomed != stays:
			case m.claimed && m.deadline != 0 && m.deadline <= now:
				found = append(found, due{m.deadline, q, m})
			case !m.claimed && m.expire != 0 && m.expire <= now:
				found = append(found, due{m.expire, q, m})
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b due) int {
		return cmp.Or(cmp.Compare(a.when, b.when), cmp.Compare(a.m.seq, b.m.seq))
	})
	return &found[0]
}

// tick lets time go on to now and does what it makes due, in its order: leases end, messages expire. before is called
// ahead of each.
func (r *reference) tick(now int64, before func()) {
	now = max(now, r.now) // time never runs backwards
	for d := r.nextDue(now); d != nil; d = r.nextDue(now) {
		before()
		r.now = max(r.now, d.when)
		if d.m.claimed {
			r.back(d.q, d.m, 0, false)
		} else {
			d.m.doomed = late
		}
	}
	r.now = now
}

// conclude removes what is doomed, as a Store with room on its disk does at once.
func (r *reference) conclude() {
	said := r.said
	defer func() { r.said = said }()     // the store did it when it was due, which may have been before now
	for i := 0; i < len(r.queues); i++ { // burying may add a queue
		q := r.queues[i]
		for _, m := range slices.Clone(q.messages) {
			switch m.doomed {
			case late:
				q.remove(m)
				q.expired++
			case spent:
				r.bury(q, m).at = 0 // or since
			}
		}
	}
}

// restart is what the end of a process and the next start change. now is what the store found the time to be. With
// hampered it may be unable to do what has become due.
func (r *reference) restart(now int64, hampered bool) {
	r.now, r.said = now, now
	for _, q := range r.queues {
		for _, m := range q.messages {
			if m.doomed != stays || m.claimed && m.owner != 0 {
				m.doomed, m.claimed = stays, false
			}
			if !m.claimed && q.spent(m) {
				m.doomed = spent
			}
		}
	}
	r.tick(now, func() {})
	if !hampered {
		r.conclude()
	}
}

func (r *reference) create(n queue.Name, d queue.Definition, filter int) *refQueue {
	q := &refQueue{name: n, def: d, filter: filter, next: 1, dedup: map[string]refDedup{},
		origins: map[string]*refOrigin{}}
	r.queues = append(r.queues, q)
	r.wrote()
	if d.Topic != "" {
		t := r.topic(name(d.Topic))
		t.subs = append(t.subs, n)
	}
	return q
}

func (r *reference) drop(n queue.Name) {
	r.wrote()
	r.queues = slices.DeleteFunc(r.queues, func(q *refQueue) bool { return q.name == n })
	r.snapshots = slices.DeleteFunc(slices.Clone(r.snapshots), func(sn *refSnapshot) bool { return sn.of == n })
	for _, t := range r.topics {
		t.subs = slices.DeleteFunc(t.subs, func(s queue.Name) bool { return s == n })
	}
}

func (r *reference) dropTopic(n queue.Name) {
	r.wrote()
	t := r.topic(n)
	for _, s := range t.subs {
		q := r.queue(s)
		q.def.Topic, q.def.Filter, q.filter = "", "", 0
	}
	r.topics = slices.DeleteFunc(r.topics, func(x *refTopic) bool { return x == t })
}

func (r *reference) purge(q *refQueue) int {
	r.wrote()
	n := len(q.messages)
	q.purged += uint64(n)
	for _, m := range slices.Clone(q.messages) {
		r.retire(q, m)
	}
	q.past = slices.DeleteFunc(slices.Clone(q.past), func(m *refMessage) bool { return !r.isHeld(q, m) })
	return n
}

// replay sends a queue's dead letters back to where they came from, or to a given queue.
func (r *reference) replay(q *refQueue, where choice, most int, to queue.Name, b bounds) (moved, homeless int,
	err error) {
	var going []*refMessage
	var ds []delivery
	for _, m := range q.messages {
		if m.claimed || m.doomed != stays || !where.match(m) || most > 0 && len(going) >= most {
			continue
		}
		target := to
		if target == (queue.Name{}) && m.died != "" {
			target = name(m.died)
		}
		if target == (queue.Name{}) || target == q.name || m.unsound {
			homeless++
			continue
		}
		going = append(going, m)
		ds = append(ds, delivery{target,
			[]draft{{id: m.id, body: m.body, n: m.n, s: m.s, key: m.key, beheaded: m.beheaded}}})
	}
	if len(going) == 0 {
		return 0, homeless, nil
	}
	if err := r.deliver(ds, true, b, nil); err != nil {
		return 0, homeless, err
	}
	for _, m := range going {
		q.remove(m)
	}
	return len(going), homeless, nil
}
