package push

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/away"
)

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

// worked ends all pauses.
func (p *pause) worked() { *p = pause{} }

// failed tells of a failure of a request that was sent at a time. Requests that were under way already when a pause
// began do not make the next one longer.
func (p *pause) failed(sent, now time.Time) {
	p.failures++
	if p.failures <= patience || sent.Before(p.began) || now.Before(p.until) {
		return
	}
	p.length = min(max(2*p.length, firstPause), longestPause)
	p.began, p.until = now, now.Add(p.length)
}

// left is how long nothing may be sent yet.
func (p *pause) left(now time.Time) time.Duration { return max(p.until.Sub(now), 0) }

// lately is how long ago an endpoint may have taken a message for which a few failures are nothing to tell.
const lately = 5 * time.Second

// outage is how long an endpoint has taken nothing, and what was told of it.
type outage struct {
	last     time.Time // that it took a message
	failures int       // since then
	telling  away.Telling
}

// failed tells whether a failure is to be told.
func (o *outage) failed(now time.Time) bool {
	o.failures++
	return (o.failures > patience || now.Sub(o.last) >= lately) && o.telling.Due(now)
}

// worked tells whether the end of an outage is to be told.
func (o *outage) worked(now time.Time) bool {
	o.last, o.failures = now, 0
	return o.telling.Over(now)
}
