package suspect

import (
	"cmp"
	"errors"
	"hash/maphash"
	"slices"
	"time"
)

var errClosed = errors.New("the sink is closing")

// note remembers an answer among the last ones.
func (w *Watch) note(weight uint8) {
	if len(w.answers) < w.config.Answers {
		w.answers = append(w.answers, weight)
	} else {
		w.doubts -= int(w.answers[w.at])
		w.answers[w.at] = weight
		w.at = (w.at + 1) % len(w.answers)
	}
	w.doubts += int(weight)
}

// mistaken tells whether there are too many doubts. Answers that have not come yet count as good ones.
func (w *Watch) mistaken() bool { return w.doubts*100 >= w.config.Percent*w.config.Answers }

func (w *Watch) seen() Seen {
	s := Seen{Answers: len(w.answers)}
	for _, weight := range w.answers {
		if weight > 0 {
			s.Doubts++
		}
	}
	return s
}

// credit counts a good answer for the doubts that had come when its request went. Of the others it says nothing: the
// far end may have answered it before the mistake began.
func (w *Watch) credit(came uint64) {
	i, _ := slices.BinarySearchFunc(w.pending, came+1, func(d *doubt, n uint64) int { return cmp.Compare(d.number, n) })
	if i > 0 {
		w.pending[i-1].goods++
		w.goods++
	}
}

// settle finds the doubts that stand alone. The first has all good answers that the others have.
func (w *Watch) settle() (next calls) {
	for len(w.pending) > 0 && w.goods >= alone {
		tell := w.drop().tell
		next = append(next, func() { tell(Gone) })
	}
	return next
}

// drop takes the first doubt out.
func (w *Watch) drop() *doubt {
	d := w.pending[0]
	w.pending[0] = nil
	w.pending = w.pending[1:]
	w.goods -= d.goods
	return d
}

// forget keeps the doubts within their bound.
func (w *Watch) forget() (next calls) {
	for len(w.pending) > mostPending {
		d := w.drop()
		if !d.late {
			next = append(next, func() { d.tell(Unclear) })
		}
	}
	return next
}

// unsettle gives up all doubts: they say nothing of their devices.
func (w *Watch) unsettle() (next calls) {
	for _, d := range w.pending {
		next = append(next, func() { d.tell(Mistake) })
	}
	w.pending, w.goods = nil, 0
	return next
}

// stop begins a rest.
func (w *Watch) stop(now time.Time, why error) calls {
	w.rest = min(max(2*w.rest, firstRest), longestRest)
	w.until, w.why = now.Add(w.rest), why
	w.tried, w.inDoubt = 0, 0
	w.answers, w.at, w.doubts = nil, 0, 0
	w.limit = startLimit
	for _, k := range w.kinds {
		k.limit = startLimit
	}
	return append(w.unsettle(), w.release(w.rest, why)...)
}

// again goes on with a rest after a doubt about one that went first, or that was on its way before.
func (w *Watch) again(now time.Time) calls {
	if w.until.After(now) || w.tried == 0 {
		return nil
	}
	if w.inDoubt++; w.inDoubt < probes {
		return nil
	}
	return w.stop(now, w.why)
}

// time runs the timer for doubts about which nobody was told anything.
func (w *Watch) time() {
	if w.timer != nil || w.closed {
		return
	}
	for _, d := range w.pending {
		if !d.late {
			w.timer = time.AfterFunc(max(0, d.since.Add(patience).Sub(w.config.Clock())), w.look)
			return
		}
	}
}

// look tells those who have waited long enough.
func (w *Watch) look() {
	w.mu.Lock()
	w.timer = nil
	now := w.config.Clock()
	var next calls
	for _, d := range w.pending {
		if !d.late && now.Sub(d.since) >= patience {
			d.late = true
			next = append(next, func() { d.tell(Unclear) })
		}
	}
	w.time()
	w.mu.Unlock()
	next.run()
}

// knownDevices is how many devices that took a push are remembered at most.
const knownDevices = 1 << 16

func (w *Watch) hash(device string) uint64 { return max(1, maphash.String(w.seed, device)) }

func (w *Watch) remember(hash uint64) {
	if w.config.Equal {
		return
	}
	if w.known == nil {
		w.known = make([]uint64, knownDevices)
	}
	w.known[hash%knownDevices] = hash
}

func (w *Watch) isKnown(hash uint64) bool {
	return w.known != nil && w.known[hash%knownDevices] == hash
}
