package pushtest

import (
	"sync/atomic"
	"time"
)

// Clock is one that a test puts forward while the sink reads it: a sink's timers and answers go on when the outcomes of
// its messages are known. The zero Clock shows the time.
type Clock struct{ ahead atomic.Int64 }

// Now is the time, and as much more as the clock was put forward.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Forward puts the clock forward.
func (c *Clock) Forward(d time.Duration) { c.ahead.Add(int64(d)) }
