package queue

import (
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// A queue can be taken to a snapshot of another subscription of its topic. What both have of one publish shares its
// body, whose address says which message of the one is which of the other: each has them in the order of the journal.

// How much one step looks at: pages of the queue, fewer than another seek since more is asked for each message, and
// pages of the other queue that are looked for, where its messages lie far apart.
const (
	acrossPages    = stretch / 2
	acrossSearches = 128
)

// across finds out what a seek to a snapshot of another queue settles of a queue, from a sequence on and before another
// one, and where that ends: earlier if it takes too long. The event says it, for when the event is read again the other
// queue may have changed. The lock is held.
func (q *queueState) across(sn *snapshotState, from, upto uint64) (goes *sequences, end uint64) {
	goes = new(sequences)
	other := sibling{all: &sn.queue.all}
	pages := 0
	for p := range q.all.pagesFrom(pageOf(from)) {
		if p.number*pageSize >= upto {
			break
		}
		if pages++; pages > acrossPages {
			return goes, p.number * pageSize
		}
		kept := p.kept()
		for slot := kept.next(0); slot < pageSize; slot = kept.next(slot + 1) {
			e := entry{p, uint8(slot)}
			switch seq := e.seq(); {
			case seq < from || seq >= upto:
			case other.searched >= acrossSearches:
				return goes, seq
			case !other.holds(sn, e):
				goes.Add(seq)
			}
		}
	}
	return goes, upto
}

// sibling is another subscription of the topic, whose messages are found by where their bodies are.
type sibling struct {
	all      *messages
	page     *page  // found last
	before   uint64 // the sequence of the last row of the page before it
	searched int    // how often a page was looked for
}

// holds tells whether a snapshot has what another queue's message was made of as not settled. What its own queue does
// not have any more, or never had, was settled there if it is older than the snapshot. But where something is missing
// that the snapshot holds, because it expired, it may be that.
func (b *sibling) holds(sn *snapshotState, e entry) bool {
	body := e.shared()
	if body == nil {
		return e.at() >= sn.at
	}
	i, next := b.find(body.addr), ^uint64(0)
	if p := b.page; p != nil {
		next = p.number*pageSize + uint64(p.packed.nth(i))
		if p.shared != nil && p.shared[i] != nil && p.shared[i].addr == body.addr {
			return sn.holds(next) // its row may be all that is left of it
		}
	}
	before := b.before
	if i > 0 {
		before = b.page.number*pageSize + uint64(b.page.packed.nth(i-1))
	}
	missing := false
	sn.before.Ascend(before+1, func(seq uint64) bool {
		missing = seq < next
		return false
	})
	return missing || e.at() >= sn.at
}

// find looks for the first message whose record is behind a body's, which is the one that has the body if one has: it
// is number i of page. There is none if page is nil.
func (b *sibling) find(body journal.Address) (i int) {
	if p := b.page; p == nil || beside(p.rows[0], body) > 0 || p.lastBeside(body) < 0 {
		b.search(body)
	}
	if b.page != nil {
		i, _ = slices.BinarySearchFunc(b.page.rows, body, beside)
	}
	return i
}

// search looks for the first page that has a record behind a body's.
func (b *sibling) search(body journal.Address) {
	b.searched++
	low, high := 0, b.all.pages.Len()
	for low < high {
		middle := (low + high) / 2
		if _, p, _ := b.all.pages.GetAt(middle); p.lastBeside(body) > 0 {
			high = middle
		} else {
			low = middle + 1
		}
	}
	b.page, b.before = nil, 0
	if _, p, some := b.all.pages.GetAt(low - 1); some {
		b.before = p.number*pageSize + uint64(p.packed.nth(len(p.rows)-1))
	}
	if _, p, some := b.all.pages.GetAt(low); some {
		b.page = p
	}
}

// beside compares where a message's record is with where a body is. They are never the same.
func beside(r row, body journal.Address) int {
	return journal.Address{Position: r.position, Index: r.index}.Compare(body)
}

func (p *page) lastBeside(body journal.Address) int { return beside(p.rows[len(p.rows)-1], body) }
