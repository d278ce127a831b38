package soak

import (
	"maps"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// reference is what a Store should hold: lists, looked through from the front. It does no I/O and knows no time but
// what it is told.
type reference struct {
	now    int64 // µs
	said   int64 // the time of the last thing that was surely written down
	writes int   // how many such things there were
	ids    int64 // bytes of deduplication ids when the present group began
	queues []*refQueue
	topics []*refTopic
	notes  map[string]string

	snapshots []*refSnapshot
}

type refTopic struct {
	name queue.Name
	subs []queue.Name // in the order of subscription
}

type refQueue struct {
	name     queue.Name
	def      queue.Definition
	filter   int // index in conditions
	messages []*refMessage
	past     []*refMessage // settled ones, see retire
	next     uint64        // every sequence seen so far is less
	dedup    map[string]refDedup
	origins  map[string]*refOrigin

	put, done, dead, expired, purged uint64
}

type refDedup struct {
	id    message.ID
	until int64
}

type refOrigin struct {
	mark  uint64
	taken map[uint64]bool
}

// refMessage is a message in a queue. body is its JSON, whether the queue has columns or not.
type refMessage struct {
	id       message.ID
	seq      uint64 // 0: the Store gave it one that nobody has seen yet
	at       int64  // when it was put; 0: nobody has seen yet when the Store did that by itself
	body     string
	n        int64
	s        string
	key      string
	size     int64
	attempts int

	wake   int64 // sleeps until then; 0 once it was handed out
	retry  bool  // sleeps because it was put back: it holds up its key
	expire int64 // 0: never

	claimed  bool
	deadline int64 // 0: its owner's life
	owner    int   // 0: none
	claimant int
	token    queue.Token // zero: nobody was told

	doomed ending // it is on its way out, nobody can have it

	died     string // of a dead letter: the queue it came from
	tries    int    // of a dead letter: how often it had been handed out
	unsound  bool   // its body is damaged
	beheaded bool   // its body was damaged when it became a dead letter, and is gone
	blamed   bool   // of a dead letter: that is why, and the reason says so
}

// ending is why the Store removes a message by itself.
type ending uint8

const (
	stays ending = iota
	spent        // handed out too often
	late         // expired
)

// choice is a condition, and what it says of a message.
type choice struct {
	text  string
	where *condition.Expr
	match func(*refMessage) bool
}

// choices are the conditions that claims, filters and replays use. The first is none.
func choices() []choice {
	cs := []choice{
		{"", nil, func(*refMessage) bool { return true }},
		{"n = 0", nil, func(m *refMessage) bool { return m.n == 0 }},
		{"n >= 1", nil, func(m *refMessage) bool { return m.n >= 1 }},
		{"n in (0, 2)", nil, func(m *refMessage) bool { return m.n == 0 || m.n == 2 }},
		{"s = 'a'", nil, func(m *refMessage) bool { return m.s == "a" }},
		{"n < 2 and s != 'b'", nil, func(m *refMessage) bool { return m.n < 2 && m.s != "b" }},
		{"s = 'c' or n between 1 and 2", nil, func(m *refMessage) bool { return m.s == "c" || m.n == 1 || m.n == 2 }},
		{"n % 2 = 1", nil, func(m *refMessage) bool { return m.n%2 == 1 }}, // no index serves it
		{"attempts >= 1", nil, func(m *refMessage) bool { return m.attempts >= 1 }},
		{"key = 'k1'", nil, func(m *refMessage) bool { return m.key == "k1" }},
	}
	for i := range cs[1:] {
		where, err := condition.Parse(cs[i+1].text)
		if err != nil {
			panic(err)
		}
		cs[i+1].where = where
	}
	return cs
}

// lasting conditions ask nothing that changes while a message waits.
const lasting = 8

func newReference(now int64) *reference { return &reference{now: now, notes: map[string]string{}} }

// clone copies everything that changes.
func (r *reference) clone() *reference {
	c := &reference{now: r.now, said: r.said, writes: r.writes, notes: maps.Clone(r.notes),
		snapshots: slices.Clone(r.snapshots)}
	for _, t := range r.topics {
		c.topics = append(c.topics, &refTopic{t.name, append([]queue.Name(nil), t.subs...)})
	}
	for _, q := range r.queues {
		d := *q
		d.dedup = maps.Clone(q.dedup)
		d.origins = make(map[string]*refOrigin, len(q.origins))
		for s, o := range q.origins {
			d.origins[s] = &refOrigin{o.mark, maps.Clone(o.taken)}
		}
		d.past = slices.Clone(q.past)
		d.messages = make([]*refMessage, len(q.messages))
		slab := make([]refMessage, len(q.messages))
		for i, m := range q.messages {
			slab[i] = *m
			d.messages[i] = &slab[i]
		}
		c.queues = append(c.queues, &d)
	}
	return c
}

// wrote says that something was written down.
func (r *reference) wrote() {
	r.said = r.now
	r.writes++
}

func (r *reference) queue(n queue.Name) *refQueue {
	for _, q := range r.queues {
		if q.name == n {
			return q
		}
	}
	return nil
}

func (r *reference) topic(n queue.Name) *refTopic {
	for _, t := range r.topics {
		if t.name == n {
			return t
		}
	}
	return nil
}

// held is the message of a token, if the claim still holds.
func (r *reference) held(t queue.Token) (*refQueue, *refMessage) {
	for _, q := range r.queues {
		for _, m := range q.messages {
			if m.claimed && m.doomed == stays && m.token == t && t != (queue.Token{}) &&
				(m.deadline == 0 || m.deadline > r.now) {
				return q, m
			}
		}
	}
	return nil, nil
}

func (q *refQueue) columns() bool { return q.def.Columns != nil }
func (q *refQueue) lease() time.Duration {
	if q.def.Lease == 0 {
		return queue.DefaultLease
	}
	return q.def.Lease
}

func (q *refQueue) window() time.Duration {
	if q.def.DedupWindow == 0 {
		return queue.DefaultDedupWindow
	}
	return q.def.DedupWindow
}

func (q *refQueue) bytes() (n int64) {
	for _, m := range q.messages {
		n += m.size
	}
	return n
}

func (q *refQueue) remove(m *refMessage) {
	for i, x := range q.messages {
		if x == m {
			q.messages = append(q.messages[:i:i], q.messages[i+1:]...)
			return
		}
	}
}

// first is the message of a key that has to leave next, for a claimant.
func (q *refQueue) first(key string, claimant int, now int64) *refMessage {
	for _, m := range q.messages {
		switch {
		case m.key != key:
		case m.doomed != stays:
			return nil
		case m.claimed && (claimant == 0 || m.claimant != claimant):
			return nil
		case m.claimed, m.wake > now && !m.retry:
		case m.wake > now:
			return nil
		default:
			return m
		}
	}
	return nil
}

// free tells whether a claimant may have m now.
func (q *refQueue) free(m *refMessage, claimant int, now int64) bool {
	if m.claimed || m.doomed != stays || m.wake > now {
		return false
	}
	return m.key == "" || q.def.Unordered || q.first(m.key, claimant, now) == m
}

func (q *refQueue) state(m *refMessage, now int64) queue.MessageState {
	switch {
	case m.claimed || m.doomed != stays:
		return queue.Claimed
	case m.wake > now:
		return queue.Delayed
	case q.free(m, 0, now):
		return queue.Ready
	}
	return queue.Waiting
}
