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
	kind   *kind  // nil: of none
	came   uint64 // doubts before it went
}

// Enter lets a request for a device go when it may: goOn is called with 0, then or later, and p is to be told what
// became of the request. It is called with how long to wait, and why, when nothing is to be sent now. of is a kind:
// what further requests have in common with this one, such as a campaign. Of each new kind few go until good answers
// have come. "": it is of none.
func (w *Watch) Enter(p *Pass, device, of string, goOn func(wait time.Duration, why error)) {
	if w.Try(p, device, of) {
		goOn(0, nil)
		return
	}
	w.enter(device, of, func(k *kind, came uint64, wait time.Duration, why error) {
		if wait == 0 {
			*p = Pass{w, device, k, came}
		}
		goOn(wait, why)
	})
}

// Try is Enter for a request that may go at once, without the cost of one that may have to wait; else it does nothing
// and returns false.
func (w *Watch) Try(p *Pass, device, of string) bool {
	k, came, goes := w.enterNow(of)
	if goes {
		*p = Pass{w, device, k, came}
	}
	return goes
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
		w.good(p.device, p.kind, p.came)
	} else {
		w.other(p.kind)
	}
}

// Doubt tells of an answer that means that the device is gone, or that the sender is wrong. p.Waits has to be true.
// tell is called with Gone or Mistake, and where that takes long also with Unclear; first is true for one of the two
// calls, in whatever goroutines they are: the one that answers for the push.
func (p *Pass) Doubt(tell func(v Verdict, first bool)) {
	w := p.w
	p.w = nil
	var told atomic.Bool
	w.doubt(p.device, p.kind, func(v Verdict) { tell(v, told.CompareAndSwap(false, true)) })
}
