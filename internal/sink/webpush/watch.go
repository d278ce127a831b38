package webpush

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/rest"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
)

const (
	// mostWatches is how many push services have a watch of their own; the others share one.
	mostWatches = 100
	// trusted is how long after a good answer a push service counts as one that takes our key.
	trusted = 10 * time.Minute
)

// watch looks at what a push service answers to our key: a subscription may be of another key, or the key is wrong for
// all.
type watch struct {
	*suspect.Watch
	good atomic.Int64 // when it last took something, in nanoseconds since 1970; 0: never
}

// trusts tells whether it has taken something lately.
func (w *watch) trusts(now time.Time) bool { return now.Sub(time.Unix(0, w.good.Load())) < trusted }

// watches are those of push services, by origin.
type watches struct {
	config func(origin string) suspect.Config

	mu     sync.Mutex
	all    map[string]*watch
	closed bool
}

// of is the watch over an origin.
func (ws *watches) of(origin string) *watch {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.all[origin]; w != nil {
		return w
	}
	if len(ws.all) >= mostWatches {
		origin = ""
	}
	w := ws.all[origin]
	if w == nil {
		if ws.all == nil {
			ws.all = map[string]*watch{}
		}
		w = &watch{Watch: suspect.New(ws.config(origin))}
		if ws.closed {
			w.Close()
		}
		ws.all[origin] = w
	}
	return w
}

// why is for what each of them lets requests wait, by origin.
func (ws *watches) why() map[string]error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	all := map[string]error{}
	for origin, w := range ws.all {
		if why := w.Why(); why != nil {
			all[origin] = why
		}
	}
	return all
}

// reason tells for what requests wait, of all push services; nil: none does.
func (ws *watches) reason() error {
	return rest.Reasons("push service", ws.why(), func(why error) error { return why })
}

func (ws *watches) close() {
	ws.mu.Lock()
	ws.closed = true
	all := slices.Collect(maps.Values(ws.all))
	ws.mu.Unlock()
	for _, w := range all {
		w.Close()
	}
}

// mistake says what is probably wrong.
func mistake(origin string, percent int, seen suspect.Seen) error {
	return fmt.Errorf("push service %s rests: %d of its last %d answers refuse the VAPID token (401, 403), so "+
		"key_file is probably not the key that the browsers have subscribed with (applicationServerKey), or this "+
		"machine's clock is wrong; no subscription is taken for gone by it, and no message is lost: put the key right, and it goes on "+
		"by itself, or raise suspect_percent (%d) if so many subscriptions are of another key",
		cmp.Or(origin, "(one of many)"), seen.Doubts, seen.Answers, percent)
}

// watched sends the message when the watch over its push service lets it go.
func (d *delivery) watched() {
	d.watch = d.sink.watches.of(d.wish.origin)
	d.watch.Enter(&d.pass, d.wish.sub.Endpoint, suspect.KindOf(d.Message), func(wait time.Duration, why error) {
		if wait > 0 {
			d.answer(component.Hold(wait, why))
			return
		}
		if left, why := d.service.Pause.Left(d.sink.clock()); left > 0 { // it has begun meanwhile
			d.pass.End(false)
			d.answer(component.Hold(left, why))
			return
		}
		d.send()
	})
}

// doubt deals with an answer that refuses our token: the subscription is of another key, or the key is wrong.
func (d *delivery) doubt(reason *Refusal, sent time.Time, after time.Duration) {
	d.pass.Doubt(func(v suspect.Verdict, first bool) {
		now, wait := d.sink.clock(), max(after, tokenRest)
		var o component.Outcome
		switch {
		case !first:
			return
		case v == suspect.Mistake:
			o = component.Hold(time.Second, reason)
		case v == suspect.Gone:
			death := d.death(now, reason)
			death.Suspect = true // whoever goes back to its key reaches it again
			d.bury(death, reason, sent)
			return
		case d.watch.trusts(now):
			o = component.Again(d.sink.devices.Strain(d.wish.origin, d.wish.sub.Endpoint, now, wait), reason)
		default: // nobody is served: it is probably about all
			d.service.Pause.Begin(now, wait, reason)
			o = component.Hold(wait, reason)
		}
		o.Sent = sent
		d.answer(o)
	})
}

// death is what is reported of the subscription.
func (d *delivery) death(now time.Time, reason *Refusal) dead.Death {
	return dead.Death{App: d.wish.origin, Token: d.wish.sub.Endpoint, Since: now, Reason: fmt.Sprint(reason.Status),
		Message: d.Message.ID}
}
