package farend

import (
	"sync"
	"time"
)

const (
	wheelTick  = time.Millisecond
	wheelSlots = 4096 // a power of two; what waits longer than a turn is passed over until its turn
)

// wheel calls streams when their answers are due. One timer serves all of them, however many there are.
type wheel struct {
	begin time.Time
	due   func(*stream)

	mu      sync.Mutex
	slots   [wheelSlots][]waiting
	at      int64 // the tick that was served last
	pending int
	wake    chan struct{} // there is something to wait for again
	over    chan struct{}
	ended   sync.WaitGroup
}

type waiting struct {
	st   *stream
	tick int64
}

func newWheel(due func(*stream)) *wheel {
	w := &wheel{begin: time.Now(), due: due, wake: make(chan struct{}, 1), over: make(chan struct{})}
	w.ended.Add(1)
	go w.run()
	return w
}

func (w *wheel) tick() int64 { return int64(time.Since(w.begin) / wheelTick) }

// add calls st back after d, at the end of the millisecond.
func (w *wheel) add(st *stream, d time.Duration) {
	tick := int64((time.Since(w.begin) + d + wheelTick - 1) / wheelTick)
	w.mu.Lock()
	if w.pending == 0 {
		w.at = max(w.at, w.tick()-1)
	}
	tick = max(tick, w.at+1)
	slot := &w.slots[tick&(wheelSlots-1)]
	*slot = append(*slot, waiting{st, tick})
	w.pending++
	first := w.pending == 1
	w.mu.Unlock()
	if first {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// run serves tick after tick while anything is pending.
func (w *wheel) run() {
	defer w.ended.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var ready []*stream
	for {
		w.mu.Lock()
		now := w.tick()
		for w.pending > 0 && w.at < now {
			w.at++
			ready = w.take(ready)
		}
		idle := w.pending == 0
		next := w.begin.Add(time.Duration(w.at+1) * wheelTick)
		w.mu.Unlock()
		for i, st := range ready {
			w.due(st)
			ready[i] = nil
		}
		ready = ready[:0]
		wait := time.Until(next)
		if idle {
			wait = time.Hour // add wakes us
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-w.wake:
		case <-w.over:
			return
		}
	}
}

// take appends what is due in the present tick, and leaves what waits for a later turn.
func (w *wheel) take(ready []*stream) []*stream {
	slot := &w.slots[w.at&(wheelSlots-1)]
	kept := (*slot)[:0]
	for _, x := range *slot {
		if x.tick <= w.at {
			ready = append(ready, x.st)
		} else {
			kept = append(kept, x)
		}
	}
	w.pending -= len(*slot) - len(kept)
	clear((*slot)[len(kept):])
	*slot = kept
	return ready
}

// stop ends the wheel; what still waits is never called.
func (w *wheel) stop() {
	close(w.over)
	w.ended.Wait()
}
