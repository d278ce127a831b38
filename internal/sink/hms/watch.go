package hms

import (
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
)

// watched sends the message when the watches over its app's answers let it go. Topics and conditions have no device
// and no watch.
func (d *delivery) watched() {
	if !d.single() {
		d.send()
		return
	}
	d.app.watches.Enter(&d.passes, d.wish.name, suspect.KindOf(d.message), func(wait time.Duration, why error) {
		if wait == 0 {
			wait, why = d.app.pause.Left(d.sink.clock()) // it may have begun meanwhile
		}
		if wait > 0 {
			d.end(component.Hold(wait, why), false)
			return
		}
		d.send()
	})
}

// end answers for a message that was sent, or was let go. right: the answer says that the device is one of the app's.
func (d *delivery) end(o component.Outcome, right bool) {
	d.passes.End(right)
	d.done(o)
}

// doubt deals with an answer that means that the token is none of the app's, or that the app is wrong. One that may
// also be about what the app may do makes the device a suspect, which is sent to again.
func (d *delivery) doubt(now time.Time, reason *Refusal, sent time.Time) {
	d.passes.Message.End(false)
	d.passes.Device.Doubt(func(v suspect.Verdict, first bool) {
		death := d.death(now, reason)
		death.Suspect = reason.Code == codeForbidden
		switch {
		case v == suspect.Mistake && first:
			o := component.Hold(time.Second, reason)
			o.Sent = sent
			d.done(o)
		case v == suspect.Gone:
			d.bury(death, reason, sent, first)
		case first: // unclear
			death.Suspect = true
			d.bury(death, fmt.Errorf("%w: the token may be another app's, or app %s may be wrong", reason,
				d.app.name), sent, true)
		}
	})
}

// misfit deals with an answer that refuses the message: it is wrong, or all are.
func (d *delivery) misfit(reason *Refusal, sent time.Time) {
	d.passes.Device.End(false)
	d.app.last.Store(reason)
	d.passes.Message.Doubt(func(v suspect.Verdict, first bool) {
		if !first {
			return
		}
		o := component.Reject(reason)
		if v == suspect.Mistake {
			o = component.Hold(time.Second, reason)
		}
		o.Sent = sent
		d.done(o)
	})
}

// death is what is reported of the device.
func (d *delivery) death(now time.Time, reason *Refusal) dead.Death {
	return dead.Death{App: d.app.name, Token: d.wish.name, Since: now, Reason: reason.Code, Status: reason.Status,
		Message: d.message.ID}
}
