package http

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/push/dead"
)

// DeadSelection says which dead devices of a sink are meant: those for which all that is set is so.
type DeadSelection struct {
	App string `json:"app,omitempty"`
	// environment and topic, where these are not what the app has by default
	Of     string     `json:"of,omitempty"`
	Token  string     `json:"token,omitempty"`  // of one device; of Web Push, the endpoint
	Reason string     `json:"reason,omitempty"` // the far end's word
	Since  *time.Time `json:"since,omitempty"`  // they died then or later
}

func (s *DeadSelection) selection() dead.Selection {
	o := dead.Selection{App: s.App, Of: s.Of, Token: s.Token, Reason: s.Reason}
	if s.Since != nil {
		o.Since = *s.Since
	}
	return o
}

// ReviveRequest asks to take deaths back.
type ReviveRequest struct {
	DeadSelection
	All    bool `json:"all,omitempty"`     // allows that nothing is selected
	DryRun bool `json:"dry_run,omitempty"` // only count
}

// Revived tells how many devices are alive again, or with DryRun would be.
type Revived struct {
	Revived int  `json:"revived"`
	DryRun  bool `json:"dry_run,omitempty"`
}

// DeadSink is a sink that remembers dead devices.
type DeadSink struct {
	Sink     string `json:"sink"`
	Platform string `json:"platform"` // apns, fcm, hms, webpush or wns
	Devices  int    `json:"devices"`  // that are remembered
}

type deadSinkList struct {
	Sinks []DeadSink `json:"sinks"`
}

// DeadTotals counts a sink's dead devices.
type DeadTotals struct {
	Sink   string      `json:"sink"`
	Totals []DeadTotal `json:"totals"` // the latest days first
	// Others are devices that are in none of the totals, because there are too many of these.
	Others int `json:"others,omitempty"`
}

// DeadTotal is how many devices died on a day for a cause. What is not known is "".
type DeadTotal struct {
	dead.Cause
	Day     string `json:"day"` // 2006-01-02, UTC
	Devices int    `json:"devices"`
}

// DeadDevice tells whether a token is dead. It may be so under several apps, environments and topics.
type DeadDevice struct {
	Sink   string      `json:"sink"`
	Dead   bool        `json:"dead"`
	Deaths []DeadDeath `json:"deaths"`
}

// DeadDeath is one of a token's deaths.
type DeadDeath struct {
	dead.Cause
	Since time.Time `json:"since"`
}
