package push

import "time"

// window says how many requests may be under way. It is a number of slow start: doubled in each round that works,
// halved by what does not.
type window struct {
	size, most int
}

const (
	firstWindow = 4 // where it begins
	// leastWindow leaves room beside a message that always fails: it comes again at once, as the oldest, and alone it
	// would stop all others.
	leastWindow = 2
)

func newWindow(most int) window { return window{size: min(firstWindow, most), most: most} }

func (w *window) worked() { w.size = min(w.size+1, w.most) }

func (w *window) failed() { w.size = max(w.size/2, min(leastWindow, w.most)) }

// pause says until when nothing is sent because deliveries keep failing.
type pause struct {
	failures int           // since the last success
	length   time.Duration // of the last pause since then; 0: there was none
	began    time.Time     // of the last pause
	until    time.Time
}

const (
	patience     = 3 // so many failures, one after the other, are no reason to pause
	firstPause   = 100 * time.Millisecond
	longestPause = time.Minute
)

// worked ends all pauses. It tells whether there was one since the last success.
func (p *pause) worked() (paused bool) {
	paused = p.length > 0
	*p = pause{}
	return paused
}

// failed tells of a failure of a request that was sent at a time. Requests that were under way already when a pause
// began do not make the next one longer. It tells whether this began the first pause since the last success.
func (p *pause) failed(sent, now time.Time) (first bool) {
	p.failures++
	if p.failures <= patience || sent.Before(p.began) || now.Before(p.until) {
		return false
	}
	first = p.length == 0
	p.length = min(max(2*p.length, firstPause), longestPause)
	p.began, p.until = now, now.Add(p.length)
	return first
}

// left is how long nothing may be sent yet.
func (p *pause) left(now time.Time) time.Duration { return max(p.until.Sub(now), 0) }
