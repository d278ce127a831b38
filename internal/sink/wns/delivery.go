package wns

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/collapse"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/pool"
	"github.com/hikyaku/hikyaku/internal/push/setting"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
)

// delivery is one message on its way.
type delivery struct {
	sink     *Sink
	message  *message.Message
	deadline time.Time
	done     func(component.Outcome)
	named    func(string) // is told before done what the far end calls what it took; nil: nobody asks

	app           *app
	wish          wish
	pushType      string
	until         time.Time // after which nobody wants it, if it is limited
	limited       bool
	service       *pool.Service
	body          []byte
	authorization string         // that it was sent with
	renewed       bool           // it was sent again because its access token was refused
	push          *collapse.Push // nil: it has no tag
	passes        suspect.Passes // past the watches over the app's answers
}

const (
	poolRest = time.Second
	maxText  = 5000 // bytes that WNS takes
)

var (
	errNoApp = errors.New("it has no attribute app, and several are configured")
	errRests = errors.New("the channel rests")
)

// prepare finds out where the message goes and what is sent. When there is nothing to send, it answers for the message
// and returns false.
func (d *delivery) prepare(now time.Time) bool {
	s, w := d.sink, &d.wish
	if err := d.address(); err != nil {
		return d.answer(component.Reject(err))
	}
	if d.until, d.limited = w.expiration.Of(d.message, s.ttl); d.limited && !now.Before(d.until) {
		return d.answer(component.Drop(fmt.Errorf("%w at %s", component.ErrExpired,
			d.until.UTC().Format(time.RFC3339))))
	}
	if w.tag != "" {
		var replaced bool
		d.push, replaced = s.newest.Note(d.message.Time, d.app.name, w.channel, d.pushType+" "+w.group+" "+w.tag)
		if !replaced {
			var err error
			if replaced, err = s.backlog.Newer(d.message, d.deadline); err != nil {
				return d.answer(component.Hold(0, err))
			}
		}
		if replaced {
			return d.answer(component.Drop(component.ErrReplaced))
		}
	}
	if since, gone := s.dead.Dead(d.app.name, "", w.channel, w.registered); gone {
		s.counts.Add(countDead)
		return d.answer(component.Reject(&dead.GoneError{What: "channel", Since: since}))
	}
	if left, reason := d.app.pause.Left(now); left > 0 {
		return d.answer(component.Hold(left, reason))
	}
	if left := s.devices.Left(d.app.name, w.channel, now); left > 0 {
		return d.answer(component.Hold(left, errRests))
	}
	if !d.compose() {
		return false
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
	return true
}

// address finds the app and the channel.
func (d *delivery) address() error {
	s, w := d.sink, &d.wish
	if err := w.read(d.message); err != nil {
		return err
	}
	if d.app = s.only; w.app != "" {
		if d.app = s.apps[w.app]; d.app == nil {
			return fmt.Errorf("app %.100q is not configured", w.app)
		}
	}
	if d.app == nil {
		return errNoApp
	}
	if !setting.MayPost(s.hosts, w.host) {
		return fmt.Errorf("%.100s is none of the hosts that may be posted to (hosts)", w.origin)
	}
	if err := s.reach.CheckHost(w.name); err != nil {
		return fmt.Errorf("its channel: %w", err)
	}
	if d.pushType = cmp.Or(w.pushType, s.pushType); d.pushType == "toast" && w.cache != "" {
		return errors.New("attribute cache: WNS keeps no toasts")
	}
	return nil
}

// compose makes what is sent: of a program that makes a text, that text.
func (d *delivery) compose() bool {
	d.body = d.message.Body
	if p := d.sink.program; p != nil {
		made, err := p.Make(d.message)
		if errors.Is(err, payload.ErrTooLong) {
			return d.answer(component.Again(0, err)) // a busy machine lets good programs run long
		}
		if err != nil {
			return d.answer(component.Reject(err))
		}
		var text string
		if d.body = made; json.Unmarshal(made, &text) == nil && made[0] == '"' {
			d.body = []byte(text)
		}
	}
	if len(d.body) > maxText {
		return d.answer(component.Reject(fmt.Errorf("its payload has %d bytes, the most that WNS takes are %d",
			len(d.body), maxText)))
	}
	return true
}

// answer answers for the message.
func (d *delivery) answer(o component.Outcome) (ready bool) {
	if d.service != nil {
		d.sink.pool.Free(d.service)
	}
	d.done(o)
	return false
}

// device is a hash of whom the message is for.
func (d *delivery) device() uint64 { return maphash.String(d.sink.seed, d.wish.channel) }

// seconds is how long WNS may go on trying; "": as it likes.
func (d *delivery) seconds() string {
	switch {
	case d.limited:
		left := d.until.Sub(d.sink.clock())
		return strconv.FormatInt(max(1, int64((left+time.Second-1)/time.Second)), 10)
	case d.wish.expiration.Set:
		return "1" // nothing is documented that keeps a notification for no time at all
	}
	return ""
}

// send sends the message as soon as there is an access token: the only wait here that a connection does not bound.
func (d *delivery) send() {
	d.app.tokens.UseBy(d.deadline, func(authorization string, err error) {
		if err != nil {
			d.end(d.tokenless(err), false)
			return
		}
		d.authorization = authorization
		d.request()
	})
}

func (d *delivery) request() {
	content := "text/xml"
	if d.pushType == "raw" {
		content = "application/octet-stream"
	}
	r := &push.Request{Method: "POST", Path: d.wish.path, Body: d.body, Header: []push.Field{
		{Name: "authorization", Value: d.authorization, Sensitive: true},
		{Name: "content-type", Value: content},
		{Name: "x-wns-type", Value: "wns/" + d.pushType},
		{Name: "x-wns-requestforstatus", Value: "true"}, // else an answer need not say what was done
	}}
	for _, f := range []push.Field{
		{Name: "x-wns-tag", Value: d.wish.tag}, {Name: "x-wns-group", Value: d.wish.group},
		{Name: "x-wns-cache-policy", Value: d.wish.cache}, {Name: "x-wns-ttl", Value: d.seconds()},
	} {
		if f.Value != "" {
			r.Header = append(r.Header, f)
		}
	}
	p := d.push
	if d.sink.newest.Begin(p) {
		d.end(component.Drop(component.ErrReplaced), false)
		return
	}
	d.sink.newest.Sent(p, d.service.Client.StartElsewhere(r, d.deadline, d.sink.failed.Take(d.message.ID), d.came))
}

// resend sends the same once more, with a new access token.
func (d *delivery) resend() {
	again := *d
	again.renewed, again.push = true, d.push.Again()
	d.passes = suspect.Passes{} // they are the other's now
	again.send()
}

// bury remembers that the channel is gone, or reports a suspect, and then rejects the message, unless that has been
// answered for.
func (d *delivery) bury(death dead.Death, reason error, sent time.Time, answer bool) {
	d.sink.dead.Reject(death, reason, func(o component.Outcome) {
		if answer {
			o.Sent = sent
			d.answer(o)
		}
	})
}
