package webpush

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
	tokenRest   = 30 * time.Second // of a subscription, or of a push service, that refuses our token
	serviceRest = 10 * time.Second // of a push service that asks many to send less, and does not say how long
)

// came is told how a request ended.
func (d *delivery) came(r push.Result) {
	replaced := d.sink.newest.End(d.push)
	if r.Err == nil {
		d.service.Known.Store(true)
	}
	if r.Err != nil || r.Response.Status >= 300 && (replaced || !refusesToken(r.Response.Status)) {
		d.pass.End(false)
	}
	switch {
	case replaced && (r.Err != nil || r.Response.Status >= 300):
		d.answer(component.Drop(component.ErrReplaced))
	case r.Err != nil && d.service.Refused.Load() != nil:
		d.answer(component.Reject(fmt.Errorf("its endpoint: %w", d.service.Refused.Load())))
	case r.Err != nil:
		d.answer(d.lost(r))
	case r.Response.Status < 300:
		d.watch.good.Store(d.sink.clock().UnixNano())
		d.pass.End(true)
		d.sink.devices.Calm(d.wish.origin, d.wish.sub.Endpoint)
		if d.Named != nil {
			d.Named(r.Response.Get("location"))
		}
		d.answer(component.OK(r.Sent))
	default:
		d.refused(r)
	}
}

// lost is the outcome of a request that has no answer. Messages wait for a service that has answered before; the
// address of another one is the message's own word, and to find nobody there is a try.
func (d *delivery) lost(r push.Result) component.Outcome {
	o := d.sink.counts.Lost(r)
	o.Held = o.Held && d.service.Known.Load()
	return o
}

// refused deals with an answer that takes nothing.
func (d *delivery) refused(r push.Result) {
	s, now := d.sink, d.sink.clock()
	reason := &Refusal{Service: d.wish.origin, Status: r.Response.Status, Message: push.Shown(r.Response.Body)}
	s.counts.Add(reason.Word())
	o := component.Again(rest.After(r.Response.Get("retry-after"), now), reason)
	switch code := reason.Status; {
	case code == 404 || code == 410:
		d.bury(d.death(now, reason), reason, r.Sent)
		return
	case refusesToken(code):
		if !d.resend() {
			d.doubt(reason, r.Sent, o.After)
		}
		return
	case code == 429:
		o = d.less(now, o)
	case code >= 500 || code == 408:
		s.failed.Add(d.Message.ID, r.Connection, now)
		o.Slow = true
		if o.After > 0 {
			d.service.Pause.Strike(now, d.device(), o.After, reason)
		}
	default:
		o = component.Reject(reason)
	}
	o.Sent = r.Sent
	d.answer(o)
}

// refusesToken tells whether an answer is about who we are.
func refusesToken(status int) bool { return status == 401 || status == 403 }

// less lets the subscription rest, or, when several are told so, the push service.
func (d *delivery) less(now time.Time, o component.Outcome) component.Outcome {
	if all := cmp.Or(o.After, serviceRest); d.service.Pause.Strike(now, d.device(), all, o.Reason) {
		// The limit is everybody's: that is no message's try, of a service that is one.
		o.After, o.Slow, o.Held = all, true, d.service.Known.Load()
		return o
	}
	o.After = d.sink.devices.Strain(d.wish.origin, d.wish.sub.Endpoint, now, o.After)
	return o
}

// Refusal is an answer of a push service that takes nothing.
type Refusal struct {
	Service string // its origin
	Status  int
	Message string // what it said, for a person
}

// Error says what the push service said. It has the status in words, too: the log counts reasons that differ in
// digits together.
func (e *Refusal) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("%s answered %d %s", e.Service, e.Status, http.StatusText(e.Status)))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Word is what it is counted by.
func (e *Refusal) Word() string { return fmt.Sprintf("answer %d", e.Status) }
