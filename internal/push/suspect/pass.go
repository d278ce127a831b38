package suspect

import (
	"sync/atomic"
	"time"
)

// Pass is a request's way past a Watch. The zero value has passed none, and nothing follows from what it is told. One
// goroutine uses it at a time.
type Pass struct {
	w      *Watch // that let it go and was told nothing yet; nil: none
	device string
	came   uint64 // doubts before it went
}

// Enter lets a request for a device go when it may: goOn is called with 0, then or later, and p is to be told what
// became of the request. It is called with how long to wait, and why, when nothing is to be sent now.
func (w *Watch) Enter(p *Pass, device string, goOn func(wait time.Duration, why error)) {
	w.enter(device, func(came uint64, wait time.Duration, why error) {
		if wait == 0 {
			*p = Pass{w, device, came}
		}
		goOn(wait, why)
	})
}

// Waits tells whether p has passed a Watch that was not told what became of the request.
func (p *Pass) Waits() bool { return p.w != nil }

// End tells what became of the request. right: the far end took it, or knows the device, so that app, environment and
// topic are right; otherwise it said nothing of the kind, or nothing at all.
func (p *Pass) End(right bool) {
	w := p.w
	if p.w = nil; w == nil {
		return
	}
	if right {
		w.good(p.device, p.came)
	} else {
		w.other()
	}
}

// Doubt tells of an answer that means that the device is gone, or that the sender is wrong. p.Waits has to be true.
// tell is called with Gone or Mistake, and where that takes long also with Unclear; first is true for one of the two
// calls, in whatever goroutines they are: the one that answers for the push.
func (p *Pass) Doubt(tell func(v Verdict, first bool)) {
	w := p.w
	p.w = nil
	var told atomic.Bool
	w.doubt(p.device, func(v Verdict) { tell(v, told.CompareAndSwap(false, true)) })
}
