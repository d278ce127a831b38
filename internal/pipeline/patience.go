package pipeline

import (
	"context"
	"sync"
	"time"
)

// patience is the context of one call to a transform. It ends with the pipeline's work, when the call may take no
// longer, or when the call has returned. Most transforms never wait and ask nothing of it: a timer, which costs more
// than they do, is set by the first that does.
type patience struct {
	work     context.Context
	deadline time.Time

	mu    sync.Mutex
	timed context.Context // nil: nobody had to be woken yet
	stop  func()          // of timed
	over  bool            // the call has returned
}

// Deadline is context.Context's.
func (c *patience) Deadline() (time.Time, bool) { return c.deadline, true }

// Done is context.Context's.
func (c *patience) Done() <-chan struct{} { return c.context().Done() }

// Value is context.Context's.
func (c *patience) Value(key any) any { return c.context().Value(key) }

// Err is context.Context's. It needs no timer to look at a clock.
func (c *patience) Err() error {
	c.mu.Lock()
	untimed := c.timed == nil && !c.over
	c.mu.Unlock()
	if untimed && time.Now().Before(c.deadline) {
		return c.work.Err()
	}
	return c.context().Err()
}

// context is the one with a timer.
func (c *patience) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.stop = context.WithDeadline(c.work, c.deadline)
		if c.over {
			c.stop()
		}
	}
	return c.timed
}

// end ends the context, now that the call has returned.
func (c *patience) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.timed != nil {
		c.stop()
	}
}
