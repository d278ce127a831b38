package http

import "time"

// Top is what is going on: the busiest queues, and the components and doors for those who may see them. Rates are per
// second over Over.
type Top struct {
	Time time.Time `json:"time"`
	// Over is the time that the rates are of, in seconds; 0: nobody asked in the last minute, so that they are not
	// known yet.
	Over float64 `json:"over_seconds"`
	// Queues are as many as were asked for, Count how many there are that fit the filter.
	Queues []TopQueue `json:"queues"`
	Count  int        `json:"queue_count"`
	// Components and Doors are for those who are granted admin on everything.
	Components []TopComponent `json:"components"`
	Doors      []TopDoor      `json:"doors"`
}

// TopQueue is a queue as it is now.
type TopQueue struct {
	Name    string  `json:"name"`
	Ready   int64   `json:"ready"`
	Claimed int64   `json:"claimed"`
	Delayed int64   `json:"delayed"`
	Waiting int64   `json:"waiting"` // behind another of their key
	Dead    uint64  `json:"dead"`    // messages that became dead letters, since the queue was made
	In      float64 `json:"in"`      // put
	Out     float64 `json:"out"`     // done, dead or expired
	Oldest  float64 `json:"oldest_seconds"`
}

// TopComponent is a step of a pipeline. Retried and Rejected are totals since the start. P50 and P99 are how long its
// far end took to answer lately, in seconds; 0: not known.
type TopComponent struct {
	Name     string  `json:"name"`
	Kind     string  `json:"kind"` // source, transform or sink
	In       float64 `json:"in"`
	Out      float64 `json:"out"`
	InFlight int     `json:"in_flight"`
	Retried  uint64  `json:"retried"`
	Rejected uint64  `json:"rejected"`
	P50      float64 `json:"p50_seconds"`
	P99      float64 `json:"p99_seconds"`
}

// TopDoor is what clients do at a door. Bytes are those on the wire.
type TopDoor struct {
	Name        string  `json:"name"`
	Connections int64   `json:"connections"`
	Requests    float64 `json:"requests"`
	Errors      float64 `json:"errors"`
	Received    float64 `json:"received_bytes"`
	Sent        float64 `json:"sent_bytes"`
}
