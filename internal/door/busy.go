package door

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrBusy: what requests and answers hold in memory leaves no room for another one now. Doors tell it as something to
// try again.
var ErrBusy = errors.New("too much is being sent and answered at once")

// defaultPatience is how long a request waits for its share of the bytes unless an account says otherwise.
const defaultPatience = 10 * time.Second

// smallBytes is what passes those who wait for more: else every small request would wait behind a large one.
const smallBytes = 64 << 10

// Busy counts the bytes that requests and their answers hold in memory against a bound: one account a process. Whoever
// takes gives back. Nobody should take twice without having given back: two who each hold a part and wait for more wait
// in vain, until their patience ends. Who has to, takes more without waiting (TryMore). Its methods may be called from
// any goroutine. A nil Busy has no bound.
type Busy struct {
	Patience time.Duration // how long a Take waits; 0: 10 s. It is set before the account is used

	limit  int64
	within *Busy // nil: none
	used   atomic.Int64
	still  *Busy // what connections and streams hold; nil in a share
	each   int64 // of what stands open: what each door has of that for itself
	// alone is what this share takes of nobody's but itself: only what is taken beyond it is taken of within, too.
	alone int64
	lone  sync.Mutex   // held while used changes of a share with something alone
	aside atomic.Int64 // of what stands open: that doors have taken of what is theirs alone

	mu      sync.Mutex
	waiting list.List // of *taking, the oldest first
	crowded atomic.Bool
}

// taking is a Take that waits.
type taking struct {
	n    int64
	from *Busy         // a share with something alone: it waits for that one's, in the line of the account; nil: none
	done chan struct{} // closed when it has its share
}

// NewBusy makes an account of limit bytes.
func NewBusy(limit int64) *Busy {
	limit = max(limit, 1)
	still := max(limit/standingShare, 1)
	each := still / aloneShare
	return &Busy{limit: limit, still: &Busy{limit: still - mostDoors*each, each: each}}
}

// standingShare is which part of an account there is besides for what stands open, and aloneShare which part of that
// each of so many doors has for itself.
const (
	standingShare = 4
	aloneShare    = 32
	mostDoors     = 6
)

// DefaultBusy is the account for a process that may take so much memory in all (0: not known): half of it, and 4 GiB at
// most. The rest is for the store, and for what lives beside what is counted.
func DefaultBusy(memory int64) int64 {
	const least, most, unknown = 16 << 20, 4 << 30, 1 << 30
	if memory <= 0 {
		return unknown
	}
	return min(max(memory/2, least), most)
}

// Share is an account of its own within b: what is taken of it is taken of both. A limit of 0 or above b's is b's.
func (b *Busy) Share(limit int64) *Busy {
	if limit <= 0 || limit > b.Limit() {
		limit = b.Limit()
	}
	share := &Busy{limit: limit, within: b}
	if b != nil {
		share.Patience = b.Patience
	}
	return share
}

// Standing is the account of what connections and streams hold for as long as they are open, all of all doors together,
// but for what each door has alone. With that it has a quarter of b's bytes, beside them: however many stand idle,
// requests have their room, and however much requests take, who comes is let in and told so. Of a share it is its
// account's.
func (b *Busy) Standing() *Busy {
	for b != nil && b.within != nil {
		b = b.within
	}
	if b == nil {
		return nil
	}
	return b.still
}

// StandingOfDoor is what one door may take of what stands open, an account of its own within Standing: three quarters
// of all, so that who keeps connections of one door open leaves some for the others, by which an operator sees what
// goes on. A part of it is the door's alone: it is there also when the connections of several others are held. A door
// asks once, of at most mostDoors.
func (b *Busy) StandingOfDoor() *Busy {
	of := b.Standing()
	if of == nil {
		return of.Share(0)
	}
	return &Busy{limit: max((of.limit+mostDoors*of.each)/4*3, 1), within: of, alone: of.each, Patience: of.Patience}
}

// Limit is the bound; 1<<62 without one.
func (b *Busy) Limit() int64 {
	if b == nil {
		return 1 << 62
	}
	return b.limit
}

// Used is how many bytes are taken.
func (b *Busy) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load() + b.aside.Load()
}

// Try takes n bytes if there are so many left and nobody waits for them.
func (b *Busy) Try(n int64) bool {
	for a := b; a != nil && n > smallBytes && !a.hasAlone(n); a = a.within {
		if a.crowded.Load() {
			return false
		}
	}
	return b.more(n)
}

// TryMore takes n bytes for who holds some already, if there are so many left, also when others wait for them: what it
// holds comes back the sooner. The error is ErrBusy, and says that what takes them.
func (b *Busy) TryMore(n int64, what string) error {
	if b.more(n) {
		return nil
	}
	return fmt.Errorf("%w: %s takes %d bytes, and there are %d of %d left (limits: busy_bytes)", ErrBusy, what, n,
		max(b.limit-b.Used(), 0), b.limit)
}

// own tells whether b is a share that has something alone.
func (b *Busy) own() bool { return b.within != nil && b.alone > 0 }

// hasAlone tells whether n bytes are there that nobody else can take.
func (b *Busy) hasAlone(n int64) bool { return b.own() && b.used.Load()+n <= b.alone }

// beyond is how much of so many bytes that are taken of b is taken of within, too.
func (b *Busy) beyond(used int64) int64 { return max(used-b.alone, 0) }

// change takes n bytes, if they are there or must be, or gives them back, of a share that has something alone.
func (b *Busy) change(n int64, must bool) bool {
	b.lone.Lock()
	defer b.lone.Unlock()
	used := b.used.Load()
	n2 := b.beyond(used+n) - b.beyond(used)
	switch {
	case n > 0 && !must && (n > b.limit-used || n2 > 0 && !b.within.add(n2)):
		return false
	case n <= 0 || must:
		b.within.used.Add(n2)
	}
	b.within.aside.Add(n - n2)
	b.used.Store(used + n)
	return true
}

// more takes n bytes if there are so many.
func (b *Busy) more(n int64) bool {
	if b == nil || n <= 0 {
		return true
	}
	if b.own() {
		return b.change(n, false)
	}
	if !b.add(n) {
		return false
	}
	if !b.within.more(n) {
		b.back(n)
		return false
	}
	return true
}

// add takes n bytes if there are so many. It never counts them for a moment only: who waits might look in that moment.
func (b *Busy) add(n int64) bool {
	for {
		used := b.used.Load()
		if n > b.limit-used {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// Take takes n bytes, and waits for them for some seconds. The error is ErrBusy or ctx's; nothing is taken then. More
// than there can ever be is refused at once.
func (b *Busy) Take(ctx context.Context, n int64) error {
	if b.Try(n) {
		return nil
	}
	if n > b.limit {
		return fmt.Errorf("%w: %d bytes are wanted, and there are %d for all", ErrBusy, n, b.limit)
	}
	patience := b.Patience
	if patience == 0 {
		patience = defaultPatience
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%w: within %v there was no room for %d bytes "+
		"more beside the %d of %d that others hold", ErrBusy, patience, n, b.Used(), b.limit))
	defer cancel()
	return b.wait(ctx, n)
}

// wait is Take until ctx ends.
func (b *Busy) wait(ctx context.Context, n int64) error {
	if b == nil {
		return nil
	}
	t := &taking{n: n, done: make(chan struct{})}
	of := b
	if b.own() {
		t.from, of = b, b.within
	}
	err := of.line(ctx, t)
	if err != nil || of.within == nil || of.within.Try(n) {
		return err
	}
	if err = of.within.wait(ctx, n); err != nil {
		of.back(n)
	}
	return err
}

// line has t wait in b's line until it has its share of it. The error is ctx's.
func (b *Busy) line(ctx context.Context, t *taking) error {
	b.mu.Lock()
	place := b.waiting.PushBack(t)
	b.crowded.Store(true)
	b.serve() // what was given back since Try
	b.mu.Unlock()
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		b.mu.Lock()
		select {
		case <-t.done: // served in that moment
			b.mu.Unlock()
			if t.from != nil {
				t.from.Give(t.n)
			} else {
				b.back(t.n)
			}
		default:
			b.waiting.Remove(place)
			b.serve() // those behind may want less
			b.mu.Unlock()
		}
		return context.Cause(ctx)
	}
}

// serve gives the oldest of those who wait their shares. Who waits for what a door has alone holds up nobody: that door
// may have had all that it can have. mu is held.
func (b *Busy) serve() {
	var next *list.Element
	for e := b.waiting.Front(); e != nil; e = next {
		t := e.Value.(*taking)
		next = e.Next()
		switch {
		case t.from == nil && !b.add(t.n):
			return
		case t.from != nil && !t.from.change(t.n, false):
			continue
		}
		b.waiting.Remove(e)
		close(t.done)
	}
	b.crowded.Store(b.waiting.Len() > 0)
}

// Give gives n bytes back.
func (b *Busy) Give(n int64) {
	if b == nil || n <= 0 {
		return
	}
	if b.own() {
		b.change(-n, true)
		b.within.back(0)
		return
	}
	b.within.Give(n)
	b.back(n)
}

func (b *Busy) back(n int64) {
	b.used.Add(-n)
	if b.crowded.Load() {
		b.mu.Lock()
		b.serve()
		b.mu.Unlock()
	}
}

// Hold is what one request has taken of a Busy, to be given back at its end. It is for one goroutine at a time.
type Hold struct {
	Of      *Busy
	Traffic *Traffic // counts it while it waits; nil: nobody does
	n       int64
}

// Take takes n bytes more, as Busy.Take does.
func (h *Hold) Take(ctx context.Context, n int64) error {
	if h.Try(n) {
		return nil
	}
	if waiting := h.Traffic.Waiting(ForRoom); waiting != nil {
		waiting.Inc()
		defer waiting.Dec()
	}
	err := h.Of.Take(ctx, n)
	if err == nil {
		h.n += n
	}
	return err
}

// Try takes n bytes more if there are so many left.
func (h *Hold) Try(n int64) bool {
	ok := h.Of.Try(n)
	if ok {
		h.n += n
	}
	return ok
}

// Owe takes n bytes more whether they are left or not: for what is there already and cannot be refused any more. Nobody
// is given any before others have given them back.
func (h *Hold) Owe(n int64) {
	for b := h.Of; b != nil; b = b.within {
		if b.own() {
			b.change(n, true)
			break
		}
		b.used.Add(n)
	}
	h.n += n
}

// None tells whether nothing is taken.
func (h *Hold) None() bool { return h.n == 0 }

// Leave forgets what was taken and returns it: the caller gives it back to Of when the time has come.
func (h *Hold) Leave() (n int64) {
	n, h.n = h.n, 0
	return n
}

// Keep gives back all but n bytes.
func (h *Hold) Keep(n int64) {
	if n < h.n {
		h.Of.Give(h.n - n)
		h.n = n
	}
}

// End gives everything back. A second one does nothing.
func (h *Hold) End() { h.Keep(0) }
