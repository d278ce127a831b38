package dead

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	entrySize   = 12
	noteEntries = 5000 // of a full note: 60,000 bytes, below queue.MaxNoteBytes
	mergeNotes  = 16   // notes at the end that are made one, where they fit
)

// entry is a key and its instant.
type entry struct {
	key uint64
	at  uint32
}

func appendEntry(b []byte, e entry) []byte {
	b = binary.BigEndian.AppendUint64(b, e.key)
	return binary.BigEndian.AppendUint32(b, e.at)
}

// readEntries calls f for each entry of a note's value.
func readEntries(value []byte, f func(entry)) error {
	if len(value)%entrySize != 0 {
		return fmt.Errorf("%d bytes are no whole number of entries", len(value))
	}
	for ; len(value) > 0; value = value[entrySize:] {
		f(entry{binary.BigEndian.Uint64(value), binary.BigEndian.Uint32(value[8:])})
	}
	return nil
}

// ledger says which notes of the room there are, in the order of their numbers. Which note an entry is in does not matter: of several
// entries of one key the latest instant counts.
type ledger struct {
	room string
	next uint64
	tail []page // the last ones, at most mergeNotes; those before are never touched again
}

// page is a note that may be merged with others.
type page struct {
	number uint64
	value  []byte
}

func pageKey(number uint64) string { return fmt.Sprintf("%016x", number) }

func pageNumber(key string) (uint64, error) { return strconv.ParseUint(key, 16, 64) }

// add makes the notes that keep further entries: one, and now and then one in place of several. The ledger is as it was until take
// is called.
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

// merge makes one note of as many of the last ones as fit. The others have become full enough to be left alone.
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
