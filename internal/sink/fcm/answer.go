package fcm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/rest"
)

// thirdParty is FCM's word for credentials of the project, for Apple or Web Push, that are wrong or not there.
const thirdParty = "THIRD_PARTY_AUTH_ERROR"

const (
	refusedRest = 30 * time.Second // of a project that may not send: somebody has to put that right
	quotaRest   = time.Minute      // of a project, after QUOTA_EXCEEDED without Retry-After, as Google advises
	partyRest   = time.Minute      // of a message, after THIRD_PARTY_AUTH_ERROR
)

// came is told how a request ended.
func (d *delivery) came(r push.Result) {
	replaced := d.sink.newest.End(d.Push)
	switch {
	case replaced && (r.Err != nil || r.Response.Status != 200):
		d.End(component.Drop(component.ErrReplaced), false)
	case r.Err != nil:
		d.End(d.sink.counts.Lost(r), false)
	case r.Response.Status == 200:
		d.sink.devices.Calm(d.project.Name, d.wish.name)
		d.project.calm()
		d.project.Outage.Worked()
		if d.Named != nil {
			d.Named(nameIn(r.Response.Body))
		}
		d.End(component.OK(r.Sent), true)
	default:
		d.refused(r)
	}
}

// nameIn is FCM's name of a message that it took: {"name": "projects/…/messages/…"}. "": it has said none.
func nameIn(body []byte) string {
	var took struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(body, &took) != nil {
		return ""
	}
	return took.Name
}

// refused deals with an answer that is not 200.
func (d *delivery) refused(r push.Result) {
	s, now := d.sink, d.sink.clock()
	reason := readError(r.Response)
	s.counts.Add(reason.Word())
	o := component.Again(rest.After(r.Response.Get("retry-after"), now), reason)
	switch {
	case reason.FCM == "UNREGISTERED" && d.Single:
		d.Passes.Device.End(true)
		d.Passes.Message.End(false)
		d.Bury(d.Death(now, reason.FCM, reason.Status), reason, r.Sent, true)
		return
	case reason.FCM == "SENDER_ID_MISMATCH" && d.Passes.Device.Waits():
		d.Doubt(d.Death(now, reason.FCM, reason.Status), reason, r.Sent)
		return
	case reason.FCM == thirdParty:
		o.After = max(o.After, partyRest)
		o.Held = d.project.party(now, d.device(), reason)
	case reason.FCM == "" && reason.Status == 401:
		d.project.Tokens.Refused(d.Authorization)
		if !d.Renewed {
			d.resend()
			return
		}
		o = d.refuses(now, reason)
	case reason.FCM == "" && (reason.Status == 403 || reason.Status == 404):
		o = d.refuses(now, reason) // the account may not send for this project, or there is none such
	case reason.Status == 429:
		o = d.less(now, o)
	case reason.Status >= 500, reason.Status == 408:
		s.failed.Add(d.message.ID, r.Connection, now)
		if o = d.Failed(now, d.message.ID, o); !o.Held && o.After > 0 {
			d.project.Pause.Strike(now, d.device(), o.After, reason)
		}
	case d.Passes.Message.Waits():
		d.Misfit(reason, r.Sent)
		return
	default:
		o = component.Reject(reason)
	}
	o.Sent = r.Sent
	d.End(o, false)
}

// refuses lets the project rest. Without a word of Google's the answer may be about this message, and of something
// between: who waits for ever would hold up the project again and again.
func (d *delivery) refuses(now time.Time, reason *Refusal) component.Outcome {
	o := d.Hold(now, refusedRest, reason)
	o.Held = reason.Code != "" || d.project.Outage.Failed(now, d.message.ID) > 0
	return o
}

// less heeds a quota: the device's, or, when several are told so, the project's.
func (d *delivery) less(now time.Time, o component.Outcome) component.Outcome {
	if all := cmp.Or(o.After, quotaRest); d.project.Pause.Strike(now, d.device(), all, o.Reason) {
		o.After, o.Slow, o.Held = all, true, true // the quota is everybody's: that is no message's try
		return o
	}
	o.After = d.sink.devices.Strain(d.project.Name, d.wish.name, now, o.After)
	return o
}

// Refusal is an answer of FCM that is not 200.
type Refusal struct {
	Status  int
	Code    string // a google.rpc.Code, as RESOURCE_EXHAUSTED; "": it said none
	FCM     string // an FcmError's code, as QUOTA_EXCEEDED; "": it said none
	Message string // for a person
}

// Error says what FCM said.
func (e *Refusal) Error() string {
	text := fmt.Sprintf("FCM answered %d", e.Status)
	if w := e.Word(); w != "" {
		text += " " + w
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Word is what it is counted by; "": it said none.
func (e *Refusal) Word() string { return cmp.Or(e.FCM, e.Code) }

const mostCode = 64

// readError reads the body of a refusal: a google.rpc.Status, whose details may hold an FcmError.
func readError(r *push.Response) *Refusal {
	var said struct {
		Error struct {
			Message string `json:"message"`
			Status  string `json:"status"`
			Details []struct {
				Type string `json:"@type"`
				Code string `json:"errorCode"`
			} `json:"details"`
		} `json:"error"`
	}
	e := &Refusal{Status: r.Status}
	if json.Unmarshal(r.Body, &said) != nil {
		return e
	}
	e.Code, e.Message = code(said.Error.Status), push.Shown(said.Error.Message)
	for _, detail := range said.Error.Details {
		if strings.HasSuffix(detail.Type, "fcm.v1.FcmError") {
			e.FCM = code(detail.Code)
		}
	}
	return e
}

// code is a word of capitals; anything else is none.
func code(text string) string {
	if len(text) > mostCode {
		return ""
	}
	for i := range len(text) {
		if c := text[i]; (c < 'A' || c > 'Z') && c != '_' && (c < '0' || c > '9') {
			return ""
		}
	}
	return text
}
