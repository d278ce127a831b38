package webpush

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/pool"
	"github.com/hikyaku/hikyaku/internal/push/receipt"
	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/push/setting"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
)

// delivery is one message on its way.
type delivery struct {
	sender.Call
	sink *Sink

	wish          wish
	until         time.Time // after which nobody wants it, if it is limited
	limited       bool
	service       *pool.Service
	body          []byte
	authorization string         // that it was sent with
	renewed       bool           // it was sent again because its token was refused
	push          *collapse.Push // nil: it has no topic
	watch         *watch         // over its push service
	pass          suspect.Pass   // past it
}

const poolRest = time.Second

var errRests = errors.New("429: the subscription rests")

// prepare finds out where the message goes and encrypts it. When there is nothing to send, it answers for the message
// and returns false.
func (d *delivery) prepare(now time.Time) bool {
	s, w := d.sink, &d.wish
	if err := w.read(d.Message); err != nil {
		return d.answer(component.Reject(err))
	}
	if !setting.MayPost(s.services, w.host) {
		return d.answer(component.Reject(
			fmt.Errorf("%.100s is none of the push services that may be posted to (services)", w.origin)))
	}
	if err := s.reach.CheckHost(w.name); err != nil {
		return d.answer(component.Reject(fmt.Errorf("its endpoint: %w", err)))
	}
	if d.until, d.limited = w.expiration.Of(d.Message, s.ttl); d.limited && !now.Before(d.until) {
		return d.answer(component.Drop(fmt.Errorf("%w at %s", component.ErrExpired,
			d.until.UTC().Format(time.RFC3339))))
	}
	if t := cmp.Or(w.topic, s.topic); t != "" {
		var replaced bool
		if d.push, replaced = s.newest.Note(d.Message.Time, w.sub.Endpoint, t); !replaced {
			var err error
			if replaced, err = s.backlog.Newer(d.Message, d.Deadline); err != nil {
				return d.answer(component.Hold(0, err))
			}
		}
		if replaced {
			return d.answer(component.Drop(component.ErrReplaced))
		}
	}
	if since, gone := s.dead.Dead(w.origin, "", w.sub.Endpoint, w.registered); gone {
		s.counts.Add(countDead)
		return d.answer(component.Reject(&dead.GoneError{What: "subscription", Since: since}))
	}
	if left := s.devices.Left(w.origin, w.sub.Endpoint, now); left > 0 {
		return d.answer(component.Hold(left, errRests))
	}
	var err error
	switch d.service, err = s.pool.Use(w.origin, w.host); {
	case errors.Is(err, pool.ErrFull):
		return d.answer(component.Hold(poolRest, err))
	case err != nil:
		return d.answer(component.Again(poolRest, err))
	}
	if left, reason := d.service.Pause.Left(now); left > 0 {
		return d.answer(component.Hold(left, reason))
	}
	if d.authorization, err = s.tokens.Authorization(w.origin); err != nil {
		return d.answer(component.Hold(0, err))
	}
	return d.seal()
}

// seal makes the text and encrypts it.
func (d *delivery) seal() bool {
	text := d.Message.Body
	if p := d.sink.program; p != nil {
		made, err := p.Make(d.Message)
		if errors.Is(err, payload.ErrTooLong) {
			return d.answer(component.Again(0, err)) // a busy machine lets good programs run long
		}
		if err != nil {
			return d.answer(component.Reject(err))
		}
		text = made
	}
	if len(text) > maxText {
		return d.answer(component.Reject(fmt.Errorf("its text has %d bytes, the most that fit into an encrypted "+
			"message are %d", len(text), maxText)))
	}
	var err error
	if d.body, err = d.sink.sealer.seal(text, &d.wish.sub); err != nil {
		return d.answer(component.Reject(err))
	}
	return true
}

// answer answers for the message.
func (d *delivery) answer(o component.Outcome) (ready bool) {
	if d.service != nil {
		d.sink.pool.Free(d.service)
	}
	d.Done(o)
	return false
}

// device is a hash of whom the message is for.
func (d *delivery) device() uint64 { return maphash.String(d.sink.seed, d.wish.sub.Endpoint) }

// seconds is how long the push service keeps the message for a browser that sleeps.
func (d *delivery) seconds() string {
	switch {
	case d.limited:
		left := min(time.Until(d.until), longestTTL)
		return strconv.FormatInt(int64(max(0, left+time.Second-1)/time.Second), 10)
	case d.wish.expiration.Set:
		return "0"
	}
	return strconv.Itoa(int(longestTTL / time.Second))
}

func (d *delivery) send() {
	r := &push.Request{Method: "POST", Path: d.wish.path, Body: d.body, Header: []push.Field{
		{Name: "authorization", Value: d.authorization, Sensitive: true},
		{Name: "content-encoding", Value: "aes128gcm"},
		{Name: "content-type", Value: "application/octet-stream"},
		{Name: "ttl", Value: d.seconds()},
	}}
	if u := cmp.Or(d.wish.urgency, d.sink.urgency); u != "" {
		r.Header = append(r.Header, push.Field{Name: "urgency", Value: u})
	}
	if t := cmp.Or(d.wish.topic, d.sink.topic); t != "" {
		r.Header = append(r.Header, push.Field{Name: "topic", Value: topicText(t)})
	}
	p := d.push
	if d.sink.newest.Begin(p) {
		d.pass.End(false)
		d.answer(component.Drop(component.ErrReplaced))
		return
	}
	d.sink.newest.Sent(p, d.service.Client.StartElsewhere(r, d.Deadline, d.sink.failed.Take(d.Message.ID), d.came))
}

// resend sends the same once more, with a new token.
func (d *delivery) resend() bool {
	d.sink.tokens.Refused(d.wish.origin, d.authorization)
	authorization, err := d.sink.tokens.Authorization(d.wish.origin)
	if err != nil || d.renewed || authorization == d.authorization {
		return false
	}
	d.authorization, d.renewed, d.push = authorization, true, d.push.Again()
	d.send()
	return true
}

// bury remembers that the subscription is gone, or reports a suspect, and then rejects the message.
func (d *delivery) bury(death dead.Death, reason *Refusal, sent time.Time) {
	d.sink.dead.Reject(death, reason, func(o component.Outcome) {
		o.Sent = sent
		d.answer(o)
	})
}

// fillReceipt says what a receipt has of the message.
func (d *delivery) fillReceipt(r *component.Receipt) {
	r.App, r.Device = d.wish.origin, receipt.Device(d.wish.sub.Endpoint)
}
