package http

import (
	"errors"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// PushResult is what became of one message that was pushed.
type PushResult struct {
	ID      string `json:"id"`      // of the message; APNs gets it as apns-id
	Outcome string `json:"outcome"` // delivered, refused, held, failed or dropped
	// of what was delivered: apns-id, FCM's name, Push Kit's id of the request, X-WNS-Msg-ID, Web Push's address
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason,omitempty"` // of what was not
	// RetryAfter says when another try is worth it, of what was held or failed; 0: nobody said.
	RetryAfter Duration `json:"retry_after,omitempty"`
	// MayDouble says that the far end may have it although its answer is not known.
	MayDouble bool `json:"may_double,omitempty"`
}

// Outcomes of a push.
const (
	PushDelivered = "delivered" // the far end has taken it
	PushRefused   = "refused"   // it will never be taken: the device is gone, the request is wrong
	PushHeld      = "held"      // it was not sent: the app, the key or the device rests
	PushFailed    = "failed"    // not this time
	PushDropped   = "dropped"   // nobody wants it any more: it has expired, or a newer one stands for it
)

type pushAnswer struct {
	Results []PushResult `json:"results"`
}

func pushResult(m *message.Message, a component.Answer) PushResult {
	r := PushResult{ID: m.ID.String(), Name: a.Name}
	switch a.Verdict {
	case component.Delivered:
		r.Outcome = PushDelivered
		return r
	case component.Rejected:
		r.Outcome = PushRefused
	case component.Dropped:
		r.Outcome = PushDropped
	default:
		r.Outcome = PushFailed
		if a.Held && a.Sent.IsZero() { // else this push was refused for what is wrong with all
			r.Outcome = PushHeld
		}
		r.RetryAfter = Duration(a.After.Round(time.Millisecond))
		r.MayDouble = errors.Is(a.Reason, component.ErrNoAnswer) || errors.Is(a.Reason, component.ErrMayDouble)
	}
	if a.Reason != nil {
		r.Reason = a.Reason.Error()
	}
	return r
}
