package queue

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// A page that will get no more messages is written to the journal, once: what never changes of its messages, as the
// body of a record. From then on a checkpoint keeps of it but the record's address and a bit for each message that is
// still needed. So checkpoints are small whatever waits in the queues, and a start reads these records and what
// followed the checkpoint.

// paged says that its record's body holds the lasting part of a page.
type paged struct {
	queue  uint32
	number uint64
	body   []byte // in the record's body, not its head
}

func (*paged) kind() eventKind { return kindPaged }
func (e *paged) append(b []byte) []byte {
	return appendPlace(b, e.queue, e.number)
}
func (e *paged) read(r *reader) { e.queue, e.number = readPlace(r) }

// Bounds of what is written to the journal at once, so that nobody who puts waits long behind it.
const (
	pagedAtOnce = 4
	pagedBytes  = 1 << 20 // a page with more, of long attributes, stays in the checkpoint whole: see groups
	pagedLeast  = 64      // messages in a page that is worth a record
)

// retired is the record of a page that is no more. It is released when no checkpoint that is kept needs it: two were
// saved since.
type retired struct {
	record journal.Address
	after  int // saves.done from which on it is not needed
}

// applyPaged remembers where a page was written.
func (s *state) applyPaged(e *paged, at journal.Address) {
	if q := s.queues[e.queue]; q != nil {
		if p, there := q.all.pages.Get(e.number); there && (p.record == at || p.record == (journal.Address{})) {
			p.touch()
			p.record = at
			return
		}
	}
	s.release(at) // no checkpoint has ever heard of it
}

// retire notes that the record of a page will not be needed. A checkpoint that is being taken, and the two before it,
// may still speak of it.
func (s *saves) retire(record journal.Address) {
	if s == nil || record == (journal.Address{}) {
		return
	}
	after := s.done + checkpointsKept
	if s.pages != nil {
		after++
	}
	s.retired = append(s.retired, retired{record, after})
}

// checkpointsKept is how many checkpoints a journal keeps (see journal.Journal).
const checkpointsKept = 2

// releaseRetired releases records that no checkpoint that is kept needs any more: at most so many. It tells whether
// there may be more.
func (s *state) releaseRetired(most int) (more bool) {
	n := 0
	for _, r := range s.saves.retired {
		if more = n == most; more || r.after > s.saves.done {
			break
		}
		s.release(r.record)
		n++
	}
	s.saves.retired = s.saves.retired[n:]
	return more
}

// appendRetired writes, for a checkpoint before which so many were saved, the records that will be kept when it is
// saved, and for how many checkpoints more.
func appendRetired(b []byte, all []retired, done int) []byte {
	i := 0
	for i < len(all) && all[i].after <= done+1 {
		i++
	}
	b = putUint(b, uint64(len(all)-i))
	for _, r := range all[i:] {
		b = putUint(appendAddress(b, r.record), uint64(max(0, r.after-done-1)))
	}
	return b
}

func (s *saves) restoreRetired(r *reader) {
	for range r.count(3) {
		s.retired = append(s.retired, retired{r.address(), int(r.uint32())})
	}
}

// pagesLooked is how many pages are looked at under one hold of the lock for some that are to be written.
const pagesLooked = walkPiece

// unrecorded finds the next pages that are to be written, from one on, and tells where to look on and whether to: so
// many at most, and of so many bytes together. A page is complete when the queue has messages behind it: they become
// durable in order.
func (q *queueState) unrecorded(from uint64, most, bytes int) (pages []*page, next uint64, more bool) {
	last, _, _ := q.all.pages.Max()
	size, looked := 0, 0
	for p := range q.all.pagesFrom(from) {
		if p.number >= last {
			return pages, p.number, false
		}
		if looked++; len(pages) == most || looked > pagesLooked {
			return pages, p.number, true
		}
		if kept := p.kept(); p.record != (journal.Address{}) || kept.count() < pagedLeast {
			continue
		}
		n := p.bytes()
		if n > bytes {
			continue
		}
		if size += n; size > bytes && len(pages) > 0 {
			return pages, p.number, true
		}
		pages = append(pages, p)
	}
	return pages, 0, false
}

// bytes is how long the page's record will be at most.
func (p *page) bytes() int {
	n := len(p.heads) + (rowBytes+lastingBytes)*len(p.rows) + lastingBytes
	for _, b := range p.shared {
		if b != nil {
			n += len(b.head)
		}
	}
	return n
}

// unread is a page of a checkpoint whose record is still to be read.
type unread struct {
	q           *queueState
	number      uint64
	there, past bitmap
	record      journal.Address
	changed     int
	changes     []byte // what appendMutable wrote, of so many messages
	why         error  // it could not be read
}

func (u *unread) failed(err error) error {
	return fmt.Errorf("messages %d to %d of queue %s: %w", u.number*pageSize, (u.number+1)*pageSize-1, u.q.name.Short(),
		err)
}

// pageReading completes a state that was restored from a checkpoint by the records of its pages.
type pageReading struct {
	s       *state
	bodies  map[journal.Address]*sharedBody
	damaged []*unread // to be made again
	failed  error
}

// records are those that have to be read.
func (p *pageReading) records() []journal.Address {
	addrs := make([]journal.Address, len(p.s.unread))
	for i := range p.s.unread {
		addrs[i] = p.s.unread[i].record
	}
	return addrs
}

// add takes the body of one of them, or why there is none.
func (p *pageReading) add(i int, body []byte, err error) {
	u := &p.s.unread[i]
	var damage *journal.DamageError
	if errors.As(err, &damage) {
		u.why = err
		p.damaged = append(p.damaged, u)
		return
	}
	if err == nil {
		err = later("the log", "a page of messages", p.s.readPage(u, body, p.bodies))
	}
	if err != nil && p.failed == nil {
		p.failed = u.failed(err)
	}
}

// rebuilding makes damaged pages again of the records of the puts themselves, as far as the log still has them in their
// places.
type rebuilding struct {
	s      *state
	us     []*unread
	pages  map[*queueState]*messages
	wanted map[*queueState]map[uint64]bool
}

func (s *state) beginRebuilding(us []*unread) *rebuilding {
	b := &rebuilding{s, us, map[*queueState]*messages{}, map[*queueState]map[uint64]bool{}}
	for _, u := range us {
		if b.pages[u.q] == nil {
			b.pages[u.q], b.wanted[u.q] = &messages{queue: u.q.id}, map[uint64]bool{}
		}
		b.wanted[u.q][u.number] = true
	}
	return b
}

// add looks at the next group of the log.
func (b *rebuilding) add(group []applied) {
	add := func(queue uint32, seq uint64, a arrival) {
		if q := b.s.queues[queue]; q != nil && b.wanted[q][pageOf(seq)] {
			a.head = slices.Clone(a.head)
			b.pages[q].Add(seq, &a)
		}
	}
	of := map[uint32]*sharedBody{}
	for i := range group {
		x := &group[i]
		switch e := x.event.(type) {
		case *put:
			add(e.queue, e.seq, arrival{row: rowOf(x, e.size, 0), head: e.head, expire: e.expire})
		case *shared:
			of[x.addr.Index] = &sharedBody{addr: x.addr, head: slices.Clone(e.head)}
		case *share:
			if body := of[e.index]; body != nil {
				add(e.queue, e.seq, arrival{row: rowOf(x, e.size, 0), shared: body, expire: e.expire})
			}
		}
	}
}

// end takes the pages of what was found.
func (b *rebuilding) end(bodies map[journal.Address]*sharedBody) error {
	for _, u := range b.us {
		var body []byte
		if p, there := b.pages[u.q].pages.Get(u.number); there {
			body = p.appendMessages(nil, appendLasting)
		}
		record := u.record
		u.record = journal.Address{} // it is written anew
		if err := b.s.readPage(u, body, bodies); err != nil {
			return u.failed(u.why)
		}
		b.s.saves.retire(record)
	}
	return nil
}

func (s *state) readPage(u *unread, body []byte, bodies map[journal.Address]*sharedBody) error {
	kept := u.there.or(u.past)
	r := &reader{b: body}
	s.restoreMessages(r, u.q, u.number, u.past, kept.has, bodies)
	if err := r.done(); err != nil {
		return err
	}
	p, there := u.q.all.pages.Get(u.number)
	if !there || p.kept() != kept {
		return fmt.Errorf("%w: the record of the page lacks messages that the checkpoint has", errTruncated)
	}
	p.record = u.record
	r = &reader{b: u.changes}
	for range u.changed {
		slot, flags := r.byte(), r.byte()
		x, attempts := r.mutable(flags)
		if r.err == nil && !u.there.has(slot) {
			r.fail(fmt.Errorf("%w: message %d changed and is not there", errTruncated, slot))
		}
		if r.err != nil {
			break
		}
		u.q.restoreMutable(entry{p, slot}, x, attempts)
	}
	return r.done()
}

// toRecord are the events that write down the next few pages of a queue, from one on, of so many bytes together: see
// unrecorded.
func (s *state) toRecord(queue uint32, from uint64, bytes int) (events []event, next uint64, more bool) {
	q := s.queues[queue]
	if q == nil {
		return nil, from, false
	}
	pages, next, more := q.unrecorded(from, pagedAtOnce, bytes)
	for _, p := range pages {
		events = append(events, &paged{queue: queue, number: p.number, body: p.appendMessages(nil, appendLasting)})
	}
	return events, next, more
}
