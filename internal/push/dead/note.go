package dead

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// A room has notes of three forms, told apart by their keys:
//
//	p0123456789abcdef   a page: entries of 14 bytes, each a key (8), its instant (4) and the number of a Cause (2)
//	w012a               the Cause of that number, as JSON
//	0123456789abcdef    a page of the first form: entries of 12 bytes, without a cause. They are read, and never written
//
// Pages are in the order of their numbers, and entries in that of their page. The entries of a key are read in this
// order: each death raises its instant, and one without an instant brings it back to life.
const (
	oldEntrySize = 12
	entrySize    = 14
	noteEntries  = 4500 // of a full page: 63,000 bytes, below queue.MaxNoteBytes
	mergeNotes   = 16   // pages at the end that are made one, where they fit
	pagePrefix   = "p"
)

// entry is what is noted of a key.
type entry struct {
	key  uint64
	at   uint32 // 0: it is alive again
	what uint16 // the number of its cause; 0: not known
}

func appendEntry(b []byte, e entry) []byte {
	b = binary.BigEndian.AppendUint64(b, e.key)
	b = binary.BigEndian.AppendUint32(b, e.at)
	return binary.BigEndian.AppendUint16(b, e.what)
}

// readEntries calls f for each entry of a page's value.
func readEntries(value []byte, f func(entry)) error {
	if len(value)%entrySize != 0 {
		return fmt.Errorf("%d bytes are no whole number of entries", len(value))
	}
	for ; len(value) > 0; value = value[entrySize:] {
		f(entry{binary.BigEndian.Uint64(value), binary.BigEndian.Uint32(value[8:]),
			binary.BigEndian.Uint16(value[12:])})
	}
	return nil
}

// readOldEntries is readEntries of a page of the first form.
func readOldEntries(value []byte, f func(entry)) error {
	if len(value)%oldEntrySize != 0 {
		return fmt.Errorf("%d bytes are no whole number of entries", len(value))
	}
	for ; len(value) > 0; value = value[oldEntrySize:] {
		// An instant of 0 was never written; it would bring a device back to life.
		f(entry{key: binary.BigEndian.Uint64(value), at: max(1, binary.BigEndian.Uint32(value[8:]))})
	}
	return nil
}

// ledger says which pages of the room there are, in the order of their numbers.
type ledger struct {
	room string
	next uint64
	tail []page // the last ones, at most mergeNotes; those before are never touched again
}

// page is one that may be merged with others.
type page struct {
	number uint64
	value  []byte
}

func pageKey(number uint64) string { return pagePrefix + fmt.Sprintf("%016x", number) }

var errKey = errors.New("its key is none of a page or of a cause")

// pageNumber reads the key of a page. old: of the first form.
func pageNumber(key string) (number uint64, old bool, err error) {
	digits, is := strings.CutPrefix(key, pagePrefix)
	if len(digits) != 16 {
		return 0, false, errKey
	}
	number, err = strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, false, errKey
	}
	return number, !is, nil
}

// add makes the notes that keep further entries: one, and now and then one in place of several. The ledger is as it
// was until take is called.
func (l *ledger) add(value []byte) (notes []queue.Note, take func()) {
	tail := append(l.tail[:len(l.tail):len(l.tail)], page{l.next, value})
	if len(tail) >= mergeNotes {
		tail = l.merge(tail, &notes)
	}
	last := tail[len(tail)-1]
	notes = append(notes, queue.Note{Room: l.room, Key: pageKey(last.number), Value: last.value})
	return notes, func() {
		l.next++
		l.tail = tail
	}
}

// merge makes one page of as many of the last ones as fit, in their order. The others have become full enough to be
// left alone.
func (l *ledger) merge(tail []page, notes *[]queue.Note) []page {
	first, size := len(tail), 0
	for first > 0 && size+len(tail[first-1].value) <= noteEntries*entrySize {
		first--
		size += len(tail[first].value)
	}
	if len(tail)-first < 2 {
		return tail[len(tail)-1:]
	}
	merged := page{tail[len(tail)-1].number, make([]byte, 0, size)}
	for _, p := range tail[first:] {
		merged.value = append(merged.value, p.value...)
		if p.number != merged.number {
			*notes = append(*notes, queue.Note{Room: l.room, Key: pageKey(p.number)})
		}
	}
	return []page{merged}
}
