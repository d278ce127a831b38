package file

import "bytes"

// stretchBytes is how much of what was asked for together is handed out in one piece of memory: whoever keeps one of
// the records keeps that piece.
const stretchBytes = 32 << 10

// stretch is records of one group that were asked for together and lie one behind the other: their heads are copied as
// one piece, and so are their bodies. For a batch of a thousand messages that is a few dozen allocations.
type stretch struct {
	s           *segment // nil: none
	group       int64
	first, last uint32 // indexes
	heads       []byte
	bodies      []byte
	head, body  int64 // where they begin in the group
}

func (t *stretch) has(p *spot) bool {
	return t.s == p.s && t.s != nil && t.group == p.group && t.first <= p.index && p.index <= t.last
}

// take returns the head and the body of a record of the stretch. They are the caller's: who asks again gets others.
func (t *stretch) take(index uint32, e *entry) (head, body []byte) {
	t.first = index + 1
	h, b := int(e.head-t.head), int(e.body-t.body)
	return t.heads[h : h+e.headLen : h+e.headLen], t.bodies[b : b+e.bodyLen : b+e.bodyLen]
}

// copyStretch copies the record of a place, of which the table is loaded, and those behind it that are asked for next.
func (r *reader) copyStretch(p *spot) error {
	first, last := &r.t.entries[p.index], p.index
	for i := range r.next {
		n := &r.next[i]
		if n.s != p.s || n.group != p.group || n.index != last+1 || int(n.index) >= len(r.t.entries) {
			break
		}
		if e := &r.t.entries[n.index]; e.headEnd()-first.head+e.bodyEnd()-first.body > stretchBytes {
			break
		}
		last++
	}
	err := r.copyRecords(p, last)
	if err != nil && last > p.index { // what cannot be read may be another one's
		err = r.copyRecords(p, p.index)
	}
	return err
}

// copyRecords copies the records from a place up to an index.
func (r *reader) copyRecords(p *spot, last uint32) error {
	r.got = stretch{}
	from, to := &r.t.entries[p.index], &r.t.entries[last]
	t := stretch{s: p.s, group: p.group, first: p.index, last: last, head: from.head, body: from.body}
	var err error
	if t.bodies, err = r.bytes(p.s, p.group+from.body, to.bodyEnd()-from.body, p.group+r.t.header.length); err != nil {
		return err
	}
	t.heads = bytes.Clone(r.t.meta[from.head:to.headEnd()])
	r.got = t
	return nil
}

// bytes returns a copy of n bytes of a segment, read through the window when they are few.
func (r *reader) bytes(s *segment, offset, n, limit int64) ([]byte, error) {
	if n == 0 {
		return []byte{}, nil
	}
	if n > windowBytes/4 {
		b := make([]byte, n)
		return b, s.readAt(b, offset)
	}
	r.w.expect(s, offset)
	b, err := r.w.bytes(offset, n, max(limit, min(offset+r.w.ahead, s.size)))
	return bytes.Clone(b), err // which leaves no zeros to be written before
}
