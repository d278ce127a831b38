package file

import "sync"

const shelfWindows = 16

// shelf keeps what readers read last, so that the next reader goes on where one before it ended: a backlog is drained
// by many calls, each for a record or a few.
type shelf struct {
	mu   sync.Mutex
	kept []*window // the one used last at the end
}

// take returns the window that is best for reading at an offset of a segment. It is the caller's until put.
func (k *shelf) take(s *segment, offset int64) *window {
	k.mu.Lock()
	defer k.mu.Unlock()
	best := -1
	for i, w := range k.kept {
		// its group may begin before what was read last
		if end := w.from + int64(w.n); w.s == s && w.n > 0 && offset >= w.from-windowNear && offset < end+windowNear {
			best = i
		}
	}
	if best < 0 && len(k.kept) < shelfWindows {
		return new(window)
	}
	best = max(best, 0)
	w := k.kept[best]
	k.kept = append(k.kept[:best], k.kept[best+1:]...)
	return w
}

// put takes a window back.
func (k *shelf) put(w *window) {
	if !w.fixed {
		w.s, w.n = nil, 0 // what was not there yet may be there next time
	}
	if w.buf != nil && cap(*w.buf) > windowOn {
		w.buf, w.n = nil, 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) == shelfWindows {
		k.kept = append(k.kept[:0], k.kept[1:]...)
	}
	k.kept = append(k.kept, w)
}
