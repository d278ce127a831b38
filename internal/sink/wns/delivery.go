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
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/pool"
	"github.com/hikyaku/hikyaku/internal/push/sender"
	"github.com/hikyaku/hikyaku/internal/push/setting"
)

// delivery is one message on its way.
type delivery struct {
	sender.Delivery
	sink     *Sink
	app      *app
	wish     wish
	pushType string
	service  *pool.Service
	body     []byte
}

const (
	poolRest = time.Second
	maxText  = 5000 // bytes that WNS takes
)

var errRests = errors.New("the channel rests")

// prepare finds out where the message goes and what is sent. When there is nothing to send, it answers for the message
// and returns false.
func (d *delivery) prepare(now time.Time) bool {
	s, w := d.sink, &d.wish
	if err := d.address(); err != nil {
		return d.Answer(component.Reject(err))
	}
	collapse := ""
	if w.tag != "" {
		collapse = d.pushType + " " + w.group + " " + w.tag
	}
	wish := sender.Wish{Expiration: w.expiration, TTL: s.ttl, Registered: w.registered,
		Collapse: collapse}
	if !d.Wanted(now, wish) {
		return false
	}
	if !d.compose() {
		return false
	}
	var err error
	switch d.service, err = s.pool.Use(w.origin, w.host); {
	case errors.Is(err, pool.ErrFull):
		return d.Answer(component.Hold(poolRest, err))
	case err != nil:
		return d.Answer(component.Again(poolRest, err))
	}
	done := d.Done
	d.Done = func(o component.Outcome) {
		s.pool.Free(d.service)
		done(o)
	}
	if left, reason := d.service.Pause.Left(now); left > 0 {
		return d.Answer(component.Hold(left, reason))
	}
	return true
}

// address finds the app and the channel.
func (d *delivery) address() error {
	s, w := d.sink, &d.wish
	err := w.read(d.Message)
	d.To, d.Single = w.channel, true
	if err == nil {
		d.app, err = sender.Choose(s.apps, s.only, "app", w.app)
	}
	if err != nil {
		return err
	}
	d.Account = &d.app.Account
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
	d.body = d.Message.Body
	if p := d.sink.program; p != nil {
		made, err := p.Make(d.Message)
		if errors.Is(err, payload.ErrTooLong) {
			return d.Answer(component.Again(0, err)) // a busy machine lets good programs run long
		}
		if err != nil {
			return d.Answer(component.Reject(err))
		}
		var text string
		if d.body = made; json.Unmarshal(made, &text) == nil && made[0] == '"' {
			d.body = []byte(text)
		}
	}
	if len(d.body) > maxText {
		return d.Answer(component.Reject(fmt.Errorf("its payload has %d bytes, the most that WNS takes are %d",
			len(d.body), maxText)))
	}
	return true
}

// device is a hash of whom the message is for.
func (d *delivery) device() uint64 { return maphash.String(d.sink.seed, d.wish.channel) }

// seconds is how long WNS may go on trying; "": as it likes.
func (d *delivery) seconds() string {
	switch {
	case d.Limited:
		left := d.Until.Sub(d.sink.clock())
		return strconv.FormatInt(max(1, int64((left+time.Second-1)/time.Second)), 10)
	case d.wish.expiration.Set:
		return "1" // nothing is documented that keeps a notification for no time at all
	}
	return ""
}

// Post implements sender.Way.
func (d *delivery) Post(avoid int) *push.Call {
	content := "text/xml"
	if d.pushType == "raw" {
		content = "application/octet-stream"
	}
	r := &push.Request{Method: "POST", Path: d.wish.path, Body: d.body, Header: []push.Field{
		{Name: "authorization", Value: d.Authorization, Sensitive: true},
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
	return d.service.Client.StartElsewhere(r, d.Deadline, avoid, d.came)
}

// resend sends the same once more, with a new access token.
func (d *delivery) resend() {
	again := *d
	d.Resend(&again.Delivery, &again)
}
