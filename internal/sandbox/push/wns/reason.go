package wns

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// refusal is an answer of WNS that takes nothing.
type refusal struct {
	status int
	state  string // of the notification
	text   string
}

var refusals = map[string]refusal{
	"BadRequest":            {400, "dropped", "A header is wrong, or conflicts with another"},
	"Unauthorized":          {401, "dropped", "The token is not valid"},
	"Forbidden":             {403, "dropped", "The cloud service is not authorized to send to this channel"},
	"NotFound":              {404, "dropped", "The channel is not valid"},
	"MethodNotAllowed":      {405, "dropped", "Only POST is allowed"},
	"NotAcceptable":         {406, "channelthrottled", "The cloud service exceeded its throttle limit"},
	"Gone":                  {410, "dropped", "The channel expired"},
	"RequestEntityTooLarge": {413, "dropped", "The payload has more than 5000 bytes"},
	"TooManyRequests":       {429, "channelthrottled", "The cloud service exceeded its throttle limit"},
	"InternalServerError":   {500, "dropped", "An internal failure"},
	"ServiceUnavailable":    {503, "dropped", "The server is unavailable"},
	// with the status 200: which one they come with is not documented
	"dropped":          {200, "dropped", "The client rejects these notifications"},
	"channelthrottled": {200, "channelthrottled", "The channel's rate was exceeded"},
}

// Reasons are the names of all answers that can be asked for, in alphabetical order.
func Reasons() []string { return slices.Sorted(maps.Keys(refusals)) }

// Knows returns nil for an answer of WNS.
func (p *provider) Knows(reason string) error {
	if _, ok := refusals[reason]; ok {
		return nil
	}
	return fmt.Errorf("reason: %q is none of WNS's answers: it knows %s", reason, strings.Join(Reasons(), ", "))
}

// Refuse makes an answer an error.
func (p *provider) Refuse(_ *farend.Request, a *farend.Answer, reason string) {
	k := refusals[reason]
	a.Fields, a.Body = a.Fields[:0], a.Body[:0]
	a.Status, a.Reason = k.status, reason
	p.trace(a, k.state)
	a.Set("x-wns-error-description", k.text)
	if k.state == "channelthrottled" && k.status == 200 {
		a.Set("x-wns-continue-after", "7")
	}
}

// describe replaces the description of an error.
func describe(a *farend.Answer, text string) {
	for i := range a.Fields {
		if a.Fields[i].Name == "x-wns-error-description" {
			a.Fields[i].Value = text
		}
	}
}
