package fcm

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
)

// watched sends the message when the watch over its project's answers lets it go. Topics and conditions have no device and no watch.
func (d *delivery) watched() {
	if !d.single() {
		d.send()
		return
	}
	w := d.project.watch
	w.Enter(d.wish.name, func(wait time.Duration, why error) {
		if wait > 0 {
			d.answer(component.Hold(wait, why))
			return
		}
		d.watch = w
		d.send()
	})
}

// end answers for a message that was sent, or was let go. right: the answer says that the device is one of the project's.
func (d *delivery) end(o component.Outcome, right bool) {
	d.learn(right)
	d.done(o)
}

func (d *delivery) learn(right bool) {
	w := d.watch
	if d.watch = nil; w == nil {
		return
	}
	if right {
		w.Good(d.wish.name)
	} else {
		w.Other()
	}
}

// doubt deals with an answer that means that the device is another project's, or that the project is wrong.
func (d *delivery) doubt(now time.Time, reason *Refusal, sent time.Time) {
	w := d.watch
	d.watch = nil
	var told atomic.Bool // two verdicts may come from two goroutines
	w.Doubt(d.wish.name, func(v suspect.Verdict) {
		first := told.CompareAndSwap(false, true)
		death := d.death(now, reason)
		switch {
		case v == suspect.Mistake && first:
			o := component.Hold(time.Second, reason)
			o.Sent = sent
			d.done(o)
		case v == suspect.Gone:
			d.bury(death, reason, sent, first)
		case first: // unclear
			death.Suspect = true
			d.bury(death, fmt.Errorf("%w: the device may be another project's, or project %s may be wrong", reason, d.project.name), sent, true)
		}
	})
}

// death is what is reported of the device.
func (d *delivery) death(now time.Time, reason *Refusal) dead.Death {
	return dead.Death{App: d.project.name, Token: d.wish.name, Since: now, Reason: reason.FCM, Status: reason.Status, Message: d.message.ID}
}
