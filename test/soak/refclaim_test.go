package soak

import (
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// wish is one entry of a claim's From.
type wish struct {
	queue queue.Name
	where int // index in choices
}

// want is a claim.
type want struct {
	from       []wish
	max, bytes int
	lease      time.Duration
	owner      int // 0: none
	claimant   int
}

// handed is what a claim gives.
type handed struct {
	from    int
	q       *refQueue
	m       *refMessage
	unsound bool // it is not delivered, but set aside
}

// claim hands out what w asks for.
func (r *reference) claim(w *want, cs []choice) (got []handed) {
	bytes := int64(0)
	for i, f := range w.from {
		q := r.queue(f.queue)
		for len(got) < w.max {
			m := q.oldest(cs[f.where].match, w.claimant, r.now)
			if m == nil {
				break
			}
			if len(got) > 0 && w.bytes > 0 && bytes+m.size > int64(w.bytes) {
				return got
			}
			if q.spent(m) { // the bound was lowered while it waited
				m.doomed = spent
				continue
			}
			bytes += m.size
			lease := w.lease
			if lease == 0 && w.owner == 0 {
				lease = q.lease()
			}
			m.claimed, m.owner, m.claimant, m.token, m.deadline = true, w.owner, w.claimant, queue.Token{}, 0
			if lease > 0 {
				m.deadline = r.now + lease.Microseconds()
			}
			m.wake, m.retry = 0, false
			m.attempts++
			r.wrote()
			got = append(got, handed{i, q, m, m.unsound})
		}
	}
	return got
}

func (q *refQueue) oldest(match func(*refMessage) bool, claimant int, now int64) *refMessage {
	for _, m := range q.messages {
		if q.free(m, claimant, now) && match(m) {
			return m
		}
	}
	return nil
}

func (q *refQueue) spent(m *refMessage) bool {
	return q.def.MaxAttempts > 0 && m.attempts >= q.def.MaxAttempts
}

// behind are the claimed messages of m's key after it, last first.
func (q *refQueue) behind(m *refMessage) (later []*refMessage) {
	if m.key == "" || q.def.Unordered {
		return nil
	}
	after := false
	for _, x := range q.messages {
		if after && x.key == m.key && x.claimed && x.doomed == stays {
			later = append(later, x)
		}
		after = after || x == m
	}
	slices.Reverse(later)
	return later
}

// back ends a claim and those behind it of its key, whose hand-outs did not count.
func (r *reference) back(q *refQueue, m *refMessage, wake int64, uncounted bool) {
	for _, x := range q.behind(m) {
		r.backAlone(q, x, 0, true)
	}
	r.backAlone(q, m, wake, uncounted)
}

func (r *reference) backAlone(q *refQueue, m *refMessage, wake int64, uncounted bool) {
	m.claimed = false
	if uncounted && m.attempts > 0 {
		m.attempts--
	}
	if wake > r.now {
		m.wake, m.retry = wake, true
	}
	if !uncounted && q.spent(m) {
		m.doomed = spent
	}
}

// end is one settlement.
type end struct {
	token     queue.Token
	kind      queue.SettleKind
	delay     time.Duration
	uncounted bool
}

// settle ends a claim; it tells whether there was one.
func (r *reference) settle(e *end) bool {
	q, m := r.held(e.token)
	if m == nil {
		return false
	}
	r.wrote()
	switch e.kind {
	case queue.Done:
		r.retire(q, m)
		q.done++
	case queue.Back:
		wake := int64(0)
		if e.delay > 0 {
			wake = r.now + e.delay.Microseconds()
		}
		r.back(q, m, wake, e.uncounted)
	case queue.Dead:
		r.bury(q, m)
	}
	return true
}

// bury makes a message a dead letter.
func (r *reference) bury(q *refQueue, m *refMessage) (letter *refMessage) {
	r.retire(q, m)
	q.dead++
	d := draft{id: m.id, body: m.body, n: m.n, s: m.s, key: m.key, died: q.name.String(), tries: m.attempts,
		beheaded: m.beheaded}
	if m.unsound {
		d.body, d.beheaded, d.blamed = "", true, true
	}
	letter, _ = r.insert(r.grave(q), &d, bounds{}) // dead letters are not refused
	return letter
}

// grave is the dead-letter queue of a queue, made if there is none.
func (r *reference) grave(q *refQueue) *refQueue {
	n := graveOf(q)
	if g := r.queue(n); g != nil {
		return g
	}
	return r.create(n, queue.Definition{}, 0)
}

func graveOf(q *refQueue) queue.Name {
	if q.def.DeadLetter != "" {
		return name(q.def.DeadLetter)
	}
	return name(q.name.Name + "_dead")
}

// close ends an owner: everything it holds goes back, each for itself.
func (r *reference) close(owner int) {
	for _, q := range r.queues {
		for _, m := range slices.Backward(q.messages) {
			if m.claimed && m.owner == owner && m.doomed == stays {
				r.backAlone(q, m, 0, false)
			}
		}
	}
}
