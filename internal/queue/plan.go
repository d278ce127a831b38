package queue

import (
	"fmt"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/message"
)

// plan turns one Change's puts into events, under the Store's lock. It numbers messages and counts what it reserves;
// giveBack ends that.
type plan struct {
	s       *state
	now     int64
	draft   *draft
	own     *ownPuts // nil: no put of its own can have a duplicate
	blocker *draft   // a duplicate is on its way to the journal: wait for it and plan again
	held    []reservation
	one     [1]reservation // room for the usual change

	counts []counted // totals to raise when it is done
}

// ownPuts is what a plan's own puts are known by.
type ownPuts struct {
	taken map[string]PutResult // by deduplication ids and origins
	marks map[originOf]uint64  // what they say of their sources
}

// remember notes what a put of the plan will be known by.
func (p *plan) remember(q *queueState, o *message.Origin, keys []string, r PutResult) {
	marked := o.Mark > 0 && o.Source != ""
	if !marked && len(keys) == 0 {
		return
	}
	if p.own == nil {
		p.own = &ownPuts{map[string]PutResult{}, map[originOf]uint64{}}
	}
	if marked {
		k := originOf{q, o.Source}
		p.own.marks[k] = max(p.own.marks[k], o.Mark)
	}
	for _, k := range keys {
		p.own.taken[k] = r
		p.draft.keys = append(p.draft.keys, k)
	}
}

// counted is a total that no event tells of: of a queue its duplicates, of a topic what nobody subscribed to.
type counted struct {
	queue *queueState
	topic *topicState
}

// originOf is a source as a queue sees it.
type originOf struct {
	queue  *queueState
	source string
}

// reservation is what a plan counts against the bounds of a queue and of the store until its fate is known.
type reservation struct {
	q               *queueState // nil: notes, which count against the store's memory only
	messages, bytes int64
	resident        int64
}

// dedupKeys are what identifies m as a duplicate in q.
func dedupKeys(q *queueState, m *message.Message) (keys []string) {
	if m.Dedup == "" && m.Origin.Source == "" {
		return nil
	}
	id := strconv.FormatUint(uint64(q.id), 16)
	if m.Dedup != "" {
		keys = append(keys, "d"+id+":"+m.Dedup)
	}
	if o := &m.Origin; o.Source != "" {
		keys = append(keys, fmt.Sprintf("o%s:%x:%x:%s", id, o.Offset, o.Part, o.Source))
	}
	return keys
}

// known looks for an earlier put of the same message.
func (p *plan) known(q *queueState, m *message.Message, keys []string) (PutResult, bool) {
	if m.Dedup != "" {
		if r, ok := q.duplicateOf(m.Dedup, p.now); ok {
			return PutResult{ID: r.id, Sequence: r.seq, Duplicate: true}, true
		}
	}
	o := &m.Origin
	if o.Source != "" && q.tookBefore(o) {
		return PutResult{Duplicate: true}, true
	}
	if own := p.own; own != nil {
		if o.Source != "" && o.Offset < own.marks[originOf{q, o.Source}] {
			return PutResult{Duplicate: true}, true
		}
		for _, k := range keys {
			if r, ok := own.taken[k]; ok {
				return PutResult{ID: r.ID, Sequence: r.Sequence, Duplicate: true}, true
			}
		}
	}
	for _, k := range keys {
		if f := p.s.pending[k]; f != nil {
			p.blocker = f
		}
	}
	return PutResult{}, false
}

// number gives m its place in q, unless it is a duplicate or q is full. exempt puts, of dead letters, are never
// refused.
func (p *plan) number(q *queueState, m *message.Message, size int, exempt bool) (PutResult, error) {
	keys := dedupKeys(q, m)
	if r, ok := p.known(q, m, keys); ok {
		p.counts = append(p.counts, counted{queue: q})
		return r, nil
	}
	resident := residentOf(m, size)
	if !exempt {
		if err := p.fits(q, size, resident); err != nil {
			return PutResult{}, err
		}
	}
	q.touch()
	r := PutResult{ID: m.ID, Sequence: q.next}
	q.next++ // a number is not given back: gaps are normal
	q.reserved++
	q.reservedBytes += int64(size)
	p.s.reserved++
	p.s.reservedBytes += int64(size)
	p.s.reservedResident += resident
	h := p.hold(q)
	h.messages++
	h.bytes += int64(size)
	h.resident += resident
	p.remember(q, &m.Origin, keys, r)
	return r, nil
}

// hold returns the reservation for q, which may be that of the put before.
func (p *plan) hold(q *queueState) *reservation {
	if p.held == nil {
		p.held = p.one[:0]
	}
	if n := len(p.held); n == 0 || p.held[n-1].q != q {
		p.held = append(p.held, reservation{q: q})
	}
	return &p.held[len(p.held)-1]
}

// fits checks the bounds of the queue and the store.
func (p *plan) fits(q *queueState, size int, resident int64) error {
	held, heldBytes := int64(q.all.Len())+q.reserved, q.bytes+q.reservedBytes
	switch {
	case q.def.MaxMessages > 0 && held >= q.def.MaxMessages:
		return &FullError{q.name, "messages", q.def.MaxMessages}
	case q.def.MaxBytes > 0 && heldBytes+int64(size) > q.def.MaxBytes:
		return &FullError{q.name, "bytes", q.def.MaxBytes}
	}
	return p.fitsStore(size, resident)
}

// residentOf is about what a message of a size will take in memory.
func residentOf(m *message.Message, size int) int64 { return rowResident + int64(size-len(m.Body)) }

// fitsStore checks the bounds of the store.
func (p *plan) fitsStore(size int, resident int64) error {
	switch {
	case p.s.messages+p.s.reserved >= p.s.limits.Messages:
		return &FullError{Name{}, "messages", p.s.limits.Messages}
	case p.bytes()+int64(size) <= p.s.limits.Bytes && p.remembers(resident):
		return nil
	}
	p.s.forgetDue(forgetAtOnce) // ids whose window has ended go when they are in the way
	if p.bytes()+int64(size) > p.s.limits.Bytes {
		return &FullError{Name{}, "bytes", p.s.limits.Bytes}
	}
	return p.fitsMemory(resident)
}

// fitsMemory checks the bound of what is kept in memory.
func (p *plan) fitsMemory(resident int64) error {
	if !p.remembers(resident) {
		return &FullError{Name{}, "bytes of memory", p.s.limits.Memory}
	}
	return nil
}

// remembers tells whether what is kept in memory leaves room for so many bytes more.
func (p *plan) remembers(resident int64) bool {
	return p.s.limits.Memory == 0 || p.s.resident+p.s.reservedResident+p.s.idBytes+resident <= p.s.limits.Memory
}

// bytes is what counts against the store's limit of bytes.
func (p *plan) bytes() int64 { return p.s.bytes + p.s.reservedBytes + p.s.idBytes }

// times are the journaled times of a put of m into q.
func (p *plan) times(q *queueState, m *message.Message) (wake, expire, dedup int64) {
	wake = p.s.time.moment(microsOf(m.NotBefore), p.now)
	if wake == 0 && q.def.Delay > 0 {
		wake = p.now + q.def.Delay.Microseconds()
	}
	if wake <= p.now {
		wake = 0
	}
	expire = p.s.time.moment(microsOf(m.Expires), p.now)
	if q.def.Retention > 0 {
		if e := p.now + q.def.Retention.Microseconds(); expire == 0 || e < expire {
			expire = e
		}
	}
	if m.Dedup != "" {
		dedup = p.now + q.def.dedupWindow().Microseconds()
	}
	return wake, expire, dedup
}

// put plans one message for one queue.
func (p *plan) put(q *queueState, m *message.Message, exempt bool) (PutResult, error) {
	size := m.Size()
	r, err := p.number(q, m, size, exempt)
	if err != nil || r.Duplicate {
		return r, err
	}
	wake, expire, dedup := p.times(q, m)
	e, head := p.draft.newPut(m)
	*e = put{queue: q.id, seq: r.Sequence, size: uint32(size), wake: wake, expire: expire, dedup: dedup,
		origin: m.Origin,
		head:   appendHead(head, m), body: bodyPart(m)}
	p.draft.add(e)
	return r, nil
}

// publish plans the message at an index of a put for all subscriptions of a topic. The body is kept once, but for
// queues with columns, which keep a row of their own.
func (p *plan) publish(pp *preparedPut, m *message.Message, at int) (PutResult, error) {
	t := pp.topic
	if t.subscribed.Len() == 0 {
		if p.s.limits.RequireSubscription {
			return PutResult{}, fmt.Errorf("%w: topic %s", ErrUnheard, t.name.Short())
		}
		p.counts = append(p.counts, counted{topic: t})
		return PutResult{ID: m.ID, Unheard: true}, nil
	}
	c := copying{plan: p, topic: t, message: m, size: m.Size(), body: -1, rows: pp.rows, at: at,
		filters: pp.filters.met, result: PutResult{ID: m.ID, Duplicate: true}}
	var err error
	t.subscribed.all.Scan(func(_ uint32, q *queueState) bool {
		err = c.copyFor(q)
		return err == nil
	})
	if err != nil {
		return PutResult{}, err
	}
	return c.result, nil
}

// copying is one message on its way to the subscriptions of a topic.
type copying struct {
	plan    *plan
	topic   *topicState // nil: it is a dead letter
	message *message.Message
	size    int
	body    int                               // index of the record that has it; -1: nobody needs one yet
	rows    map[*queueState][][]message.Value // of queues with columns, the message's at its place
	filters map[*queueState]metFilter         // nil: none was asked yet
	at      int
	result  PutResult
}

// copyFor plans what one subscription gets.
func (c *copying) copyFor(q *queueState) error {
	if q.def.Columns != nil {
		return c.rowFor(q)
	}
	m := c.message
	if !c.goesTo(q, m) {
		c.result.Duplicate = false
		return nil
	}
	r, err := c.share(q)
	switch {
	case err != nil:
		return err
	case r.Duplicate:
		if c.result.Duplicate && r.ID != (message.ID{}) {
			c.result.ID = r.ID
		}
		return nil
	case c.result.Duplicate:
		c.result.Duplicate, c.result.ID = false, m.ID
	}
	return nil
}

// share plans the message for a queue without columns, behind the record that has it for all of these.
func (c *copying) share(q *queueState) (PutResult, error) {
	p, m := c.plan, c.message
	r, err := p.number(q, m, c.size, c.topic == nil)
	if err != nil || r.Duplicate {
		return r, err
	}
	if c.body < 0 {
		e := &shared{head: appendHead(nil, m), body: m.Body}
		if t := c.topic; t != nil {
			t.touch(&p.s.saves)
			t.publishes++
			e.topic, e.number = t.id, t.publishes
		}
		c.body = p.draft.add(e)
	}
	wake, expire, dedup := p.times(q, m)
	p.draft.add(&share{queue: q.id, seq: r.Sequence, index: uint32(c.body), size: uint32(c.size), wake: wake,
		expire: expire, dedup: dedup, origin: m.Origin})
	return r, nil
}

// rowFor is copyFor for a subscription with columns.
func (c *copying) rowFor(q *queueState) error {
	own := *c.message
	own.Row, own.Body = c.rows[q][c.at], nil
	if !c.goesTo(q, &own) {
		c.result.Duplicate = false
		return nil
	}
	r, err := c.plan.put(q, &own, false)
	c.result.Duplicate = c.result.Duplicate && r.Duplicate
	return err
}

// count raises the totals that no event tells of.
func (p *plan) count() {
	for _, c := range p.counts {
		if c.queue != nil {
			c.queue.touch()
			c.queue.duplicate++
		} else {
			c.topic.touch(&p.s.saves)
			c.topic.dropped++
		}
	}
}

// giveBack ends the reservation: what was kept counts by itself, what was not is gone.
func (p *plan) giveBack() {
	for _, h := range p.held {
		if h.q != nil {
			h.q.reserved -= h.messages
			h.q.reservedBytes -= h.bytes
		}
		p.s.reserved -= h.messages
		p.s.reservedBytes -= h.bytes
		p.s.reservedResident -= h.resident
	}
	p.held = nil
}
