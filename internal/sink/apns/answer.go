package apns

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/rest"
)

// How long a key rests when the far end refuses it, or what it signs: somebody has to put that right.
const refusedRest = 30 * time.Second

var errDeviceRests = errors.New("TooManyRequests: the device rests")

// came is told how a request ended.
func (d *delivery) came(r push.Result) {
	if d.first != nil && r.Err == nil && trusts(r.Response) {
		d.app.pause.leave(d.first, true)
	}
	if d.sink.newest.End(d.push) && (r.Err != nil || r.Response.Status != 200) {
		d.pass.End(false)
		d.Done(component.Drop(component.ErrReplaced))
		return
	}
	if r.Err != nil {
		d.pass.End(false)
		d.lost(r)
		return
	}
	if r.Response.Status == 200 {
		d.pass.End(true)
		d.app.outage.Worked()
		d.sink.devices.Calm(d.app.name, d.wish.token)
		if d.Named != nil {
			d.Named(r.Response.Get("apns-id"))
		}
		d.Done(component.OK(r.Sent))
		return
	}
	d.refused(r)
}

// lost deals with a request that has no answer.
func (d *delivery) lost(r push.Result) {
	if errors.Is(r.Err, push.ErrDeadline) && r.Unprocessed && d.expired(d.sink.clock()) {
		d.Done(d.drop())
		return
	}
	d.Done(d.sink.counts.Lost(r))
}

// verdict is what follows from a reason.
type verdict uint8

const (
	rejects  verdict = iota // this message will never do
	dies                    // the device is gone
	doubts                  // the device is gone, or the app's environment or topic is wrong
	mistopic                // the message's topic, or the app's, is none that may be pushed to
	renews                  // the provider token has to be renewed
	rests                   // the device rests
	pauses                  // everything of the key rests: tokens were renewed too often
	mistrust                // everything of the key rests: the far end does not trust us
	fails                   // the far end could not just now
)

// verdicts are those of the reasons that Apple documents, where it is another than their status would bring.
var verdicts = map[string]verdict{
	"BadDeviceToken":              doubts,
	"DeviceTokenNotForTopic":      doubts,
	"BadTopic":                    mistopic,
	"MissingTopic":                mistopic,
	"TopicDisallowed":             mistopic,
	"TopicMismatch":               mistopic,
	"Unregistered":                dies,
	"ExpiredToken":                dies,
	"ExpiredProviderToken":        renews,
	"TooManyRequests":             rests,
	"TooManyProviderTokenUpdates": pauses,
	"InvalidProviderToken":        mistrust,
	"MissingProviderToken":        mistrust,
	"BadCertificate":              mistrust,
	"BadCertificateEnvironment":   mistrust,
	"BadEnvironmentKeyIdInToken":  mistrust,
	"UnrelatedKeyIdInToken":       mistrust,
	"FeatureNotEnabled":           rejects,
	"MaxChannelsReached":          rejects,
	"IdleTimeout":                 fails,
	"InternalServerError":         fails,
	"ServiceUnavailable":          fails,
	"Shutdown":                    fails,
}

// judge finds the verdict of an answer. Reasons that nobody knew when this was written go by their status.
func judge(status int, reason string) verdict {
	if v, ok := verdicts[reason]; ok {
		return v
	}
	switch {
	case status == 410:
		return dies
	case status == 429:
		return rests
	case status == 403, status == 401:
		return mistrust
	case status >= 500, status == 408, status == 425, status < 400:
		return fails
	}
	return rejects
}

// trusts tells whether an answer means that the far end takes our word for who we are.
func trusts(r *push.Response) bool {
	if r.Status == 200 {
		return true
	}
	switch judge(r.Status, readReason(r.Body).Reason) {
	case renews, pauses, mistrust, fails:
		return false
	}
	return true
}

// refused deals with an answer that is not 200.
func (d *delivery) refused(r push.Result) {
	s, now := d.sink, d.sink.clock()
	said := readReason(r.Response.Body)
	reason := &Refusal{Status: r.Response.Status, Reason: said.Reason}
	v := judge(reason.Status, reason.Reason)
	s.counts.Add(reason.Reason)
	o := component.Again(rest.After(r.Response.Get("retry-after"), now), reason)
	switch {
	case d.pass.Waits() && (v == doubts || v == mistopic && d.app.watches.apart(d.topic())):
		d.doubt(v, reason, r.Sent)
		return
	case v != renews:
		d.pass.End(v == dies)
	}
	switch v {
	case rejects, doubts, mistopic:
		o = component.Reject(reason)
	case dies:
		if d.wish.channel == "" {
			d.bury(d.death(said.since(now), reason), reason, true)
			return
		}
		o = component.Reject(reason)
	case renews:
		if d.renew() {
			return
		}
		d.pass.End(false)
		o = d.hold(now, refusedRest, d.authorization, fmt.Errorf("%w though it is new: is this machine's clock right?",
			reason))
	case rests:
		if d.wish.channel == "" {
			o.After = s.devices.Strain(d.app.name, d.wish.token, now, o.After)
		}
	case pauses:
		wait := refusedRest
		if d.app.key != nil {
			wait = d.app.key.TooManyUpdates()
		}
		o = d.hold(now, wait, "", reason)
	case mistrust:
		o = d.hold(now, refusedRest, d.authorization, reason)
		// A word that is not about the key (Forbidden, a new one) may be about this message: who waits for ever would
		// hold up the app again and again.
		_, documented := verdicts[reason.Reason]
		o.Held = documented || d.app.outage.Failed(now, d.Message.ID) > 0
	case fails:
		s.failed.Add(d.Message.ID, r.Connection, now)
		if wait := d.app.outage.Failed(now, d.Message.ID); wait > 0 {
			o = d.hold(now, max(wait, o.After), "", reason)
		}
		o.Slow = true
	}
	o.Sent = r.Sent
	d.Done(o)
}

// hold lets everything of the key rest, or everything with a provider token. What APNs said is about these: the message
// has not been tried.
func (d *delivery) hold(now time.Time, wait time.Duration, token string, reason error) component.Outcome {
	d.app.pause.begin(now, wait, fmt.Errorf("app %s: %w", d.app.name, reason), token)
	o := component.Hold(wait, reason)
	o.Slow = true
	return o
}

// renew sends the message again with a newer provider token, once.
func (d *delivery) renew() bool {
	key := d.app.key
	if key == nil || d.renewed || !key.Expired(d.authorization) {
		return false
	}
	authorization, err := key.Authorization()
	if err != nil {
		return false
	}
	d.resend(authorization)
	return true
}

// Refusal is an answer of APNs that is not 200.
type Refusal struct {
	Status int
	Reason string // APNs' word; "" when it had none
}

func (e *Refusal) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("APNs answered %d", e.Status)
	}
	return fmt.Sprintf("APNs answered %d %s", e.Status, e.Reason)
}

// Word is APNs' own, by which receipts tell it.
func (e *Refusal) Word() string { return e.Reason }

// said is the body of a refusal.
type said struct {
	Reason    string `json:"reason"`
	Timestamp int64  `json:"timestamp"` // of a 410: milliseconds since 1970
}

const maxReason = 64 // bytes of a reason that are believed

// readReason reads the body of a refusal; what is no such body has no reason.
func readReason(body []byte) said {
	var s said
	if json.Unmarshal(body, &s) != nil || len(s.Reason) > maxReason {
		return said{}
	}
	for i := range len(s.Reason) {
		if c := s.Reason[i]; c <= ' ' || c >= 0x7f {
			return said{Timestamp: s.Timestamp}
		}
	}
	return s
}

// since is when the device died: the far end's word, but not in the future.
func (s said) since(now time.Time) time.Time {
	if s.Timestamp > 0 {
		if at := time.UnixMilli(s.Timestamp); at.Before(now) {
			return at
		}
	}
	return now
}
