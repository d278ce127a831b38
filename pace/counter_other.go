//go:build !windows

package pace

import "time"

// counter counts nanoseconds from its making.
type counter struct{ base time.Time }

func newCounter() counter { return counter{time.Now()} }

func (c *counter) nanoseconds() int64 { return int64(time.Since(c.base)) }
