package fcm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// refusal is an error of FCM: its status, its google.rpc.Code, and whether an FcmError goes with it.
type refusal struct {
	status   int
	code     string
	message  string
	fcmError bool
}

// Errors that are not FCM's own.
const (
	unauthenticated  = "UNAUTHENTICATED"
	permissionDenied = "PERMISSION_DENIED"
	notFound         = "NOT_FOUND"
	invalid          = "INVALID_ARGUMENT"
)

var refusals = map[string]refusal{
	"UNSPECIFIED_ERROR":      {500, "UNKNOWN", "Unknown error.", true},
	invalid:                  {400, "INVALID_ARGUMENT", "The request has an invalid argument.", true},
	"UNREGISTERED":           {404, "NOT_FOUND", "Requested entity was not found.", true},
	"SENDER_ID_MISMATCH":     {403, "PERMISSION_DENIED", "SenderId mismatch", true},
	"QUOTA_EXCEEDED":         {429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric.", true},
	"UNAVAILABLE":            {503, "UNAVAILABLE", "The service is currently unavailable.", true},
	"INTERNAL":               {500, "INTERNAL", "Internal error encountered.", true},
	"THIRD_PARTY_AUTH_ERROR": {401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service", true},
	unauthenticated: {401, "UNAUTHENTICATED", "Request had invalid authentication credentials. Expected " +
		"OAuth 2 access token.", false},
	permissionDenied: {403, "PERMISSION_DENIED",
		"Permission 'cloudmessaging.messages.create' denied on resource.", false},
	notFound:  {404, "NOT_FOUND", "Requested entity was not found.", false},
	exists:    {409, "ALREADY_EXISTS", "Requested entity already exists.", false},
	exhausted: {429, "RESOURCE_EXHAUSTED", "There are too many topics.", false},
}

// Reasons are the names of all errors that can be asked for, in alphabetical order.
func Reasons() []string { return slices.Sorted(maps.Keys(refusals)) }

// Knows returns nil for an error of FCM.
func (p *provider) Knows(reason string) error {
	if _, ok := refusals[reason]; ok {
		return nil
	}
	return fmt.Errorf("reason: %q is none of FCM's errors: it knows %s", reason, strings.Join(Reasons(), ", "))
}

// Refuse makes an answer an error.
func (p *provider) Refuse(_ *farend.Request, a *farend.Answer, reason string) { refuse(a, reason, "") }

// refuse makes an answer an error with a text of its own, "" for the usual one.
func refuse(a *farend.Answer, reason, message string) {
	r := refusals[reason]
	if message == "" {
		message = r.message
	}
	type detail struct {
		Type string `json:"@type"`
		Code string `json:"errorCode"`
	}
	type status struct {
		Code    int      `json:"code"`
		Message string   `json:"message"`
		Status  string   `json:"status"`
		Details []detail `json:"details,omitempty"`
	}
	body := struct {
		Error status `json:"error"`
	}{status{Code: r.status, Message: message, Status: r.code}}
	if r.fcmError {
		body.Error.Details = []detail{{"type.googleapis.com/google.firebase.fcm.v1.FcmError", reason}}
	}
	a.Status, a.Reason, a.Body = r.status, reason, appendJSON(a.Body[:0], body)
}
