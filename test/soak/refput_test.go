package soak

import (
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// draft is a message to put, before any queue has it.
type draft struct {
	id       message.ID
	body     string
	n        int64
	s        string
	key      string
	dedup    string
	source   string // of its origin; "": none
	offset   uint64
	wake     int64
	expire   int64
	died     string
	tries    int
	beheaded bool
	blamed   bool
}

// delivery is some drafts for one name.
type delivery struct {
	to     queue.Name
	drafts []draft
}

// limits of a whole store.
type bounds struct{ messages, bytes int64 }

// full tells whether a message of that size is one too many.
func (r *reference) full(q *refQueue, size int64, b bounds) bool {
	messages, bytes := int64(0), r.ids
	for _, x := range r.queues {
		messages += int64(len(x.messages))
		bytes += x.bytes()
		for _, m := range r.kept(x) {
			messages++
			bytes += m.size
		}
	}
	d := q.def
	return d.MaxMessages > 0 && int64(len(q.messages)) >= d.MaxMessages || d.MaxBytes > 0 &&
		q.bytes()+size > d.MaxBytes ||
		messages >= b.messages || bytes+size > b.bytes
}

// idBytes is what deduplication ids, sources and snapshots count against the bound of the store: an id's text and a
// source's, and what remembering them and a source's places takes.
func (r *reference) idBytes() (n int64) {
	for _, q := range r.queues {
		for id, k := range q.dedup {
			if k.until > r.now {
				n += 120 + int64(len(id))
			}
		}
		for source, o := range q.origins {
			n += 200 + int64(len(source))
			for offset := range o.taken {
				if offset >= o.mark { // those before are known by the mark
					n += 32
				}
			}
		}
	}
	for _, sn := range r.snapshots {
		n += 64 * sn.pages()
	}
	return n
}

// known tells whether a queue had the draft before.
func (q *refQueue) known(d *draft, now int64) bool {
	if d.dedup != "" {
		if k, ok := q.dedup[d.dedup]; ok && k.until > now {
			return true
		}
	}
	if d.source != "" {
		if o := q.origins[d.source]; o != nil && (d.offset < o.mark || o.taken[d.offset]) {
			return true
		}
	}
	return false
}

// insert puts one draft into one queue; nil: it is a duplicate. Dead letters are never refused.
func (r *reference) insert(q *refQueue, d *draft, b bounds) (*refMessage, error) {
	if q.known(d, r.now) {
		return nil, nil
	}
	m := &refMessage{id: d.id, at: r.now, body: d.body, n: d.n, s: d.s, key: d.key, died: d.died, tries: d.tries,
		beheaded: d.beheaded, blamed: d.blamed}
	m.size = sizeOf(q, d)
	if d.died == "" && r.full(q, m.size, b) {
		return nil, queue.ErrQueueFull
	}
	m.wake = d.wake
	if m.wake == 0 && q.def.Delay > 0 {
		m.wake = r.now + q.def.Delay.Microseconds()
	}
	if m.wake <= r.now {
		m.wake = 0
	}
	m.expire = d.expire
	if q.def.Retention > 0 {
		if e := r.now + q.def.Retention.Microseconds(); m.expire == 0 || e < m.expire {
			m.expire = e
		}
	}
	if d.dedup != "" {
		q.dedup[d.dedup] = refDedup{d.id, r.now + q.window().Microseconds()}
	}
	if d.source != "" {
		o := q.origins[d.source]
		if o == nil {
			o = &refOrigin{taken: map[uint64]bool{}}
			q.origins[d.source] = o
		}
		o.taken[d.offset] = true
		o.mark = max(o.mark, markOf(d.offset))
	}
	q.messages = append(q.messages, m)
	q.put++
	r.wrote()
	return m, nil
}

// markOf is below which offset a source has nothing more to send: a little behind.
func markOf(offset uint64) uint64 { return offset - min(offset, 3) }

// deliver puts a group, whole or not at all.
func (r *reference) deliver(ds []delivery, only bool, b bounds, cs []choice) error {
	r.ids = r.idBytes()
	targets := make([][]*refQueue, len(ds))
	for i, dv := range ds {
		topic := r.topic(dv.to)
		if topic != nil && !only {
			for _, n := range topic.subs {
				targets[i] = append(targets[i], r.queue(n))
			}
		} else if q := r.queue(dv.to); q != nil {
			targets[i] = append(targets[i], q)
		} else {
			return queue.ErrNotFound
		}
		for _, d := range dv.drafts {
			for _, q := range targets[i] {
				if q.columns() && d.beheaded {
					return queue.ErrMismatch // nothing is no row
				}
			}
		}
	}
	for i, dv := range ds {
		for j := range dv.drafts {
			d := &dv.drafts[j]
			for _, q := range targets[i] {
				if r.topic(dv.to) != nil && !only && !cs[q.filter].match(&refMessage{n: d.n, s: d.s, key: d.key}) {
					continue
				}
				if _, err := r.insert(q, d, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// table are the columns of queues that have some.
func table() message.Columns {
	cs, err := message.ParseColumns([]string{"n int", "s varchar(20)", "text text"})
	if err != nil {
		panic(err)
	}
	return cs
}

func (d *draft) message() message.Message {
	m := message.Message{ID: d.id, Body: []byte(d.body), Key: d.key, Dedup: d.dedup, NotBefore: timeOf(d.wake),
		Expires: timeOf(d.expire)}
	if d.source != "" {
		m.Origin = message.Origin{Source: d.source, Offset: d.offset, Mark: markOf(d.offset)}
	}
	m.Attributes.Set("n", message.Int(d.n))
	m.Attributes.Set("s", message.String(d.s))
	return m
}

// sizeOf is what a draft counts in a queue.
func sizeOf(q *refQueue, d *draft) int64 {
	m := d.message()
	if q.columns() {
		row, err := q.def.Columns.FromJSON(m.Body)
		if err != nil {
			panic(err)
		}
		m.Row, m.Body = row, nil
	}
	return int64(m.Size())
}
