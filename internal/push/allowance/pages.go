package allowance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Entries are kept in pages, a note each, whose key is "p" and the page's number. Those that are made together are a
// page of their own at first. When there are several small ones they become one; the oldest pages go as soon as nothing
// in them counts.
const (
	entrySize   = 20
	pageEntries = 3200 // of a full page: 64,000 bytes, below queue.MaxNoteBytes
	smallPages  = 16   // that become one
	pagePrefix  = "p"
	// mostForgotten is how many pages go at once: after a long stop there may be thousands.
	mostForgotten = 500
)

// pages are those of one room, in the order of their numbers.
type pages struct {
	room string
	next uint64
	full []page // whose values need not be known any more
	tail []page // at most smallPages, which may become one
}

type page struct {
	number uint64
	until  uint64 // the book's place behind its last entry
	value  []byte // of the tail
}

func appendEntry(b []byte, e entry) []byte {
	b = binary.BigEndian.AppendUint64(b, e.user)
	b = binary.BigEndian.AppendUint64(b, e.push)
	return binary.BigEndian.AppendUint32(b, e.at)
}

// readEntries calls f for each entry of a page.
func readEntries(value []byte, f func(entry)) error {
	if len(value)%entrySize != 0 {
		return fmt.Errorf("%d bytes are no whole number of entries", len(value))
	}
	for ; len(value) > 0; value = value[entrySize:] {
		f(entry{binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:]),
			binary.BigEndian.Uint32(value[16:])})
	}
	return nil
}

var errKey = errors.New("its key is none of a page")

func pageKey(number uint64) string { return pagePrefix + fmt.Sprintf("%016x", number) }

func pageNumber(key string) (uint64, error) {
	if len(key) != len(pagePrefix)+16 || key[:len(pagePrefix)] != pagePrefix {
		return 0, errKey
	}
	number, err := strconv.ParseUint(key[len(pagePrefix):], 16, 64)
	if err != nil || pageKey(number) != key { // another spelling would never be removed
		return 0, errKey
	}
	return number, nil
}

func (p *pages) note(number uint64, value []byte) queue.Note {
	return queue.Note{Room: p.room, Key: pageKey(number), Value: value}
}

// load takes a page over that was kept.
func (p *pages) load(number, until uint64, value []byte) {
	p.next = max(p.next, number+1)
	p.tail = append(p.tail, page{number, until, value})
	if n := len(p.tail) - smallPages + 1; n > 0 {
		p.full = append(p.full, shut(p.tail[:n])...)
		p.tail = append([]page(nil), p.tail[n:]...)
	}
}

// shut are pages without their values.
func shut(all []page) []page {
	some := make([]page, len(all))
	for i, one := range all {
		some[i] = page{number: one.number, until: one.until}
	}
	return some
}

// add makes the notes that keep further entries, and of which the pages go whose entries are all before a place of the
// book. Everything is as it was until take is called.
func (p *pages) add(value []byte, until, from uint64) (notes []queue.Note, take func()) {
	now := pages{room: p.room, next: p.next, full: p.full, tail: p.tail[:len(p.tail):len(p.tail)]}
	if len(value) > 0 {
		now.tail = append(now.tail, page{now.next, until, value})
		now.next++
		if len(now.tail) >= smallPages {
			now.merge(&notes)
		}
		last := now.tail[len(now.tail)-1]
		notes = append(notes, p.note(last.number, last.value))
	}
	notes = append(notes, now.forget(from)...)
	return notes, func() { *p = now }
}

// merge makes one page of as many of the last ones as fit.
func (p *pages) merge(notes *[]queue.Note) {
	first, size := len(p.tail), 0
	for first > 0 && size+len(p.tail[first-1].value) <= pageEntries*entrySize {
		first--
		size += len(p.tail[first].value)
	}
	last := p.tail[len(p.tail)-1]
	merged := page{last.number, last.until, make([]byte, 0, size)}
	for _, one := range p.tail[first:] {
		merged.value = append(merged.value, one.value...)
		if one.number != merged.number {
			*notes = append(*notes, p.note(one.number, nil))
		}
	}
	p.full = append(p.full[:len(p.full):len(p.full)], shut(p.tail[:first])...)
	p.tail = []page{merged}
}

// forget takes away the first pages, as far as all of their entries are before a place of the book, and a bounded
// number at once.
func (p *pages) forget(from uint64) (notes []queue.Note) {
	for len(p.full) > 0 && p.full[0].until <= from && len(notes) < mostForgotten {
		notes = append(notes, p.note(p.full[0].number, nil))
		p.full = p.full[1:]
	}
	for len(p.full) == 0 && len(p.tail) > 0 && p.tail[0].until <= from {
		notes = append(notes, p.note(p.tail[0].number, nil))
		p.tail = p.tail[1:]
	}
	return notes
}
