package pace

import (
	"fmt"
	"strings"
	"time"
)

// Footing says what a run stands on, which decides how late its frames are.
type Footing struct {
	Own      bool   // the run has a process of its own
	Priority string // of the thread that plays: "SCHED_FIFO 50", "nice -20", "time-critical", "normal"
	Locked   bool   // its memory is never paged out
	// a second thread, on another processor, fetches the one that plays when it is not awake in time
	Watched bool
	Wait    string        // how it waits: "futex", "high-resolution timer", "timer"
	Spin    time.Duration // how long before each deadline it wakes to look at the clock until it comes; 0: it does not
	Lacking []string      // why it stands no better, each with what to do about it
}

// Step is the rung of the ladder that the run stands on: 1 is the best (a process of its own with a real-time
// priority), 2 a process of its own that spins at another priority, 3 a timer in the asking process.
func (f Footing) Step() int {
	switch {
	case !f.Own:
		return 3
	case f.realTime():
		return 1
	}
	return 2
}

func (f *Footing) realTime() bool {
	return strings.HasPrefix(f.Priority, "SCHED_FIFO") || f.Priority == "time-critical"
}

// String is one line for people: "step 1 of 3: own process, SCHED_FIFO 50, memory locked, futex and a spin of 60µs".
func (f Footing) String() string {
	parts := []string{"own process"}
	if !f.Own {
		parts[0] = "no process of its own"
	}
	if f.Priority != "" {
		parts = append(parts, f.Priority)
	}
	if f.Locked {
		parts = append(parts, "memory locked")
	}
	if f.Watched {
		parts = append(parts, "watched from another processor")
	}
	wait := f.Wait
	if f.Spin > 0 {
		wait += fmt.Sprintf(" and a spin of %v", f.Spin.Round(time.Microsecond))
	}
	if wait != "" {
		parts = append(parts, wait)
	}
	text := fmt.Sprintf("step %d of 3: %s", f.Step(), strings.Join(parts, ", "))
	if len(f.Lacking) > 0 {
		text += " (" + strings.Join(f.Lacking, "; ") + ")"
	}
	return text
}
