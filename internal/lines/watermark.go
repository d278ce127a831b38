package lines

import (
	"slices"
	"sync"
)

// Watermark keeps the lowest offset of a stream that is not yet settled, while lines are settled in any order. The
// memory it takes follows the number of lines under way, not the number that were settled behind one that is stuck.
//
// Its methods may be called from any goroutine. The zero Watermark begins at offset 0.
type Watermark struct {
	mu     sync.Mutex
	open   []place // ascending by offset
	closed int     // settled places still in open
	next   int64   // where the line after the last one begins
}

type place struct {
	offset  int64
	settled bool
}

// NewWatermark begins at an offset: everything before it is settled.
func NewWatermark(at int64) *Watermark { return &Watermark{next: at} }

// Begin notes that the line from offset to end goes under way, and returns the mark that holds with it: the lowest
// offset that is not settled. Lines begin in ascending order.
func (w *Watermark) Begin(offset, end int64) (low int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, place{offset: offset})
	w.next = end
	return w.low()
}

// Skip notes that there is nothing to deliver before end.
func (w *Watermark) Skip(end int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = max(w.next, end)
}

// Settle notes that the line at offset is settled. An offset that is not under way is ignored.
func (w *Watermark) Settle(offset int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, ok := slices.BinarySearchFunc(w.open, offset, func(p place, o int64) int {
		switch {
		case p.offset < o:
			return -1
		case p.offset > o:
			return 1
		}
		return 0
	})
	if !ok || w.open[i].settled {
		return
	}
	w.open[i].settled = true
	w.closed++
	w.tidy()
}

// Low is the lowest offset that is not settled: a reader that begins there misses nothing.
func (w *Watermark) Low() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.low()
}

// Open is the number of lines under way.
func (w *Watermark) Open() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open) - w.closed
}

func (w *Watermark) low() int64 {
	if len(w.open) == 0 {
		return w.next
	}
	return w.open[0].offset
}

// tidy forgets the settled places at the front, and the others once they outnumber those under way.
func (w *Watermark) tidy() {
	n := 0
	for n < len(w.open) && w.open[n].settled {
		n++
	}
	w.open, w.closed = w.open[n:], w.closed-n
	if w.closed > 64 && w.closed > len(w.open)/2 {
		w.open = slices.DeleteFunc(w.open, func(p place) bool { return p.settled })
		w.closed = 0
	}
}
