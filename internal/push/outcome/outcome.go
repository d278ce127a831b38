// Package outcome says what becomes of a message whose request had no answer, and counts, by name, what sinks that push
// had refused or lost.
//
//	var counts outcome.Counts
//	counts.Add("Unregistered") // the far end's word
//	o := counts.Lost(result)   // result.Err is set
//	counts.All()               // for component.Counter
//
// What a far end's words mean is each sink's own business, and delivered messages are the pipeline's to count.
package outcome

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push"
)

// Names in Counts besides those that a sink gives.
const (
	Doubled = "answer lost"   // requests that had left and whose answer did not come: trying them again may double them
	Unknown = "other refusal" // refusals without a name, or with one too many
)

// mostNames bounds the names: far ends make them.
const mostNames = 100

// Counts is what was refused or lost, by name. The zero value is ready, and it may be used from any goroutine.
type Counts struct {
	mu sync.Mutex
	n  map[string]uint64
}

// Add counts one of a name. "" is Unknown, and so is a new name when there are too many.
func (c *Counts) Add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]uint64{}
	}
	if _, known := c.n[name]; name == "" || !known && len(c.n) >= mostNames {
		name = Unknown
	}
	c.n[name]++
}

// All are the counts since the start. The map is the caller's; nil: there are none.
func (c *Counts) All() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.n)
}

// Lost is the outcome of a request that ended without an answer: its message is to be tried again. One that nobody has
// processed was no try. One that may have been processed is counted as Doubled, and its reason says so. What can never
// be a request is rejected.
func (c *Counts) Lost(r push.Result) component.Outcome {
	if errors.Is(r.Err, push.ErrRequest) {
		return component.Reject(r.Err)
	}
	o := component.Again(0, r.Err)
	o.Sent, o.Held = r.Sent, r.Unprocessed
	if !r.Unprocessed {
		c.Add(Doubled)
		o.Reason = fmt.Errorf("%w: %w", component.ErrMayDouble, r.Err)
	}
	return o
}
