package fcm

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
)

// delivery is one message on its way.
type delivery struct {
	sink     *Sink
	message  *message.Message
	deadline time.Time
	done     func(component.Outcome)
	named    func(string) // is told before done what the far end calls what it took; nil: nobody asks

	project       *project
	wish          wish
	until         time.Time // after which nobody wants it, if it is limited
	limited       bool
	body          []byte
	authorization string         // that it was sent with
	renewed       bool           // it was sent again because its access token was refused
	push          *collapse.Push // nil: it has no collapse key
	passes        suspect.Passes // past the watches over the project's answers
}

var (
	errNoProject   = errors.New("it has no attribute project, and several are configured")
	errDeviceRests = errors.New("QUOTA_EXCEEDED: the device rests")
)

const mostToken = 4096 // characters of a device's token that are believed

// prepare finds out whom the message is for and makes the request's body. When there is nothing to send, it answers for
// the message and returns false.
func (d *delivery) prepare(now time.Time) bool {
	s, w := d.sink, &d.wish
	if err := w.read(d.message); err != nil {
		return d.answer(component.Reject(err))
	}
	if d.project = s.only; w.project != "" {
		if d.project = s.projects[w.project]; d.project == nil {
			return d.answer(component.Reject(fmt.Errorf("project %.100q is not configured", w.project)))
		}
	}
	if d.project == nil {
		return d.answer(component.Reject(errNoProject))
	}
	if len(w.name) > mostToken {
		return d.answer(component.Reject(fmt.Errorf("attribute %s has %d bytes: it is none of FCM's", w.target,
			len(w.name))))
	}
	if d.until, d.limited = w.expiration.Of(d.message, s.ttl); d.limited && !now.Before(d.until) {
		return d.answer(component.Drop(fmt.Errorf("%w at %s", component.ErrExpired,
			d.until.UTC().Format(time.RFC3339))))
	}
	if key := cmp.Or(w.collapseKey, s.collapseKey); key != "" && d.single() {
		var replaced bool
		if d.push, replaced = s.newest.Note(d.message.Time, d.project.name, w.name, key); !replaced {
			var err error
			if replaced, err = s.backlog.Newer(d.message, d.deadline); err != nil {
				return d.answer(component.Hold(0, err))
			}
		}
		if replaced {
			return d.answer(component.Drop(component.ErrReplaced))
		}
	}
	if d.single() {
		if since, gone := s.dead.Dead(d.project.name, "", w.name, w.registered); gone {
			s.counts.Add(countDead)
			return d.answer(component.Reject(&dead.GoneError{What: "device", Since: since}))
		}
	}
	if left, reason := d.project.pause.Left(now); left > 0 {
		return d.answer(component.Hold(left, reason))
	}
	if left := s.devices.Left(d.project.name, w.name, now); left > 0 {
		return d.answer(component.Hold(left, errDeviceRests))
	}
	var err error
	d.body, err = d.compose(now)
	switch {
	case errors.Is(err, payload.ErrTooLong):
		return d.answer(component.Again(0, err)) // a busy machine lets good programs run long
	case err != nil:
		return d.answer(component.Reject(err))
	}
	return true
}

// answer answers for a message that is not sent.
func (d *delivery) answer(o component.Outcome) (ready bool) {
	d.done(o)
	return false
}

// single tells whether the message is for one device.
func (d *delivery) single() bool { return d.wish.target == "token" || d.wish.target == "fid" }

// device is a hash of whom the message is for.
func (d *delivery) device() uint64 { return maphash.String(d.sink.seed, d.wish.name) }

// send sends the message as soon as there is an access token: the only wait here that a connection does not bound.
func (d *delivery) send() {
	d.project.tokens.UseBy(d.deadline, func(authorization string, err error) {
		if err != nil {
			d.end(d.tokenless(err), false)
			return
		}
		d.authorization = authorization
		d.request()
	})
}

func (d *delivery) request() {
	p := d.push
	if d.sink.newest.Begin(p) {
		d.end(component.Drop(component.ErrReplaced), false)
		return
	}
	d.sink.newest.Sent(p, d.project.client.StartElsewhere(&push.Request{
		Method: "POST", Path: d.project.path, Body: d.body,
		Header: []push.Field{
			{Name: "authorization", Value: d.authorization, Sensitive: true},
			{Name: "content-type", Value: "application/json"},
		},
	}, d.deadline, d.sink.failed.Take(d.message.ID), d.came))
}

// resend sends the same once more, with a new access token.
func (d *delivery) resend() {
	again := *d
	again.renewed, again.push = true, d.push.Again()
	d.passes = suspect.Passes{} // they are the other's now
	again.send()
}

// bury remembers that the device is gone, or reports a suspect, and then rejects the message, unless that has been
// answered for.
func (d *delivery) bury(death dead.Death, reason error, sent time.Time, answer bool) {
	d.sink.dead.Reject(death, reason, func(o component.Outcome) {
		if answer {
			o.Sent = sent
			d.done(o)
		}
	})
}
