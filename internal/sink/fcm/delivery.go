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
	"github.com/hikyaku/hikyaku/internal/push/payload"
	"github.com/hikyaku/hikyaku/internal/push/sender"
)

// delivery is one message on its way.
type delivery struct {
	sender.Delivery
	sink    *Sink
	message *message.Message // Delivery's
	project *project
	wish    wish
	body    []byte
}

var errDeviceRests = errors.New("QUOTA_EXCEEDED: the device rests")

const mostToken = 4096 // characters of a device's token that are believed

// prepare finds out whom the message is for and makes the request's body. When there is nothing to send, it answers for
// the message and returns false.
func (d *delivery) prepare(now time.Time) bool {
	s, w := d.sink, &d.wish
	err := w.read(d.message)
	d.To, d.Single = w.name, w.target == "token" || w.target == "fid"
	if err == nil {
		d.project, err = sender.Choose(s.projects, s.only, "project", w.project)
	}
	if err != nil {
		return d.Answer(component.Reject(err))
	}
	d.Account = &d.project.Account
	if len(w.name) > mostToken {
		return d.Answer(component.Reject(fmt.Errorf("attribute %s has %d bytes: it is none of FCM's", w.target,
			len(w.name))))
	}
	wish := sender.Wish{Expiration: w.expiration, TTL: s.ttl, Registered: w.registered,
		Collapse: cmp.Or(w.collapseKey, s.collapseKey)}
	if !d.Wanted(now, wish) {
		return false
	}
	d.body, err = d.compose(now)
	switch {
	case errors.Is(err, payload.ErrTooLong):
		return d.Answer(component.Again(0, err)) // a busy machine lets good programs run long
	case err != nil:
		return d.Answer(component.Reject(err))
	}
	return true
}

// device is a hash of whom the message is for.
func (d *delivery) device() uint64 { return maphash.String(d.sink.seed, d.wish.name) }

// Post implements sender.Way.
func (d *delivery) Post(avoid int) *push.Call {
	return d.project.client.StartElsewhere(&push.Request{
		Method: "POST", Path: d.project.path, Body: d.body,
		Header: []push.Field{
			{Name: "authorization", Value: d.Authorization, Sensitive: true},
			{Name: "content-type", Value: "application/json"},
		},
	}, d.Deadline, avoid, d.came)
}

// resend sends the same once more, with a new access token.
func (d *delivery) resend() {
	again := *d
	d.Resend(&again.Delivery, &again)
}
