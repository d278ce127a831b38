package suspect

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	// mostKinds is how many kinds of requests are told apart; others go as those of no kind do.
	mostKinds = 64
	// peakTime is how often a limit is brought down to what was needed.
	peakTime = time.Second
)

// bound is how many requests may be under way at once. It starts low, rises with good answers while somebody waits, and
// falls to what is needed when nobody does: what was right for a few tells nothing of many.
type bound struct {
	limit, flying int
	peak          int // of flying, since
	since         time.Time
}

func (b *bound) full() bool { return b.flying >= b.limit }

func (b *bound) begin() {
	b.flying++
	b.peak = max(b.peak, b.flying)
}

// raise follows a good answer.
func (b *bound) raise(someWait bool) {
	if someWait {
		b.limit = min(b.limit+raise, noLimit)
	}
}

// relax brings the limit down, now and then.
func (b *bound) relax(now time.Time) {
	if now.Sub(b.since) < peakTime {
		return
	}
	b.limit = max(startLimit, min(b.limit, 2*b.peak))
	b.peak, b.since = b.flying, now
}

// kind is what requests of one kind have in common, such as a campaign: it may be wrong by itself, whatever others of
// the watch are.
type kind struct {
	bound
	waiting []entry
}

// entry is a request that waits for others to be answered.
type entry struct {
	kind *kind // nil: of none
	goOn goOn
}

// goOn is told that a request may go, or how long it is to wait, and why.
type goOn func(k *kind, came uint64, wait time.Duration, why error)

func (k *kind) full() bool { return k != nil && k.bound.full() }

// KindOf is the kind of the requests that a message becomes: its campaign.
func KindOf(m *message.Message) string {
	v, _ := m.Attributes.Get(campaign.Attribute)
	return v.AsString()
}

// kindOf finds a kind, or makes it in the place of one that nothing is under way of. nil: it is told apart from nobody.
func (w *Watch) kindOf(name string, now time.Time) *kind {
	if name == "" {
		return nil
	}
	if k := w.kinds[name]; k != nil {
		k.relax(now)
		return k
	}
	if len(w.kinds) >= mostKinds && !w.forgetKind() {
		return nil
	}
	if w.kinds == nil {
		w.kinds = map[string]*kind{}
	}
	k := &kind{bound: bound{limit: startLimit, since: now}}
	w.kinds[name] = k
	return k
}

// forgetKind forgets the kind that was not used for longest.
func (w *Watch) forgetKind() bool {
	oldest := ""
	for name, k := range w.kinds {
		if k.flying == 0 && len(k.waiting) == 0 && (oldest == "" || k.since.Before(w.kinds[oldest].since)) {
			oldest = name
		}
	}
	delete(w.kinds, oldest)
	return oldest != ""
}

// begin counts a request that goes.
func (w *Watch) begin(k *kind) {
	w.bound.begin()
	if k != nil {
		k.begin()
	}
}

// over counts one that was answered.
func (w *Watch) over(k *kind) {
	w.flying--
	if k != nil {
		k.flying--
	}
}

// stay keeps a request until it may go.
func (w *Watch) stay(e entry) {
	if e.kind.full() {
		e.kind.waiting = append(e.kind.waiting, e)
		w.held++
		return
	}
	w.waiting = append(w.waiting, e)
}

// further lets go who waits for others to be answered.
func (w *Watch) further() (next calls) {
	for len(w.waiting) > 0 && !w.full() {
		e := w.waiting[0]
		w.waiting[0] = entry{}
		w.waiting = w.waiting[1:]
		if e.kind.full() {
			w.stay(e)
			continue
		}
		next = append(next, w.letGo(e))
	}
	if w.held == 0 {
		return next
	}
	for _, k := range w.kinds {
		for len(k.waiting) > 0 && !k.full() && !w.full() {
			e := k.waiting[0]
			k.waiting[0] = entry{}
			k.waiting = k.waiting[1:]
			w.held--
			next = append(next, w.letGo(e))
		}
	}
	return next
}

func (w *Watch) letGo(e entry) func() {
	w.begin(e.kind)
	came := w.came
	return func() { e.goOn(e.kind, came, 0, nil) }
}

// release tells those who wait that nothing is sent now.
func (w *Watch) release(wait time.Duration, why error) (next calls) {
	for _, e := range w.waiting {
		next = append(next, func() { e.goOn(nil, 0, wait, why) })
	}
	w.waiting, w.held = nil, 0
	for _, k := range w.kinds {
		for _, e := range k.waiting {
			next = append(next, func() { e.goOn(nil, 0, wait, why) })
		}
		k.waiting = nil
	}
	return next
}
