package pace

import "time"

// Stopwatch tells how much time has passed since it was made, as finely as the system can. The clock of the time
// package is as coarse as the system's tick on Windows: up to 16 ms, which is a frame. A Stopwatch is used by one
// goroutine at a time, and allocates nothing after its making.
type Stopwatch struct{ counter }

// NewStopwatch makes one.
func NewStopwatch() *Stopwatch { return &Stopwatch{newCounter()} }

// Elapsed is the time since its making. It never goes back.
func (s *Stopwatch) Elapsed() time.Duration { return time.Duration(s.nanoseconds()) }
