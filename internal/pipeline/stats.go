package pipeline

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

// Kinds of node, in NodeStats.
const (
	KindSource    = "source"
	KindTransform = "transform"
	KindSink      = "sink"
)

// NodeStats tells what a node has done and what it is doing. Counts are totals since the start.
type NodeStats struct {
	Name string
	Kind string // KindSource, KindTransform or KindSink
	// DeadLetter is the queue for what the node gives up, without the default namespace; "" for a source.
	DeadLetter string

	In      uint64 // messages that came in; for a source: that were taken from it
	Out     uint64 // messages that a transform made
	Unused  uint64 // of these, made for a port that nobody takes
	Skipped uint64 // messages that were replayed for another step

	Delivered uint64 // sinks: messages the far end has; sources: deliveries settled as delivered
	// sinks: requests of which a message or more were put off, to be sent again; transforms: messages that were
	Retries         uint64
	Rejected        uint64 // messages given up: rejected or out of attempts
	Dead            uint64 // dead letters that are durable
	Dropped         uint64 // sinks: messages that nobody wanted any more: expired, or replaced by newer ones
	Expired         uint64 // of these, because their time was over
	Replaced        uint64 // of these, by newer ones
	HasReceipts     bool   // sinks: receipts are wanted
	Receipts        uint64 // of these, durable
	ReceiptsDropped uint64 // of these, lost, because their queue or the disk did not take them
	GivenBack       uint64 // messages that were not finished when the pipeline stopped
	Panics          uint64

	InFlight int // messages in this node now; for a source: deliveries not settled
	Waiting  int // of these, waiting for a slot
	Sleeping int // of these, waiting for their retry
	Busy     int // calls under way; messages in flight for a component.AsyncSink
	Limit    int // calls that may be under way at present

	Requests uint64 // calls that were made
	// messages in them: Sent / Requests is the mean batch, of an AsyncSink what is handed over at once
	Sent         uint64
	LargestBatch int

	Counts map[string]uint64 // what the component itself counts (component.Counter); nil: nothing

	LastError     string
	LastErrorTime time.Time
}

// Result tells what a run did. What a StreamTransform sends is a delivery, too. A delivery is counted once: as
// GivenBack, else as DeadLettered if any part of it became a dead letter, else as Dropped if any part of it was, else
// as Delivered.
type Result struct {
	Delivered    uint64
	DeadLettered uint64
	Dropped      uint64
	GivenBack    uint64
	Retried      uint64 // retries of all nodes: requests that had to be made again, however many messages they were of
	Nodes        []NodeStats
}

// counters are what a node counts as it goes.
type counters struct {
	in, out, unused, skipped           atomic.Uint64
	delivered, retries, rejected, dead atomic.Uint64
	dropped, givenBack, panics         atomic.Uint64
	expired, replaced                  atomic.Uint64
	requests, sent                     atomic.Uint64
	largest                            atomic.Int64
	mu                                 sync.Mutex
	lastError                          string
	lastErrorTime                      time.Time
}

func (c *counters) failed(err error, at time.Time) {
	if err == nil {
		return
	}
	text := err.Error()
	c.mu.Lock()
	c.lastError, c.lastErrorTime = text, at
	c.mu.Unlock()
}

// drop counts a message that nobody wants any more.
func (c *counters) drop(reason error) {
	c.dropped.Add(1)
	switch droppedWord(reason) {
	case expiredWord:
		c.expired.Add(1)
	case replacedWord:
		c.replaced.Add(1)
	}
}

// What became of messages that nobody wanted any more.
const (
	expiredWord   = "expired"
	replacedWord  = "replaced"
	cancelledWord = "cancelled"
	droppedOther  = "dropped"
)

func droppedWord(reason error) string {
	switch {
	case errors.Is(reason, component.ErrExpired):
		return expiredWord
	case errors.Is(reason, component.ErrReplaced):
		return replacedWord
	case errors.Is(reason, component.ErrCancelled):
		return cancelledWord
	}
	return droppedOther
}

func (c *counters) request(size int) {
	c.requests.Add(1)
	c.sent.Add(uint64(size))
	for {
		was := c.largest.Load()
		if int64(size) <= was || c.largest.CompareAndSwap(was, int64(size)) {
			return
		}
	}
}

func (c *counters) snapshot(s *NodeStats) {
	s.In, s.Out, s.Unused, s.Skipped = c.in.Load(), c.out.Load(), c.unused.Load(), c.skipped.Load()
	s.Delivered, s.Retries, s.Rejected, s.Dead = c.delivered.Load(), c.retries.Load(), c.rejected.Load(), c.dead.Load()
	s.Dropped, s.GivenBack, s.Panics = c.dropped.Load(), c.givenBack.Load(), c.panics.Load()
	s.Expired, s.Replaced = c.expired.Load(), c.replaced.Load()
	s.Requests, s.Sent = c.requests.Load(), c.sent.Load()
	s.LargestBatch = int(c.largest.Load())
	c.mu.Lock()
	s.LastError, s.LastErrorTime = c.lastError, c.lastErrorTime
	c.mu.Unlock()
}
