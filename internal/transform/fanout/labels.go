package fanout

import (
	"context"
	"encoding/binary"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// labels number pages, all runs' together, and never use a number twice. They are the offsets of the items' Origin: a
// queue refuses what it took before from one, and forgets those below the mark, which is the least label of a page that
// is not settled.
type labels struct {
	next, reserved uint64
	low            uint64          // no page below it is open
	open           map[uint64]bool // pages that are not settled
}

// labelBlock is how many labels are reserved at a time.
const labelBlock = 1024

// take returns a fresh label. keep makes the bound durable below which labels are used.
func (l *labels) take(keep func(bound uint64) error) (uint64, error) {
	if l.next >= l.reserved {
		if err := keep(l.next + labelBlock); err != nil {
			return 0, err
		}
		l.reserved = l.next + labelBlock
	}
	n := l.next
	l.next++
	l.open[n] = true
	return n, nil
}

// close notes that a page is settled.
func (l *labels) close(label uint64) { delete(l.open, label) }

// mark is the least label that may still be sent.
func (l *labels) mark() uint64 {
	if len(l.open) == 0 {
		l.low = l.next
		return l.low
	}
	for l.low < l.next && !l.open[l.low] {
		l.low++
	}
	return l.low
}

// load begins behind what was used before.
func (l *labels) load(value []byte) {
	l.open = map[uint64]bool{}
	l.next = 1 // a mark of 0 is none
	if len(value) == 8 {
		l.next = max(1, binary.BigEndian.Uint64(value))
	}
	l.reserved, l.low = l.next, 1
}

// reopen takes in a page of an earlier start.
func (l *labels) reopen(label uint64) { l.open[label] = true }

// label takes a fresh label for a page. The lock is held: it waits for the disk once in so many pages.
func (t *Fanout) label(ctx context.Context) (uint64, error) {
	return t.labels.take(func(bound uint64) error {
		if t.memory == nil {
			return nil
		}
		return t.memory.KeepNotes(ctx,
			queue.Note{Room: t.room, Key: noteLabels, Value: binary.BigEndian.AppendUint64(nil, bound)})
	})
}
