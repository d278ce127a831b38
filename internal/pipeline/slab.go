package pipeline

import (
	"bytes"
	"context"

	"github.com/hikyaku/hikyaku/internal/component"
	trace "github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// SendSlab is Send for several messages. They are journeys of their own, and share locks and memory as long as nothing
// happens to one of them alone.
func (e *entry) SendSlab(ctx context.Context, s component.Slab) (taken int, err error) {
	js := make([]journey, len(s.Messages))
	var few [component.SlabMessages]int
	sizes := few[:0]
	for i := range s.Messages {
		sizes = append(sizes, s.Messages[i].Size())
	}
	for taken < len(js) {
		n, err := e.admit(ctx, sizes[taken:]...)
		if err != nil {
			return taken, err
		}
		for i := range n {
			j, m := &js[taken+i], &s.Messages[taken+i]
			*j = journey{p: e.p, entry: e, delivery: component.Delivery{Message: m}, slab: s.Settle, place: taken + i,
				root: m, size: sizes[taken+i]}
		}
		e.beginSlab(js[taken : taken+n])
		taken += n
	}
	return taken, nil
}

// beginSlab sends journeys on their way.
func (e *entry) beginSlab(js []journey) {
	to := e.node.outs[""]
	now := e.p.options.Clock()
	var copies []message.Message // for a sink, which gets messages that are nobody else's
	if len(to) == 1 && to[0].kind == KindSink {
		copies = make([]message.Message, len(js))
	}
	on := carrier{p: e.p, from: e.node}
	for i := range js {
		j, m := &js[i], js[i].root
		if m.ID.IsZero() {
			m.ID = message.NewID()
		}
		if m.Hops[message.Accepted] == 0 {
			m.Hops.Mark(message.Accepted, now)
		}
		if len(to) != 1 || m.Only != "" {
			on.put()
			e.begin(j)
			continue
		}
		e.p.tap(e.node, trace.Out, m)
		j.left.Store(1)
		j.first = part{j: j, msg: m, size: j.size}
		if copies != nil {
			copies[i] = *m
			j.first.msg, j.first.own = &copies[i], true
		}
		on.add(&j.first, to[0], 0)
	}
	on.put()
}

// carrier brings parts to the step behind the one that made them: those that go the same way next to each other,
// together.
type carrier struct {
	p        *Pipeline
	from, to *node
	parts    []*part
	account  *account
	bytes    int // that they count more than before
	now      int64
	origin   memo
	way      memo
}

// memo is the last answer of partOf: messages that come together are mostly from like places.
type memo struct {
	parent, part uint64
	known        bool
}

func (o *memo) of(parent uint64, step string) uint64 {
	if !o.known || o.parent != parent {
		o.parent, o.part, o.known = parent, partOf(parent, step, 0), true
	}
	return o.part
}

// take lets a part become the one message that was made of it, if it is one, for one step. Nothing is left then of what
// it was.
func (c *carrier) take(q *part, outs []emitted) bool {
	if len(outs) != 1 {
		return false
	}
	to := c.from.outs[outs[0].port]
	if len(to) != 1 || !q.j.allows(to[0]) {
		return false
	}
	m := outs[0].msg
	if m == q.msg {
		same := *m
		m = &same
	}
	inherit(m, q.msg, c.origin.of(q.msg.Origin.Part, c.from.Name), 0)
	size := m.Size()
	extra, bytes := 0, max(0, size-q.j.size)
	if q.extra > 0 {
		extra, bytes = 1, size
	}
	more := bytes - q.bytes
	*q = part{j: q.j, msg: m, own: true, size: size, extra: extra, bytes: bytes, way: c.way.of(q.way, c.from.Name)}
	c.from.out.Add(1)
	c.p.tap(c.from, trace.Out, m)
	c.add(q, to[0], more)
	return true
}

// add takes a part for a step, behind those before it. It counts so many bytes more than before.
func (c *carrier) add(q *part, to *node, more int) {
	if to != c.to || q.j.entry.account != c.account {
		c.put()
		c.to, c.account = to, q.j.entry.account
	}
	if to.kind == KindSink {
		if c.now == 0 {
			c.now = c.p.options.Clock().UnixNano()
		}
		q.msg.Hops[message.Transformed] = c.now
		q.msg.Only = "" // it is on its way there; further on it is a message like any other
	}
	c.bytes += more
	c.parts = append(c.parts, q)
}

// put gives the step what was taken for it.
func (c *carrier) put() {
	if len(c.parts) == 0 {
		return
	}
	if c.bytes != 0 {
		c.p.budget.addMade(c.account, 0, c.bytes)
		c.bytes = 0
	}
	c.to.in.Add(uint64(len(c.parts)))
	if c.p.options.Taps.On() {
		for _, q := range c.parts {
			c.p.tap(c.to, trace.In, q.msg)
		}
	}
	c.to.stage.push(c.parts...)
	clear(c.parts)
	c.parts = c.parts[:0]
}

// alone takes a part that will be here for long out of the slab that its journey is of, so that the others can be
// forgotten. It needs to be the last part of its journey; else it stays what it is.
func (q *part) alone() *part {
	j := q.j
	if q != &j.first || j.slab == nil || j.left.Load() != 1 {
		return q
	}
	own := func(m *message.Message) *message.Message {
		m = m.Clone()
		m.Body = bytes.Clone(m.Body)
		return m
	}
	sent := own(j.delivery.Message)
	a := &journey{
		p: j.p, entry: j.entry, delivery: j.delivery, slab: j.slab, place: j.place, root: sent, size: j.size,
		only: j.only, above: j.above,
		buried: j.buried, back: j.back, waived: j.waived, seen: j.seen,
	}
	a.delivery.Message = sent
	a.left.Store(1)
	a.first = *q
	a.first.j = a
	for seen := a.seen; seen != nil; seen = seen.next {
		if seen.msg == j.root {
			seen.msg = sent
		}
	}
	if q.msg == j.root {
		a.first.msg = sent
	} else {
		a.first.msg = own(q.msg)
	}
	return &a.first
}
