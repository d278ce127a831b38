package wns

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/rest"
)

const (
	refusedRest  = 30 * time.Second // of an app that may not send: somebody has to put that right
	throttleRest = 10 * time.Second // of an app that is to send less, where WNS does not say how long
)

// What WNS says it has done with a notification, in lower case.
const (
	dropped   = "dropped"
	throttled = "channelthrottled"
)

// stateOf is what an answer says was done with the notification; "": it does not say. X-WNS-Status is what is
// documented, and X-WNS-NotificationStatus what WNS was seen to send, with capitals within.
func stateOf(r *push.Response) string {
	return strings.ToLower(cmp.Or(r.Get("x-wns-notificationstatus"), r.Get("x-wns-status")))
}

// came is told how a request ended.
func (d *delivery) came(r push.Result) {
	replaced := d.sink.newest.End(d.Push)
	if r.Err == nil {
		d.service.Known.Store(true)
	}
	state := ""
	if r.Err == nil {
		state = stateOf(r.Response)
	}
	good := r.Err == nil && r.Response.Status == http.StatusOK && state != dropped && state != throttled
	switch {
	case replaced && !good:
		d.End(component.Drop(component.ErrReplaced), false)
	case r.Err != nil && d.service.Refused.Load() != nil:
		d.End(component.Reject(fmt.Errorf("its channel: %w", d.service.Refused.Load())), false)
	case r.Err != nil:
		o := d.sink.counts.Lost(r)
		o.Held = o.Held && d.service.Known.Load() // the address is the message's own word: to find nobody is a try
		d.End(o, false)
	case good:
		d.sink.devices.Calm(d.app.Name, d.wish.channel)
		if d.Named != nil {
			d.Named(push.Shown(r.Response.Get("x-wns-msg-id")))
		}
		d.End(component.OK(r.Sent), true)
	default:
		d.refused(r)
	}
}

// refused deals with an answer that takes nothing.
func (d *delivery) refused(r push.Result) {
	s, now := d.sink, d.sink.clock()
	reason := readRefusal(r.Response)
	s.counts.Add(reason.Word())
	asked := rest.After(cmp.Or(r.Response.Get("x-wns-continue-after"), r.Response.Get("retry-after")), now)
	o := component.Again(asked, reason)
	switch code := reason.Status; {
	case code == http.StatusNotFound, code == http.StatusGone:
		d.Passes.Device.End(code == http.StatusGone) // WNS knows an expired channel as one of the app's
		d.Passes.Message.End(false)
		d.Bury(d.Death(now, fmt.Sprint(reason.Status), reason.Status), reason, r.Sent, true)
		return
	case code == http.StatusForbidden && d.Passes.Device.Waits():
		d.Doubt(d.Death(now, fmt.Sprint(reason.Status), reason.Status), reason, r.Sent)
		return
	case code == http.StatusUnauthorized:
		d.app.Tokens.Refused(d.Authorization)
		if !d.Renewed {
			d.resend()
			return
		}
		o = d.Hold(now, refusedRest, reason)
	case code == http.StatusNotAcceptable, code == http.StatusTooManyRequests, reason.State == throttled:
		o = d.less(now, o)
	case code >= 500, code == http.StatusRequestTimeout:
		s.failed.Add(d.Message.ID, r.Connection, now)
		o.Slow = true
		if o.After > 0 {
			d.service.Pause.Strike(now, d.device(), o.After, reason)
		}
	case code != http.StatusOK && code != http.StatusRequestEntityTooLarge && d.Passes.Message.Waits():
		d.Misfit(reason, r.Sent)
		return
	default:
		o = component.Reject(reason)
	}
	o.Sent = r.Sent
	d.End(o, reason.Status == http.StatusOK)
}

// less lets the channel rest, or, when several are told so, the app.
func (d *delivery) less(now time.Time, o component.Outcome) component.Outcome {
	if all := cmp.Or(o.After, throttleRest); d.app.Pause.Strike(now, d.device(), all, o.Reason) {
		o.After, o.Slow, o.Held = all, true, true // the limit is everybody's: that is no message's try
		return o
	}
	o.After = d.sink.devices.Strain(d.app.Name, d.wish.channel, now, o.After)
	return o
}

// Refusal is an answer of WNS that takes nothing.
type Refusal struct {
	Status  int
	State   string // what WNS did with the notification, as dropped; "": it said nothing
	Message string // for a person
	ID      string // what WNS calls the notification, by which Microsoft finds it
}

// Error says what WNS said. It has the status in words, too: the log counts reasons that differ in digits together.
func (e *Refusal) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("WNS answered %d %s", e.Status, http.StatusText(e.Status)))
	if e.State != "" {
		text += " (" + e.State + ")"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.ID != "" {
		text += " [X-WNS-Msg-ID " + e.ID + "]"
	}
	return text
}

// Word is what it is counted by: the status, or what WNS did where that was 200.
func (e *Refusal) Word() string {
	if e.Status == http.StatusOK {
		return e.State
	}
	return fmt.Sprintf("answer %d", e.Status)
}

// readRefusal reads the fields of an answer.
func readRefusal(r *push.Response) *Refusal {
	e := &Refusal{Status: r.Status, Message: push.Shown(r.Get("x-wns-error-description")),
		ID: push.Shown(r.Get("x-wns-msg-id"))}
	if state := stateOf(r); state == dropped || state == throttled {
		e.State = state
	}
	return e
}
