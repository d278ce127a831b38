package http

import "time"

// Component is a step of a pipeline: what it is set to, what it has done and what it is doing. Totals are since the
// start.
type Component struct {
	TopComponent
	Over     float64            `json:"over_seconds"`   // the time that rates are of; 0: they are not known yet
	Type     string             `json:"type,omitempty"` // such as webhook
	Settings []ComponentSetting `json:"settings"`       // as the configuration has them, without secrets
	// DeadLetter is the queue for what it gives up, as namespace/name; "" of a source.
	DeadLetter string `json:"dead_letter,omitempty"`

	Taken     uint64 `json:"taken"`     // messages that came in
	Made      uint64 `json:"made"`      // by a transform
	Delivered uint64 `json:"delivered"` // of a source: settled so
	Dead      uint64 `json:"dead"`      // dead letters
	Dropped   uint64 `json:"dropped"`   // nobody wanted them any more
	Panics    uint64 `json:"panics"`

	Waiting  int    `json:"waiting"`  // of those in flight, for a request that may be sent
	Sleeping int    `json:"sleeping"` // of those in flight, until their retry
	Busy     int    `json:"busy"`     // requests under way
	Limit    int    `json:"limit"`    // that may be under way now
	Requests uint64 `json:"requests"`
	Sent     uint64 `json:"sent"` // messages in them

	Counts map[string]uint64 `json:"counts,omitempty"` // what it counts by itself

	LastError     string     `json:"last_error,omitempty"`
	LastErrorTime *time.Time `json:"last_error_time,omitempty"`
	Notices       []string   `json:"notices,omitempty"` // what it noticed by itself, the newest last
}

// ComponentSetting is a setting by its path below the component.
type ComponentSetting struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// ComponentSettings are what a configuration says of a component, without secrets, and what it noticed.
type ComponentSettings struct {
	Type     string
	Settings []ComponentSetting
	Notices  []string
}
