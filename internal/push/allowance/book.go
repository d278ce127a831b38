package allowance

// entry is a push that counts.
type entry struct {
	user, push uint64 // hashes; push is 0 for an entry that counts no more
	at         uint32 // seconds since 1970; 0, where entries are kept: it counts no more
}

// slot is an entry in the book.
type slot struct {
	entry
	older uint32 // how many places back the user's one before is; 0: there is none
}

// firstSlots is how many places a book has at first.
const firstSlots = 64

// book has the entries in the order in which they were made, in a ring, and finds those of a user.
type book struct {
	limit       int // of places
	slots       []slot
	first, next uint64            // places, counted from the start; the ring has those from first to before next
	heads       map[uint64]uint64 // the place of each user's newest entry
	live        int               // entries that were not taken out
	forgotten   uint64            // entries that had to go before their time
}

func newBook(limit int) *book { return &book{limit: limit, heads: map[uint64]uint64{}} }

func (b *book) slot(place uint64) *slot { return &b.slots[place&uint64(len(b.slots)-1)] }

// count is how many entries of a user are younger than since, and the one of a push, if there is one.
func (b *book) count(user, push uint64, since uint32) (n int, same *slot) {
	place, ok := b.heads[user]
	for ok && place >= b.first {
		s := b.slot(place)
		if s.at > since {
			n++
			if s.push == push {
				same = s
			}
		}
		ok = s.older > 0
		place -= uint64(s.older)
	}
	return n, same
}

// add makes an entry. It makes room by forgetting the oldest one.
func (b *book) add(e entry, since uint32) {
	if int(b.next-b.first) >= b.limit {
		if s := b.slot(b.first); s.at > since {
			b.forgotten++
		}
		b.pop()
	}
	if int(b.next-b.first) == len(b.slots) {
		b.grow()
	}
	s := b.slot(b.next)
	*s = slot{entry: e}
	if head, ok := b.heads[e.user]; ok {
		s.older = uint32(b.next - head)
	}
	b.heads[e.user] = b.next
	b.next++
	b.live++
}

// remove takes the entry of a push out, if there is one. Its place stays until it is the oldest.
func (b *book) remove(user, push uint64) {
	place, ok := b.heads[user]
	var newer *slot
	for ok && place >= b.first {
		s := b.slot(place)
		before := place - uint64(s.older)
		ok = s.older > 0 && before >= b.first
		if s.push != push {
			newer, place = s, before
			continue
		}
		switch {
		case newer != nil && ok:
			newer.older += s.older
		case newer != nil:
			newer.older = 0
		case ok:
			b.heads[user] = before
		default:
			delete(b.heads, user)
		}
		*s = slot{}
		b.live--
		return
	}
}

// pop takes the oldest place away.
func (b *book) pop() {
	s := b.slot(b.first)
	if s.at != 0 {
		b.live--
		if b.heads[s.user] == b.first {
			delete(b.heads, s.user)
		}
	}
	*s = slot{}
	b.first++
}

// expire takes away the oldest places as far as their entries are not younger than since.
func (b *book) expire(since uint32) {
	for b.first < b.next && b.slot(b.first).at <= since {
		b.pop()
	}
}

func (b *book) grow() {
	old, size := *b, max(firstSlots, 2*len(b.slots))
	b.slots = make([]slot, size)
	for place := old.first; place < old.next; place++ {
		*b.slot(place) = *old.slot(place)
	}
}

// take makes an entry of one that was kept: a later one of the same push stands for those before.
func (b *book) take(e entry, since uint32) {
	b.remove(e.user, e.push)
	if e.at > since {
		b.add(e, since)
	}
}
