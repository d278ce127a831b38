package suspect

import (
	"hash/maphash"
	"sync"
	"time"
)

// Config is what a Watch goes by.
type Config struct {
	Percent int              // of the last Answers: so many doubts mean a mistake; 0: 5
	Answers int              // that are remembered; 0: 200
	Equal   bool             // a device that took a push before is as any other; not so: its doubt counts more
	Mistake func(Seen) error // says what is probably wrong: the reason for which requests wait
	Clock   func() time.Time // nil: time.Now
}

// Seen is what made a watch rest.
type Seen struct {
	Doubts, Answers int // of the last ones
}

// Verdict is what a doubt turned out to be.
type Verdict int

const (
	// Gone: it stood alone among good answers. The device is gone.
	Gone Verdict = iota
	// Mistake: there are too many. Nothing is known of the device; the push is to be tried again.
	Mistake
	// Unclear: too few answers came in time to tell. Gone or Mistake may follow.
	Unclear
)

// What Config has where it says nothing.
const (
	DefaultPercent = 5
	DefaultAnswers = 200
)

// Bounds of a watch.
const (
	startLimit  = 300             // requests at once while nothing is known
	raise       = 3               // by each good answer, while somebody waits
	noLimit     = 1 << 20         // nothing holds requests back from here on
	silence     = time.Minute     // after which nothing is known any more
	alone       = 20              // good answers after a doubt that settle it
	patience    = 2 * time.Second // for which a push waits to hear what its doubt is
	mostPending = 1000            // doubts that are not settled
	knownWeight = 3               // of a doubt about a device that took a push before
	firstRest   = 30 * time.Second
	longestRest = 5 * time.Minute
	probes      = 4               // go first after a rest
	knownFirst  = 3 * time.Second // only to devices that took a push before
	lookAgain   = time.Second     // for which others wait meanwhile
)

// Watch looks at the answers of one app, environment and topic. Its methods may be called from any goroutine; what they
// are given to call is called without a lock, from the caller's goroutine or another's.
type Watch struct {
	config Config
	seed   maphash.Seed

	mu      sync.Mutex
	answers []uint8 // weights of doubts, 0 for a good answer; the last ones, as a ring
	at      int
	doubts  int      // the sum of answers
	known   []uint64 // devices that took a push: some of them, each at the place of its hash
	last    time.Time

	bound           // of all requests
	waiting []entry // for that
	kinds   map[string]*kind
	held    int // of those that wait for others of their kind, of all kinds

	came    uint64 // doubts so far
	pending []*doubt
	goods   int         // of pending, together
	timer   *time.Timer // for those who wait to hear; nil: none runs
	closed  bool

	until   time.Time // the end of the rest
	rest    time.Duration
	why     error // nil: it neither rests nor lets some go first
	tried   int   // of those that go first, under way or in doubt
	inDoubt int   // of them
}

// doubt is one that is not settled.
type doubt struct {
	tell   func(Verdict)
	since  time.Time
	number uint64 // how many had come, with it
	goods  int    // good answers to requests that went after it and before the next one
	late   bool   // Unclear was told
}

// New makes a Watch, which knows nothing yet.
func New(c Config) *Watch {
	if c.Percent <= 0 {
		c.Percent = DefaultPercent
	}
	if c.Answers <= 0 {
		c.Answers = DefaultAnswers
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Watch{config: c, seed: maphash.MakeSeed(), bound: bound{limit: startLimit}}
}

// calls are what is to be called once the lock is given back.
type calls []func()

func (cs calls) run() {
	for _, call := range cs {
		call()
	}
}

// enterNow lets a request go if nothing holds it back.
func (w *Watch) enterNow(of string) (k *kind, came uint64, goes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why != nil || w.closed {
		return nil, 0, false
	}
	now := w.ask()
	if k = w.kindOf(of, now); k.full() || w.full() {
		return nil, 0, false
	}
	w.begin(k)
	return k, w.came, true
}

// enter calls goOn with 0 when a request for a device may go, and with its kind, and how many doubts had come by then;
// or with how long to wait, and why. Whoever was let go calls one of good, other and doubt, once.
func (w *Watch) enter(device, of string, goOn goOn) {
	w.mu.Lock()
	now := w.ask()
	if w.why != nil {
		wait, why, came := w.waits(device, now), w.why, w.came
		if wait == 0 {
			w.tried++
			w.begin(nil)
		}
		w.mu.Unlock()
		goOn(nil, came, wait, why)
		return
	}
	if w.closed {
		w.mu.Unlock()
		goOn(nil, 0, lookAgain, errClosed)
		return
	}
	e := entry{w.kindOf(of, now), goOn}
	if e.kind.full() || w.full() {
		w.stay(e)
		w.mu.Unlock()
		return
	}
	run := w.letGo(e)
	w.mu.Unlock()
	run()
}

// ask notes that somebody wants to send, and when that is.
func (w *Watch) ask() (now time.Time) {
	now = w.config.Clock()
	w.relax(now)
	if now.Sub(w.last) > silence && w.flying == 0 {
		w.limit = startLimit
	}
	w.last = now
	return now
}

// waits is how long a request waits while the watch rests or lets some go first.
func (w *Watch) waits(device string, now time.Time) time.Duration {
	switch {
	case w.until.After(now):
		return w.until.Sub(now)
	case w.tried >= probes, w.known != nil && now.Sub(w.until) < knownFirst && !w.isKnown(w.hash(device)):
		return lookAgain
	}
	return 0
}

// good tells that the far end took a push for a device, or knows it: app, environment and topic are right, or were when
// the request went. came is what enter gave it.
func (w *Watch) good(device string, k *kind, came uint64) {
	w.mu.Lock()
	w.over(k)
	w.remember(w.hash(device))
	var next calls
	if w.why == nil || !w.until.After(w.config.Clock()) { // what was sent before a rest does not end it
		w.why, w.rest, w.tried, w.inDoubt = nil, 0, 0, 0
		w.note(0)
		w.credit(came)
		w.raise(len(w.waiting)+w.held > 0)
		if k != nil {
			k.raise(len(k.waiting) > 0)
		}
		next = append(w.settle(), w.further()...)
	}
	w.mu.Unlock()
	next.run()
}

// other tells that an answer said nothing of the device, or that there was none, or that nothing was sent.
func (w *Watch) other(k *kind) {
	w.mu.Lock()
	w.over(k)
	if w.why != nil && w.tried > w.inDoubt {
		w.tried--
	}
	next := w.further()
	w.mu.Unlock()
	next.run()
}

// doubt tells of an answer that means one or the other. tell is called with Gone or Mistake, once; where that takes
// long, with Unclear before, from another goroutine, which may be overtaken.
func (w *Watch) doubt(device string, k *kind, tell func(Verdict)) {
	w.mu.Lock()
	w.over(k)
	now := w.config.Clock()
	if w.closed {
		w.mu.Unlock()
		tell(Mistake)
		return
	}
	if w.why != nil {
		next := w.again(now)
		w.mu.Unlock()
		tell(Mistake)
		next.run()
		return
	}
	weight := uint8(1)
	if w.isKnown(w.hash(device)) {
		weight = knownWeight
	}
	w.note(weight)
	w.came++
	w.pending = append(w.pending, &doubt{tell: tell, since: now, number: w.came})
	var next calls
	if w.mistaken() {
		next = w.stop(now, w.config.Mistake(w.seen()))
	} else {
		next = append(w.forget(), w.further()...)
		w.time()
	}
	w.mu.Unlock()
	next.run()
}

// Why is for what requests wait; nil: they do not.
func (w *Watch) Why() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// Close gives up all doubts that are not settled, as Mistake, and lets nobody go any more.
func (w *Watch) Close() {
	w.mu.Lock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
	next := append(w.unsettle(), w.release(lookAgain, errClosed)...)
	w.mu.Unlock()
	next.run()
}
