package queue

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// saves lets a checkpoint be taken beside the work: it is of one moment, and yet nobody waits for all of it to be copied. A page that is
// about to change for the first time since that moment leaves its image here; all others are still as they were when their turn comes.
type saves struct {
	number uint64           // of the checkpoint begun last
	images map[*page][]byte // while one is being taken: of pages that have changed since it began; else nil
}

// newest is the number that a page has to bear which no checkpoint under way needs.
func (s *saves) newest() uint64 {
	if s == nil {
		return 0
	}
	return s.number
}

// touch has to be called before anything of the page changes.
func (p *page) touch() {
	s := p.of.saves
	if s == nil || s.images == nil || p.saved == s.number {
		return
	}
	s.images[p] = p.appendImage(nil)
	p.saved = s.number
}

// image is the page as it was when the checkpoint began; b is room for it.
func (s *saves) image(p *page, b []byte) []byte {
	if p.saved == s.number {
		image := s.images[p]
		delete(s.images, p)
		return image
	}
	p.saved = s.number
	return p.appendImage(b)
}

// What an image says of a message beside its row.
const (
	savedAttempts = 1 << iota
	savedExpire
	savedWake
	savedRetry
	savedClaim
	savedOwned
	savedShared
	savedKeyed
)

// appendImage writes all that a checkpoint keeps of the page behind b: queue, number, how many messages, which of them are past, and each.
func (p *page) appendImage(b []byte) []byte {
	b = putUint(b, uint64(p.of.queue))
	b = putUint(b, p.number)
	kept := p.kept()
	b = putUint(b, uint64(kept.count()))
	for _, w := range p.past {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	for slot := kept.next(0); slot < pageSize; slot = kept.next(slot + 1) {
		b = appendSaved(b, entry{p, uint8(slot)})
	}
	return b
}

// rowBytes is the length of what every message has in an image: slot, flags and row.
const rowBytes = 2 + 28

func appendSaved(b []byte, e entry) []byte {
	i := e.i()
	r := &e.page.rows[i]
	var room [rowBytes]byte
	room[0] = e.slot
	binary.LittleEndian.PutUint64(room[2:], uint64(r.position))
	binary.LittleEndian.PutUint64(room[10:], uint64(r.at))
	binary.LittleEndian.PutUint32(room[18:], r.index)
	binary.LittleEndian.PutUint32(room[22:], r.size)
	binary.LittleEndian.PutUint32(room[26:], r.durable)
	flags := len(b) + 1
	b = append(b, room[:]...)
	set := func(flag byte) { b[flags] |= flag }
	if n := e.attempts(); n != 0 {
		set(savedAttempts)
		b = putUint(b, uint64(n))
	}
	if when := e.expire(); when != 0 {
		set(savedExpire)
		b = putInt(b, when)
	}
	x := *e.extra()
	if x.claim != nil && x.claim.doomed() { // a start finds out again that it is
		x.wake, x.retry, x.claim = x.claim.wake, x.claim.retry, nil
	}
	if x.wake != 0 {
		set(savedWake)
		b = putInt(b, x.wake)
	}
	if x.retry {
		set(savedRetry)
	}
	if c := x.claim; c != nil {
		set(savedClaim)
		b = putUint(b, uint64(c.epoch))
		b = putUint(b, uint64(c.serial))
		b = putInt(b, c.deadline)
		if c.owned {
			set(savedOwned)
		}
	}
	if x.group != nil {
		set(savedKeyed)
	}
	if body := e.shared(); body != nil {
		set(savedShared)
		b = appendAddress(b, body.addr)
	}
	return putBytes(b, e.head())
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

// restorePage adds the messages of an image. bodies are the shared ones so far.
func (s *state) restorePage(r *reader, bodies map[journal.Address]*sharedBody) error {
	id, number, n := r.uint32(), r.uint(), r.count(rowBytes+1)
	var past bitmap
	if words := r.take(pageSize / 8); words != nil {
		for i := range past {
			past[i] = binary.LittleEndian.Uint64(words[8*i:])
		}
	}
	q := s.queues[id]
	if r.err == nil && q == nil {
		return fmt.Errorf("%w: messages of queue %d, which is not there", errTruncated, id)
	}
	if r.err == nil && (n > pageSize || number > 1<<56) {
		return fmt.Errorf("%w: page %d of queue %d says that it has %d messages", errTruncated, number, id, n)
	}
	if r.err == nil && n > 0 {
		p := q.all.page(number)
		p.rows = slices.Grow(p.rows, n)
		p.heads = slices.Grow(p.heads, max(0, len(r.b)-n*(rowBytes+1)))
	}
	before := -1
	for range n {
		slot := r.restoreMessage(s, q, number, before, bodies)
		before = int(slot)
		if r.err == nil && past.has(slot) {
			s.restorePast(q, number*pageSize+uint64(slot))
		}
	}
	return r.done()
}

// restorePast makes a message that was just restored one of the past.
func (s *state) restorePast(q *queueState, seq uint64) {
	e, _ := q.all.Get(seq)
	q.bytes -= e.size()
	q.pastBytes += e.size()
	e.retire()
}

// restoreMessage adds the next message of an image, which has to stand behind the slot before.
func (r *reader) restoreMessage(s *state, q *queueState, number uint64, before int, bodies map[journal.Address]*sharedBody) (slot uint8) {
	b := r.take(rowBytes)
	if b == nil {
		return 0
	}
	slot = b[0]
	flags := b[1]
	if int(slot) <= before {
		r.fail(fmt.Errorf("%w: message %d stands behind message %d", errTruncated, slot, before))
		return slot
	}
	a := arrival{row: row{
		position: journal.Position(binary.LittleEndian.Uint64(b[2:])),
		at:       int64(binary.LittleEndian.Uint64(b[10:])),
		index:    binary.LittleEndian.Uint32(b[18:]),
		size:     binary.LittleEndian.Uint32(b[22:]),
		durable:  binary.LittleEndian.Uint32(b[26:]),
	}}
	has := func(flag byte) bool { return flags&flag != 0 }
	var attempts uint32
	var x extra
	if has(savedAttempts) {
		attempts = r.uint32()
	}
	if has(savedExpire) {
		a.expire = r.int()
	}
	if has(savedWake) {
		x.wake = r.int()
	}
	x.retry = has(savedRetry)
	if has(savedClaim) {
		x.claim = &claimState{epoch: r.uint32(), serial: r.uint32(), deadline: r.int(), owned: has(savedOwned)}
	}
	var at journal.Address
	if has(savedShared) {
		at = r.address()
	}
	a.head = r.bytes()
	if r.err != nil {
		return slot
	}
	if has(savedShared) {
		body := bodies[at]
		if body == nil {
			body = &sharedBody{addr: at, head: append([]byte(nil), a.head...)}
			bodies[at] = body
		}
		body.refs++
		a.shared = body
	}
	e := q.all.Add(number*pageSize+uint64(slot), &a)
	q.bytes += e.size()
	s.messages++
	s.bytes += e.size()
	e.setAttempts(attempts)
	if x != usual {
		e.change(func(to *extra) { *to = x })
	}
	if x.claim != nil {
		q.claimed++
	}
	if x.wake != 0 {
		q.delayed++
	}
	if has(savedKeyed) {
		h := readHead(&reader{b: a.head})
		q.join(e, string(h.key))
	}
	return slot
}
