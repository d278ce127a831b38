package apns

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/receipt"
	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
)

// delivery is one message on its way.
type delivery struct {
	sender.Call
	sink *Sink

	app           *app
	wish          wish
	expires       time.Time      // after which nobody wants it; zero: never
	authorization string         // that it was sent with
	renewed       bool           // it was sent again because its provider token had expired
	first         *first         // it goes first after a pause; nil: it does not
	pass          suspect.Pass   // past the watch over its topic
	push          *collapse.Push // nil: it has no collapse id
	request       push.Request
	fields        [9]push.Field
}

// Bounds of APNs, in bytes.
const (
	maxPayload  = 4096
	maxCalls    = 5120 // of a voip push, and of a broadcast
	maxCollapse = 64
	maxToken    = 200
)

// Why a message is rejected before anything is sent. The first three are APNs' own words.
var (
	errPayloadTooLarge = errors.New("PayloadTooLarge")
	errPayloadEmpty    = errors.New("PayloadEmpty: a message without a body, and no payload configured")
	errBadToken        = errors.New("BadDeviceToken: it is not made of hexadecimal digits")
	errNoToken         = errors.New("it has neither an attribute token nor a channel")
)

// prepare makes the request. When there is nothing to send, it answers for the message and returns false.
func (d *delivery) prepare(now time.Time) bool {
	if !d.address() || !d.wanted(now) {
		return false
	}
	if d.app.key != nil {
		var err error
		if d.authorization, err = d.app.key.Authorization(); err != nil {
			return d.answer(component.Hold(0, err))
		}
	}
	if left, reason := d.app.pause.left(now, d.authorization); left > 0 {
		return d.answer(component.Hold(left, reason))
	}
	if left := d.sink.devices.Left(d.app.name, d.wish.token, now); left > 0 {
		return d.answer(component.Hold(left, errDeviceRests))
	}
	body, err := d.body()
	switch {
	case errors.Is(err, payload.ErrTooLong):
		return d.answer(component.Again(0, err))
	case err != nil:
		return d.answer(component.Reject(err))
	}
	d.fill(body)
	return true
}

// enter sends what was prepared, unless everything of its key is kept back.
func (d *delivery) enter() {
	wait, first, reason := d.app.pause.enter(d.sink.clock(), d.authorization)
	if wait > 0 {
		d.pass.End(false)
		d.answer(component.Hold(wait, reason))
		return
	}
	if d.first = first; first != nil {
		done := d.Done
		// it is told once the next pause has begun: none goes before that, and who hears of it may send
		d.Done = func(o component.Outcome) {
			d.app.pause.leave(first, false)
			done(o)
		}
	}
	d.send()
}

// answer answers for a message that is not sent.
func (d *delivery) answer(o component.Outcome) (ready bool) {
	d.Done(o)
	return false
}

// address finds out where the message goes.
func (d *delivery) address() bool {
	s, w := d.sink, &d.wish
	if err := w.read(d.Message); err != nil {
		return d.answer(component.Reject(err))
	}
	app, err := sender.Choose(s.apps, s.only, "app", w.app)
	if err != nil {
		return d.answer(component.Reject(err))
	}
	d.app = app
	switch {
	case w.token == "" && w.channel == "":
		return d.answer(component.Reject(errNoToken))
	case w.channel == "" && !isToken(w.token):
		death := d.death(s.clock(), &Refusal{Reason: "BadDeviceToken"})
		death.Suspect = true // whoever wrote it down is wrong
		d.bury(death, errBadToken, true)
		return false
	}
	return true
}

// wanted tells whether anybody still wants the message: it is neither expired nor replaced, and its device lives.
func (d *delivery) wanted(now time.Time) bool {
	s, w, m := d.sink, &d.wish, d.Message
	switch {
	case w.expiration > 0:
		d.expires = time.Unix(w.expiration, 0)
	case w.expirationSet: // now or never, which the far end does
	case !m.Expires.IsZero():
		d.expires = m.Expires
	case s.ttl > 0 && !m.Time.IsZero():
		d.expires = m.Time.Add(s.ttl)
	}
	if d.expired(now) {
		return d.answer(d.drop())
	}
	if w.channel != "" {
		return true
	}
	if w.collapse == "" {
		w.collapse = s.collapseID
	}
	if w.collapse != "" {
		var replaced bool
		if d.push, replaced = s.newest.Note(m.Time, d.app.name, w.token, w.collapse); !replaced {
			var err error
			if replaced, err = s.backlog.Newer(m, d.Deadline); err != nil {
				return d.answer(component.Hold(0, err))
			}
		}
		if replaced {
			return d.answer(component.Drop(component.ErrReplaced))
		}
	}
	if since, gone := s.dead.Dead(d.app.name, d.app.of(d.topic()), w.token, w.registered); gone {
		s.counts.Add(countDead)
		return d.answer(component.Reject(&dead.GoneError{What: "device", Since: since}))
	}
	return true
}

func (d *delivery) expired(now time.Time) bool { return !d.expires.IsZero() && !now.Before(d.expires) }

// drop is the outcome of a message that has expired.
func (d *delivery) drop() component.Outcome {
	return component.Drop(fmt.Errorf("%w at %s", component.ErrExpired, d.expires.UTC().Format(time.RFC3339)))
}

// answerTime is how long after its expiry a message may wait for an answer. What waits for a stream by then is given
// up.
const answerTime = 5 * time.Second

func (d *delivery) send() {
	until := d.Deadline
	if late := d.expires.Add(answerTime); !d.expires.IsZero() && late.Before(until) {
		until = late
	}
	avoid := d.sink.failed.Take(d.Message.ID)
	p := d.push
	if d.sink.newest.Begin(p) {
		d.pass.End(false)
		d.Done(component.Drop(component.ErrReplaced))
		return
	}
	d.sink.newest.Sent(p, d.app.client.StartElsewhere(&d.request, until, avoid, d.came))
}

// resend sends the same once more with the present provider token. What was sent before may still be in use, so this is
// a copy.
func (d *delivery) resend(authorization string) {
	again := &delivery{
		Call: d.Call, sink: d.sink,
		app: d.app, wish: d.wish, expires: d.expires, first: d.first, push: d.push.Again(), request: d.request,
		pass: d.pass,
	}
	d.pass = suspect.Pass{} // it is the other's now
	again.authorization, again.renewed = authorization, true
	n := copy(again.fields[:], d.request.Header)
	again.fields[0].Value = authorization
	again.request.Header = again.fields[:n]
	again.send()
}

// bury remembers that the device is gone, or reports a suspect, and then rejects the message, unless that has been
// answered for.
func (d *delivery) bury(death dead.Death, reason error, answer bool) {
	done := d.Done
	if !answer {
		done = func(component.Outcome) {}
	}
	d.sink.dead.Reject(death, reason, done)
}

// fillReceipt says what a receipt has of the message.
func (d *delivery) fillReceipt(r *component.Receipt) {
	if d.app != nil {
		r.App, r.Environment = d.app.name, d.app.config.Environment
	}
	r.Device = receipt.Device(d.wish.token)
}
