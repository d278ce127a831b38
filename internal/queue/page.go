package queue

import (
	"slices"

	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// messages are the messages of a queue by sequence, in pages: a plain waiting message costs its row of 32 bytes and its
// head, and no pointer for the garbage collector to follow. What only some messages have (a claim, a delay, a key)
// stands apart.
type messages struct {
	queue uint32 // its id
	pages btree.Map[uint64, *page]
	n     int       // messages
	past  int       // settled ones that are kept for a seek
	pasts sequences // numbers of the pages that have some of them
	saves *saves    // of the state; nil in a queue of no state

	asked, filled *page // that was asked for, or got a message, last: neighbours come together

	copied *copied // nil: no snapshot is about to be taken
}

// page holds the messages of pageSize neighbouring sequences. Its arrays, but for extras, have an element for each slot
// in packed, in order; those that only some messages need are nil while none does.
type page struct {
	of       *messages
	number   uint64
	there    bitmap // messages
	past     bitmap // settled ones that are kept for a seek: nobody sees them until then
	packed   bitmap // both, and those that are gone and were not packed away yet
	rows     []row
	heads    []byte // one behind the other. What lies below len never changes: heads are handed out
	attempts []uint32
	expires  []int64
	shared   []*sharedBody
	special  bitmap          // of which messages there is an extra
	extras   []*extra        // an element for each slot in special, in order
	alarm    int64           // earliest alarm that looks for expired messages; 0: none
	record   journal.Address // of its lasting part; zero: it was not written
	saved    uint64          // the newest checkpoint that has it as it was, or need not have it
}

// row is what every message has.
type row struct {
	position journal.Position // with index, the address of its record
	at       int64            // when it was accepted, µs
	index    uint32
	size     uint32
	durable  uint32 // µs after at; 0: not known
	head     uint32 // where its head ends in the page's heads
}

// extra is what few messages have at a time.
type extra struct {
	group *keyGroup   // nil: no key, or an unordered queue
	claim *claimState // nil: not claimed
	wake  int64       // sleeps until then; 0: awake
	alarm int64       // earliest alarm set for its wake or lease; 0: none
	retry bool        // sleeping because it was put back: it holds up those behind it of its key
}

// entry names a message in memory. It is a value: two are equal when they name the same message. It stays valid; there
// tells whether the message still is.
type entry struct {
	page *page
	slot uint8
}

// none is no message.
var none entry

func (e entry) there() bool { return e.page != nil && e.page.there.has(e.slot) }
func (e entry) seq() uint64 { return e.page.number*pageSize + uint64(e.slot) }

// i is the message's place in the page's arrays.
func (e entry) i() int { return e.page.packed.rank(e.slot) }

func (e entry) row() *row { return &e.page.rows[e.i()] }

func (e entry) at() int64       { return e.row().at }
func (e entry) size() int64     { return int64(e.row().size) }
func (e entry) durable() uint32 { return e.row().durable }

// addr is where its record is.
func (e entry) addr() journal.Address { return e.row().addr() }

func (r *row) addr() journal.Address { return journal.Address{Position: r.position, Index: r.index} }

// place is where its body is.
func (e entry) place() journal.Address {
	if b := e.shared(); b != nil {
		return b.addr
	}
	return e.addr()
}

// head is its head, as appendHead wrote it: not to be changed, and valid for as long as it is needed.
func (e entry) head() []byte {
	i := e.i()
	if p := e.page; p.shared != nil && p.shared[i] != nil {
		return p.shared[i].head
	}
	return e.page.headAt(i)
}

func (p *page) headAt(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = p.rows[i-1].head
	}
	to := p.rows[i].head
	return p.heads[from:to:to]
}

// shared is where the body is, of what came through a topic; nil: with the record.
func (e entry) shared() *sharedBody {
	if e.page.shared == nil {
		return nil
	}
	return e.page.shared[e.i()]
}

// expire is when it expires, µs; 0: never.
func (e entry) expire() int64 {
	if e.page.expires == nil {
		return 0
	}
	return e.page.expires[e.i()]
}

// rowResident is about what a plain message takes in memory beside its head: its row and its bits, and what an index
// has of it.
const rowResident = 64

// resident is about what the message takes in memory. Of what a topic shares between its subscriptions, the head counts
// apart (see sharedBody).
func (e entry) resident() int64 {
	if e.shared() != nil {
		return rowResident
	}
	return rowResident + int64(len(e.page.headAt(e.i())))
}

// attempts is how often it was handed out.
func (e entry) attempts() uint32 {
	if e.page.attempts == nil {
		return 0
	}
	return e.page.attempts[e.i()]
}

func (e entry) setAttempts(n uint32) {
	p := e.page
	if n == e.attempts() {
		return
	}
	p.touch()
	if p.attempts == nil {
		p.attempts = make([]uint32, len(p.rows), cap(p.rows))
	}
	p.attempts[e.i()] = n
}

// extra is what it has beyond the usual, to be read only.
func (e entry) extra() *extra {
	if p := e.page; p.special.has(e.slot) {
		return p.extras[p.special.rank(e.slot)]
	}
	return &usual
}

// dropExtra forgets what a message has beyond the usual.
func (p *page) dropExtra(slot uint8) {
	if p.special.has(slot) {
		at := p.special.rank(slot)
		p.extras = slices.Delete(p.extras, at, at+1)
		p.special.clear(slot)
	}
}

// usual is never written to.
var usual extra

func (e entry) group() *keyGroup   { return e.extra().group }
func (e entry) claim() *claimState { return e.extra().claim }
func (e entry) wake() int64        { return e.extra().wake }
func (e entry) retry() bool        { return e.extra().retry }

// change lets f change what e has beyond the usual.
func (e entry) change(f func(x *extra)) {
	p := e.page
	p.touch()
	at := p.special.rank(e.slot)
	if !p.special.has(e.slot) {
		p.extras = slices.Insert(p.extras, at, new(extra))
		p.special.set(e.slot)
	}
	x := p.extras[at]
	if f(x); *x == usual {
		p.dropExtra(e.slot)
	}
}

func (e entry) setGroup(g *keyGroup) { e.change(func(x *extra) { x.group = g }) }

// setClaim lets the message be claimed.
func (e entry) setClaim(c claimState) {
	p := e.page
	if p.special.has(e.slot) {
		own := c // on the heap only here
		e.move(func(x *extra) { x.claim = &own })
		return
	}
	p.touch()
	both := &struct { // one allocation for what most claimed messages have
		extra
		of claimState
	}{of: c}
	both.claim = &both.of
	p.extras = slices.Insert(p.extras, p.special.rank(e.slot), &both.extra)
	p.special.set(e.slot)
}

// dropClaim lets it be claimed no more.
func (e entry) dropClaim() { e.move(func(x *extra) { x.claim = nil }) }

func (e entry) setWake(wake int64, retry bool) {
	e.move(func(x *extra) { x.wake, x.retry = wake, retry })
}

// move is change of what decides where e stands in its key.
func (e entry) move(f func(x *extra)) {
	g := e.group()
	if g != nil {
		g.displace(e)
	}
	e.change(f)
	if g != nil {
		g.place(e)
	}
}

func (e entry) setAlarm(when int64) {
	switch x := e.extra(); {
	case x.alarm == when:
	case x == &usual:
		e.change(func(x *extra) { x.alarm = when })
	default:
		e.page.touch()
		if x.alarm = when; *x == usual {
			e.page.dropExtra(e.slot)
		}
	}
}

// retire makes a message one of the past, plain again.
func (e entry) retire() {
	p := e.page
	p.touch()
	e.setAttempts(0)
	p.dropExtra(e.slot)
	p.there.clear(e.slot)
	if p.past.empty() {
		p.of.pasts.Add(p.number)
	}
	p.past.set(e.slot)
	p.of.n--
	p.of.past++
}

// revive makes one of the past a message again.
func (e entry) revive() {
	p := e.page
	p.touch()
	p.clearPast(e.slot)
	p.there.set(e.slot)
	p.of.n++
}

// clearPast takes one of the past out of it.
func (p *page) clearPast(slot uint8) {
	p.past.clear(slot)
	p.of.past--
	if p.past.empty() {
		p.of.pasts.Delete(p.number)
	}
}

// Len is the number of messages.
func (m *messages) Len() int { return m.n }

// Get finds a message by its sequence.
func (m *messages) Get(seq uint64) (e entry, ok bool) {
	p := m.asked
	if p == nil || p.number != pageOf(seq) {
		if p, ok = m.pages.Get(pageOf(seq)); !ok {
			return none, false
		}
		m.asked = p
	}
	if !p.there.has(slotOf(seq)) {
		return none, false
	}
	return entry{p, slotOf(seq)}, true
}

// arrival is a message to be kept.
type arrival struct {
	row    row // but for head
	head   []byte
	shared *sharedBody // then head is its
	expire int64
}

// Add keeps a message that is not there.
func (m *messages) Add(seq uint64, a *arrival) entry {
	p := m.page(pageOf(seq))
	p.touch()
	slot := slotOf(seq)
	if p.packed.next(int(slot)) != pageSize { // not behind the others: sequences are taken in order, so this is rare
		p.pack()
	}
	p.insert(slot, a)
	m.n++
	return entry{p, slot}
}

// page finds or makes a page.
func (m *messages) page(number uint64) *page {
	if m.filled != nil && m.filled.number == number {
		return m.filled
	}
	p, ok := m.pages.Get(number)
	if !ok {
		p = &page{of: m, number: number, saved: m.saves.newest()}
		m.pages.Set(number, p)
	}
	m.filled = p
	return p
}

// insert adds a message where its row belongs.
func (p *page) insert(slot uint8, a *arrival) {
	i := p.packed.rank(slot)
	p.packed.set(slot)
	p.there.set(slot)
	head := a.head
	if a.shared != nil {
		head = nil
	}
	r := a.row
	if i == len(p.rows) {
		p.heads = append(p.heads, head...)
		if slot == pageSize-1 {
			p.heads = slices.Clone(p.heads) // it grows no more
		}
		r.head = uint32(len(p.heads))
		p.rows = append(p.rows, r)
	} else {
		p.rows, p.attempts = slices.Clone(p.rows), slices.Clone(p.attempts) // copies have those that were
		p.expires, p.shared = slices.Clone(p.expires), slices.Clone(p.shared)
		from := uint32(0)
		if i > 0 {
			from = p.rows[i-1].head
		}
		p.heads = slices.Concat(p.heads[:from], head, p.heads[from:])
		r.head = from + uint32(len(head))
		for j := i; j < len(p.rows); j++ {
			p.rows[j].head += uint32(len(head))
		}
		p.rows = slices.Insert(p.rows, i, r)
	}
	p.attempts = insertSome(p.attempts, i, len(p.rows), 0)
	p.expires = insertSome(p.expires, i, len(p.rows), a.expire)
	p.shared = insertSome(p.shared, i, len(p.rows), a.shared)
}

// Delete forgets a message that is there, or one of the past.
func (m *messages) Delete(e entry) {
	p := e.page
	p.touch()
	if p.there.has(e.slot) {
		p.there.clear(e.slot)
		p.dropExtra(e.slot)
		m.n--
	} else {
		p.clearPast(e.slot)
	}
	switch kept := p.kept(); {
	case kept.empty():
		m.drop(p)
	case 2*kept.count() < len(p.rows):
		p.pack()
	}
}

// kept are the slots whose rows are needed.
func (p *page) kept() bitmap { return p.there.or(p.past) }

// DeletePage forgets all messages of a page, the past ones too.
func (m *messages) DeletePage(p *page) {
	p.touch()
	m.n -= p.there.count()
	m.past -= p.past.count()
	m.pasts.Delete(p.number)
	m.drop(p)
}

// drop forgets a page.
func (m *messages) drop(p *page) {
	m.pages.Delete(p.number)
	if m.asked == p {
		m.asked = nil
	}
	if m.filled == p {
		m.filled = nil
	}
	p.there, p.past, p.special, p.extras = bitmap{}, bitmap{}, bitmap{}, nil
	m.saves.retire(p.record)
}

// Scan calls each for the messages in their order until it returns false. None may be added meanwhile; they may be
// deleted.
func (m *messages) Scan(each func(e entry) bool) { m.Ascend(0, each) }

// Ascend is Scan from a sequence on.
func (m *messages) Ascend(from uint64, each func(e entry) bool) {
	for p := range m.pagesFrom(pageOf(from)) {
		first := 0
		if p.number == pageOf(from) {
			first = int(slotOf(from))
		}
		for slot := p.there.next(first); slot < pageSize; slot = p.there.next(slot + 1) {
			if !each(entry{p, uint8(slot)}) {
				return
			}
		}
	}
}

// piece calls each for the messages from a sequence on, at most so many of them and until it returns false, and tells
// where to go on; 0: there is nothing more. A page counts as a message: it may hold none, only those of the past.
func (m *messages) piece(from uint64, most int, each func(e entry) bool) (next uint64) {
	for p := range m.pagesFrom(pageOf(from)) {
		first := 0
		if p.number == pageOf(from) {
			first = int(slotOf(from))
		}
		if most--; most <= 0 {
			return p.number*pageSize + uint64(first)
		}
		for slot := p.there.next(first); slot < pageSize; slot = p.there.next(slot + 1) {
			e := entry{p, uint8(slot)}
			if most--; most <= 0 {
				return e.seq()
			}
			if !each(e) {
				return e.seq() + 1
			}
		}
	}
	return 0
}

// pagesFrom walks the pages in their order. The page just given may be dropped meanwhile.
func (m *messages) pagesFrom(number uint64) func(yield func(*page) bool) {
	return func(yield func(*page) bool) {
		for {
			var p *page
			m.pages.Ascend(number, func(_ uint64, x *page) bool {
				p = x
				return false
			})
			if p == nil || !yield(p) {
				return
			}
			number = p.number + 1
		}
	}
}
