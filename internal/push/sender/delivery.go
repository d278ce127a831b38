package sender

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/attribute"
	"github.com/hikyaku/hikyaku/internal/push/avoid"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/outcome"
	"github.com/hikyaku/hikyaku/internal/push/receipt"
	"github.com/hikyaku/hikyaku/internal/push/rest"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
	"github.com/hikyaku/hikyaku/internal/push/token"
)

// Sender is what the deliveries of a sink share. Its parts are the sink's.
type Sender struct {
	Clock   func() time.Time
	Dead    *dead.Registry
	Newest  *collapse.Memory
	Backlog *collapse.Backlog // nil: there is none
	Failed  *avoid.Failures
	Counts  *outcome.Counts
	Devices *rest.Devices // nil: none rests
	Rests   error         // why a device's message waits while it rests

	Device    string // what is gone: "device"
	CountGone string // the name in Counts of messages for those known to be gone
	Token     string // what may be another account's: "token"
}

// Delivery is one message on its way. A sink's own embeds it.
type Delivery struct {
	Call
	Sender  *Sender
	Account *Account
	Way     Way
	To      string // whom the message is for, as the far end is told
	Single  bool   // that is one device

	Until         time.Time // after which nobody wants it, if it is limited
	Limited       bool
	Authorization string         // that it was sent with
	Renewed       bool           // it was sent again because its access token was refused
	Push          *collapse.Push // nil: nothing replaces it
	Passes        suspect.Passes // past the watches over the account's answers
}

// Way is what a sink does in its own way.
type Way interface {
	// Post sends the message, if it can be on another connection than avoid, and has the sink told what comes.
	Post(avoid int) *push.Call
}

// Wish is what a message wants, apart from what is sent.
type Wish struct {
	Expiration attribute.Expiration
	TTL        time.Duration // of the sink
	Collapse   string        // a newer one for the device with the same replaces it; "": none does
	Registered time.Time     // when the device's token was got; zero: nobody knows
}

// Fill says what a receipt has of the message.
func (d *Delivery) Fill(r *component.Receipt) {
	if d.Account != nil {
		r.App = d.Account.Name
	}
	if d.Single {
		r.Device = receipt.Device(d.To)
	}
}

// Answer answers for a message that is not sent.
func (d *Delivery) Answer(o component.Outcome) (ready bool) {
	d.Done(o)
	return false
}

// Wanted tells whether the message is to be sent now. When it is not, it answers for the message.
func (d *Delivery) Wanted(now time.Time, w Wish) bool {
	s, account := d.Sender, d.Account.Name
	if d.Until, d.Limited = w.Expiration.Of(d.Message, w.TTL); d.Limited && !now.Before(d.Until) {
		return d.Answer(component.Drop(fmt.Errorf("%w at %s", component.ErrExpired,
			d.Until.UTC().Format(time.RFC3339))))
	}
	if w.Collapse != "" && d.Single {
		var replaced bool
		if d.Push, replaced = s.Newest.Note(d.Message.Time, account, d.To, w.Collapse); !replaced {
			var err error
			if replaced, err = s.Backlog.Newer(d.Message, d.Deadline); err != nil {
				return d.Answer(component.Hold(0, err))
			}
		}
		if replaced {
			return d.Answer(component.Drop(component.ErrReplaced))
		}
	}
	if d.Single {
		if since, gone := s.Dead.Dead(account, "", d.To, w.Registered); gone {
			s.Counts.Add(s.CountGone)
			return d.Answer(component.Reject(&dead.GoneError{What: s.Device, Since: since}))
		}
	}
	if left, reason := d.Account.Pause.Left(now); left > 0 {
		return d.Answer(component.Hold(left, reason))
	}
	if s.Devices != nil {
		if left := s.Devices.Left(account, d.To, now); left > 0 {
			return d.Answer(component.Hold(left, s.Rests))
		}
	}
	return true
}

// Enter sends the message when the watches over its account's answers let it go. What is not for one device has no
// watch.
func (d *Delivery) Enter() {
	if !d.Single {
		d.send()
		return
	}
	d.Account.Watches.Enter(&d.Passes, d.To, suspect.KindOf(d.Message), func(wait time.Duration, why error) {
		if wait == 0 {
			wait, why = d.Account.Pause.Left(d.Sender.Clock()) // it may have begun meanwhile
		}
		if wait > 0 {
			d.End(component.Hold(wait, why), false)
			return
		}
		d.send()
	})
}

// send sends the message as soon as there is an access token: the only wait here that a connection does not bound.
func (d *Delivery) send() {
	d.Account.Tokens.UseBy(d.Deadline, func(authorization string, err error) {
		if err != nil {
			d.End(d.tokenless(err), false)
			return
		}
		d.Authorization = authorization
		p := d.Push
		if d.Sender.Newest.Begin(p) {
			d.End(component.Drop(component.ErrReplaced), false)
			return
		}
		d.Sender.Newest.Sent(p, d.Way.Post(d.Sender.Failed.Take(d.Message.ID)))
	})
}

// tokenless is the outcome where there is no access token to send with: nothing was tried.
func (d *Delivery) tokenless(err error) component.Outcome {
	if errors.Is(err, token.ErrLate) {
		return component.Again(0, err)
	}
	after, final := token.Failed(err)
	if final { // each message would be told the same: let them wait where they are
		d.Account.Pause.Begin(d.Sender.Clock(), max(after, time.Second), err)
	}
	return component.Hold(after, err)
}

// Resend sends again, a copy of the delivery, with a new access token.
func (d *Delivery) Resend(again *Delivery, way Way) {
	again.Renewed, again.Push, again.Way = true, d.Push.Again(), way
	d.Passes = suspect.Passes{} // they are the other's now
	again.send()
}

// Hold lets the whole account rest. What the far end said is about the account: the message has not been tried.
func (d *Delivery) Hold(now time.Time, rest time.Duration, reason error) component.Outcome {
	d.Account.Pause.Begin(now, rest, reason)
	o := component.Hold(rest, reason)
	o.Slow = true
	return o
}

// Failed deals with an answer such as 500 and 503. While the far end takes nothing, the whole account rests, and the
// message has not been tried.
func (d *Delivery) Failed(now time.Time, id message.ID, o component.Outcome) component.Outcome {
	if wait := d.Account.Outage.Failed(now, id); wait > 0 {
		o = d.Hold(now, max(wait, o.After), o.Reason)
	}
	o.Slow = true
	return o
}

// End answers for a message that was sent, or was let go. right: the answer says that the device is one of the
// account's.
func (d *Delivery) End(o component.Outcome, right bool) {
	d.Passes.End(right)
	d.Done(o)
}

// Doubt deals with an answer that means that the device is another account's, or that the account is wrong.
func (d *Delivery) Doubt(death dead.Death, reason error, sent time.Time) {
	d.Passes.Message.End(false)
	d.Passes.Device.Doubt(func(v suspect.Verdict, first bool) {
		switch {
		case v == suspect.Mistake && first:
			d.answered(component.Hold(time.Second, reason), sent)
		case v == suspect.Gone:
			d.Bury(death, reason, sent, first)
		case first: // unclear
			death.Suspect = true
			kind := d.Account.Kind
			d.Bury(death, fmt.Errorf("%w: the %s may be another %s's, or %s %s may be wrong", reason, d.Sender.Token,
				kind, kind, d.Account.Name), sent, true)
		}
	})
}

// Misfit deals with an answer that refuses the message: it is wrong, or all are.
func (d *Delivery) Misfit(reason error, sent time.Time) {
	d.Passes.Device.End(false)
	d.Account.last.Store(&reason)
	d.Passes.Message.Doubt(func(v suspect.Verdict, first bool) {
		switch {
		case !first:
		case v == suspect.Mistake:
			d.answered(component.Hold(time.Second, reason), sent)
		default:
			d.answered(component.Reject(reason), sent)
		}
	})
}

// answered answers for a message that was sent.
func (d *Delivery) answered(o component.Outcome, sent time.Time) {
	o.Sent = sent
	d.Done(o)
}

// Death is what is reported of the device. reason is the far end's word.
func (d *Delivery) Death(now time.Time, reason string, status int) dead.Death {
	return dead.Death{App: d.Account.Name, Token: d.To, Since: now, Reason: reason, Status: status,
		Message: d.Message.ID}
}

// Bury remembers that the device is gone, or reports a suspect, and then rejects the message, unless that has been
// answered for.
func (d *Delivery) Bury(death dead.Death, reason error, sent time.Time, answer bool) {
	d.Sender.Dead.Reject(death, reason, func(o component.Outcome) {
		if answer {
			d.answered(o, sent)
		}
	})
}
