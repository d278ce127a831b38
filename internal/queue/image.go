package queue

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// An image is what a checkpoint keeps of a page: its messages whole, or, when a record of the journal holds them (see
// paged), that record's address, which of them are still needed, and what has changed of some.

// Flags of a message in an image: what follows its row, and, behind savedMutable, what can change.
const (
	savedExpire = 1 << iota
	savedShared
	savedAttempts
	savedWake
	savedRetry
	savedClaim
	savedOwned

	savedUnknown // from here on: those of later versions
)

// How an image holds its messages.
const (
	imageWhole = iota
	imageRecorded
)

// appendImage writes the page behind b.
func (p *page) appendImage(b []byte) []byte {
	b = putUint(b, uint64(p.of.queue))
	b = putUint(b, p.number)
	if p.record == (journal.Address{}) {
		b = append(b, imageWhole)
		b = p.past.append(b)
		return p.appendMessages(b, appendWhole)
	}
	b = append(b, imageRecorded)
	b = p.past.append(b)
	b = p.there.append(b)
	b = appendAddress(b, p.record)
	changed := 0
	counted := len(b)
	b = append(b, 0, 0)
	for slot := p.there.next(0); slot < pageSize; slot = p.there.next(slot + 1) {
		e := entry{p, uint8(slot)}
		if p.attempts == nil && len(p.extras) == 0 {
			break
		}
		from := len(b)
		b = append(b, e.slot, 0)
		if b = appendMutable(b, from+1, e); b[from+1] == 0 {
			b = b[:from]
			continue
		}
		changed++
	}
	binary.LittleEndian.PutUint16(b[counted:], uint16(changed))
	return b
}

// appendMessages writes how many messages of the page are kept, and each of them.
func (p *page) appendMessages(b []byte, each func(b []byte, e entry) []byte) []byte {
	kept := p.kept()
	b = putUint(b, uint64(kept.count()))
	for slot := kept.next(0); slot < pageSize; slot = kept.next(slot + 1) {
		b = each(b, entry{p, uint8(slot)})
	}
	return b
}

// rowBytes is the length of what every message has in an image: slot, flags and row.
const rowBytes = 2 + 28

// lastingBytes is the length of what appendLasting writes besides rows and heads, at most: expiry, address, length.
const lastingBytes = 10 + 15 + 5

// appendWhole writes a message with all that a start has to know of it.
func appendWhole(b []byte, e entry) []byte {
	flags := len(b) + 1
	return appendMutable(appendLasting(b, e), flags, e)
}

// appendLasting writes what never changes of a message.
func appendLasting(b []byte, e entry) []byte {
	r := e.row()
	var room [rowBytes]byte
	room[0] = e.slot
	binary.LittleEndian.PutUint64(room[2:], uint64(r.position))
	binary.LittleEndian.PutUint64(room[10:], uint64(r.at))
	binary.LittleEndian.PutUint32(room[18:], r.index)
	binary.LittleEndian.PutUint32(room[22:], r.size)
	binary.LittleEndian.PutUint32(room[26:], r.durable)
	flags := len(b) + 1
	b = append(b, room[:]...)
	if when := e.expire(); when != 0 {
		b[flags] |= savedExpire
		b = putInt(b, when)
	}
	if body := e.shared(); body != nil {
		b[flags] |= savedShared
		b = appendAddress(b, body.addr)
	}
	return putBytes(b, e.head())
}

// appendMutable writes what can change of a message; what there is it notes in the flags at an offset of b.
func appendMutable(b []byte, flags int, e entry) []byte {
	if n := e.attempts(); n != 0 {
		b[flags] |= savedAttempts
		b = putUint(b, uint64(n))
	}
	x := *e.extra()
	if x.claim != nil && x.claim.doomed() { // a start finds out again that it is
		x.wake, x.retry, x.claim = x.claim.wake, x.claim.retry, nil
	}
	if x.wake != 0 {
		b[flags] |= savedWake
		b = putInt(b, x.wake)
	}
	if x.retry {
		b[flags] |= savedRetry
	}
	if c := x.claim; c != nil {
		b[flags] |= savedClaim
		b = putUint(b, uint64(c.epoch))
		b = putUint(b, uint64(c.serial))
		b = putInt(b, c.deadline)
		if c.owned {
			b[flags] |= savedOwned
		}
	}
	return b
}

// doomed tells a claim that only keeps readers away from one that was handed out.
func (c *claimState) doomed() bool {
	return c.settling && c.owner == nil && c.at == 0 && c.deadline == 0
}

func appendAddress(b []byte, a journal.Address) []byte {
	return putUint(putUint(b, uint64(a.Position)), uint64(a.Index))
}

func (r *reader) address() journal.Address {
	return journal.Address{Position: journal.Position(r.uint()), Index: r.uint32()}
}

func (b *bitmap) append(to []byte) []byte {
	for _, w := range b {
		to = binary.LittleEndian.AppendUint64(to, w)
	}
	return to
}

func (r *reader) bitmap() (b bitmap) {
	if words := r.take(pageSize / 8); words != nil {
		for i := range b {
			b[i] = binary.LittleEndian.Uint64(words[8*i:])
		}
	}
	return b
}

// restorePage takes over an image. bodies are the shared ones so far. What a record holds is put on the list of what is
// to be read.
func (s *state) restorePage(r *reader, bodies map[journal.Address]*sharedBody) error {
	id, number, how, past := r.uint32(), r.uint(), r.byte(), r.bitmap()
	if r.err != nil {
		return r.err
	}
	q := s.queues[id]
	if q == nil {
		return fmt.Errorf("%w: messages of queue %d, which is not there", errTruncated, id)
	}
	if how > imageRecorded || number > 1<<56 {
		return fmt.Errorf("%w: page %d of queue %d in form %d", errTruncated, number, id, how)
	}
	if how == imageWhole {
		s.restoreMessages(r, q, number, past, func(uint8) bool { return true }, bodies)
		return r.done()
	}
	u := unread{q: q, number: number, past: past, there: r.bitmap(), record: r.address()}
	if words := r.take(2); words != nil {
		u.changed = int(binary.LittleEndian.Uint16(words))
	}
	u.changes = slices.Clone(r.b)
	if r.err == nil {
		s.unread = append(s.unread, u)
	}
	return r.err
}

// restoreMessages adds the messages that appendMessages wrote, those whose slots are wanted.
func (s *state) restoreMessages(r *reader, q *queueState, number uint64, past bitmap, wanted func(slot uint8) bool,
	bodies map[journal.Address]*sharedBody) {
	n := r.count(rowBytes + 1)
	if r.err == nil && n > pageSize {
		r.fail(fmt.Errorf("%w: page %d of queue %d says that it has %d messages", errTruncated, number, q.id, n))
	}
	if r.err != nil || n == 0 {
		return
	}
	p := q.all.page(number)
	p.rows = slices.Grow(p.rows, n)
	p.heads = slices.Grow(p.heads, max(0, len(r.b)-n*(rowBytes+1)))
	before := -1
	for range n {
		slot, flags, a := r.lasting(bodies)
		x, attempts := r.mutable(flags)
		if r.err == nil && int(slot) <= before {
			r.fail(fmt.Errorf("%w: message %d stands behind message %d", errTruncated, slot, before))
		}
		if r.err != nil {
			return
		}
		before = int(slot)
		if !wanted(slot) {
			continue
		}
		e := s.restoreMessage(q, number*pageSize+uint64(slot), &a)
		if past.has(slot) {
			q.bytes -= e.size()
			q.pastBytes += e.size()
			e.retire()
			continue
		}
		q.restoreMutable(e, x, attempts)
		q.restoreKey(e)
	}
}

// restoreMessage adds a message as it was put.
func (s *state) restoreMessage(q *queueState, seq uint64, a *arrival) entry {
	if a.shared != nil {
		a.shared.refs++
	}
	e := q.all.Add(seq, a)
	q.bytes += e.size()
	s.messages++
	s.bytes += e.size()
	s.keep(e)
	return e
}

func (q *queueState) restoreKey(e entry) {
	head := e.head()
	if len(head) <= len(headFields{}.id) || head[len(headFields{}.id)]&headKey == 0 || q.def.Unordered {
		return
	}
	h := readHead(&reader{b: head})
	q.join(e, string(h.key))
}

func (q *queueState) restoreMutable(e entry, x extra, attempts uint32) {
	e.setAttempts(attempts)
	if x != usual {
		e.move(func(to *extra) {
			x.group = to.group // its key was found already
			*to = x
		})
	}
	if x.claim != nil {
		q.claimed++
	}
	if x.wake != 0 {
		q.delayed++
	}
}

// lasting reads what appendLasting wrote. The head is the reader's.
func (r *reader) lasting(bodies map[journal.Address]*sharedBody) (slot, flags uint8, a arrival) {
	b := r.take(rowBytes)
	if b == nil {
		return 0, 0, a
	}
	if slot, flags = b[0], b[1]; flags >= savedUnknown {
		r.fail(fmt.Errorf("%w: message %d has the flags %#x", errTruncated, slot, flags))
	}
	a.row = row{
		position: journal.Position(binary.LittleEndian.Uint64(b[2:])),
		at:       int64(binary.LittleEndian.Uint64(b[10:])),
		index:    binary.LittleEndian.Uint32(b[18:]),
		size:     binary.LittleEndian.Uint32(b[22:]),
		durable:  binary.LittleEndian.Uint32(b[26:]),
	}
	if flags&savedExpire != 0 {
		a.expire = r.int()
	}
	var at journal.Address
	if flags&savedShared != 0 {
		at = r.address()
	}
	a.head = r.bytes()
	if known := flags&savedShared != 0 && bodies[at] != nil; r.err == nil && !known {
		if err := checkHead(a.head); err != nil {
			r.fail(err)
		}
	}
	if r.err == nil && flags&savedShared != 0 {
		if a.shared = bodies[at]; a.shared == nil {
			a.shared = &sharedBody{addr: at, head: slices.Clone(a.head)}
			bodies[at] = a.shared
		}
	}
	return slot, flags, a
}

// mutable reads what appendMutable wrote.
func (r *reader) mutable(flags uint8) (x extra, attempts uint32) {
	if flags >= savedUnknown {
		r.fail(fmt.Errorf("%w: a message with the flags %#x", errTruncated, flags))
	}
	if flags&savedAttempts != 0 {
		attempts = r.uint32()
	}
	if flags&savedWake != 0 {
		x.wake = r.int()
	}
	x.retry = flags&savedRetry != 0
	if flags&savedClaim != 0 {
		x.claim = &claimState{epoch: r.uint32(), serial: r.uint32(), deadline: r.int(), owned: flags&savedOwned != 0}
	}
	return x, attempts
}
