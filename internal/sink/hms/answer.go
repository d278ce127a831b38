package hms

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/rest"
)

// Codes of Push Kit that mean more than that a message is wrong.
const (
	codeSuccess   = "80000000"
	codePartial   = "80100000" // for some tokens; the body names the others
	codeManyTasks = "80100017" // more than a hundred messages for topics at once
	codeToken     = "80200001" // the access token is wrong
	codeExpired   = "80200003" // the access token has expired
	codeJWT       = "80200005" // the same of the other kind of token
	codeForbidden = "80300002" // the app may not push, or not to this token
	codeNoToken   = "80300007" // no token is the app's
	codePenalty   = "80300037" // the app may not push for something it did
	codeOAuth     = "80600003" // the request to the OAuth service failed
	codeInternal  = "81000001"
)

const (
	refusedRest = 30 * time.Second // of an app that may not send: somebody has to put that right
	tasksRest   = 10 * time.Second // of a message for a topic while there are too many
)

// came is told how a request ended.
func (d *delivery) came(r push.Result) {
	replaced := d.sink.newest.End(d.Push)
	if r.Err != nil {
		if replaced {
			d.End(component.Drop(component.ErrReplaced), false)
			return
		}
		d.End(d.sink.counts.Lost(r), false)
		return
	}
	said := readAnswer(r.Response)
	switch {
	case d.delivered(said):
		d.app.calm()
		d.app.Outage.Worked()
		if d.Named != nil {
			d.Named(said.Request)
		}
		d.End(component.OK(r.Sent), true)
	case replaced:
		d.End(component.Drop(component.ErrReplaced), false)
	default:
		d.refused(r, said)
	}
}

// delivered tells whether Push Kit took the message. A partial success is ours where our token is not among the bad
// ones.
func (d *delivery) delivered(said *Refusal) bool {
	return said.Status == 200 && (said.Code == codeSuccess ||
		said.Code == codePartial && !slices.Contains(said.illegal, d.wish.name))
}

// refused deals with an answer that takes nothing.
func (d *delivery) refused(r push.Result, reason *Refusal) {
	s, now := d.sink, d.sink.clock()
	s.counts.Add(reason.Word())
	asked := rest.After(r.Response.Get("retry-after"), now)
	o := component.Again(asked, reason)
	switch code := reason.Code; {
	case (code == codeNoToken || code == codePartial || code == codeForbidden) && d.Passes.Device.Waits():
		death := d.Death(now, code, reason.Status)
		death.Suspect = code == codeForbidden // it may also be about what the app may do: it is sent to again
		d.Doubt(death, reason, r.Sent)
		return
	case code == codeForbidden, code == codePenalty, code == codeOAuth:
		o = d.Hold(now, refusedRest, reason)
		// codeForbidden may be about this message's devices all the same.
		o.Held = code != codeForbidden || d.app.Outage.Failed(now, d.Message.ID) > 0
	case code == codeToken, code == codeExpired, code == codeJWT, code == "" && reason.Status == 401:
		d.app.Tokens.Refused(d.Authorization)
		if !d.Renewed {
			d.resend()
			return
		}
		o = d.Hold(now, refusedRest, reason)
	case code == "" && (reason.Status == 403 || reason.Status == 404):
		o = d.Hold(now, refusedRest, reason) // there is no such app, or something between refuses this message
		o.Held = d.app.Outage.Failed(now, d.Message.ID) > 0
	case reason.Status == 503 || reason.Status == 429: // its flow control
		o.After, o.Slow = d.app.throttled(now, asked, reason), true
		o.Held = d.app.Outage.Failed(now, d.Message.ID) > 0 // it asks everybody to wait: that is no message's try
	case code == codeManyTasks:
		o.After, o.Slow = max(asked, tasksRest), true
	case code == codeInternal, reason.Status >= 500, reason.Status == 408:
		s.failed.Add(d.Message.ID, r.Connection, now)
		o = d.Failed(now, d.Message.ID, o)
	case d.Passes.Message.Waits():
		d.Misfit(reason, r.Sent)
		return
	default:
		o = component.Reject(reason)
	}
	o.Sent = r.Sent
	d.End(o, false)
}

// Refusal is an answer of Push Kit that is not a success.
type Refusal struct {
	Status  int
	Code    string // eight digits, as 80300007; "": it said none
	Message string // for a person
	Request string // Push Kit's id of the request

	illegal []string // tokens that are wrong, as 80100000 names them
}

// Error says what Push Kit said, and what the code means: the log counts reasons that differ in digits together.
func (e *Refusal) Error() string {
	text := fmt.Sprintf("Push Kit answered %d", e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if what := meanings[e.Code]; what != "" {
		text += " (" + what + ")"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// meanings are Huawei's descriptions of its codes, in short.
var meanings = map[string]string{
	codePartial: "the token is wrong", "80100001": "a parameter is wrong",
	"80100003": "the message's structure is wrong", "80100004": "it has expired",
	"80100013": "the collapse key is wrong", "80100016": "sensitive content",
	codeManyTasks: "too many messages for topics at once", "80100018": "the review's signature is wrong",
	codeToken: "the access token is wrong", codeExpired: "the access token has expired",
	codeJWT: "the access token has expired", codeForbidden: "the app may not push, or not to this token",
	codeNoToken: "the token is none of this app's", "80300008": "the message is too long",
	"80300010": "too many tokens", "80300011": "no right to high urgency", "80300013": "the receipt's address is wrong",
	codePenalty: "the app is penalized", codeOAuth: "the OAuth service failed", codeInternal: "an internal error",
}

// Word is what it is counted by: the code, else the status.
func (e *Refusal) Word() string {
	if e.Code != "" {
		return e.Code
	}
	return fmt.Sprintf("answer %d", e.Status)
}

const (
	codeLen     = 8
	mostRequest = 64 // bytes of Push Kit's id of a request
)

// readAnswer reads the body of an answer.
func readAnswer(r *push.Response) *Refusal {
	e := &Refusal{Status: r.Status}
	var said struct {
		Code    string `json:"code"`
		Message string `json:"msg"`
		Request string `json:"requestId"`
	}
	if json.Unmarshal(r.Body, &said) != nil {
		return e
	}
	if isCode(said.Code) {
		e.Code = said.Code
	}
	if e.Code == codePartial {
		var tokens struct {
			Illegal []string `json:"illegal_tokens"`
		}
		if json.Unmarshal([]byte(said.Message), &tokens) == nil {
			e.illegal = tokens.Illegal
		}
		said.Message = "" // it has tokens in it
	}
	e.Message = push.Shown(said.Message)
	if len(said.Request) <= mostRequest {
		e.Request = push.Shown(said.Request)
	}
	return e
}

// isCode tells whether a text is one of Push Kit's codes.
func isCode(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return len(text) == codeLen
}
