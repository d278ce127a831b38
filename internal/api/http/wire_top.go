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
	// Total sums up all queues that the user may see, whatever was asked for.
	Total TopTotal `json:"total"`
	// Components, Doors and Process are for those who are granted admin on everything.
	Components []TopComponent `json:"components"`
	Doors      []TopDoor      `json:"doors"`
	Process    *TopProcess    `json:"process,omitempty"`
}

// TopTotal is the sum of the figures of queues.
type TopTotal struct {
	Ready   int64   `json:"ready"`
	Claimed int64   `json:"claimed"`
	Delayed int64   `json:"delayed"`
	Waiting int64   `json:"waiting"`
	Dead    uint64  `json:"dead"`
	In      float64 `json:"in"`
	Out     float64 `json:"out"`
}

// add adds a queue.
func (t *TopTotal) add(q *TopQueue) {
	t.Ready, t.Claimed, t.Delayed = t.Ready+q.Ready, t.Claimed+q.Claimed, t.Delayed+q.Delayed
	t.Waiting, t.Dead, t.In, t.Out = t.Waiting+q.Waiting, t.Dead+q.Dead, t.In+q.In, t.Out+q.Out
}

// TopProcess is what the server takes of its machine.
type TopProcess struct {
	Resident    int64   `json:"resident_bytes"`
	Heap        uint64  `json:"heap_bytes"` // objects, those that nobody needs any more among them
	Goroutines  uint64  `json:"goroutines"`
	Processor   float64 `json:"processor"`     // seconds per second
	Journal     uint64  `json:"journal_bytes"` // on the medium
	JournalLive uint64  `json:"journal_live_bytes"`
	Segments    int     `json:"journal_segments"`
	Syncs       float64 `json:"journal_syncs"`
	// Free is what the disk of data_dir has left for the server; nil: not known.
	Free *int64 `json:"disk_free_bytes,omitempty"`
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
