package pace

import (
	"errors"
	"fmt"
	"time"
)

// Record is what became of one frame. Times are from the same monotonic clock that the deadlines are on.
type Record struct {
	Frame int64
	Late  time.Duration // from its deadline to the call of Player.Frame
	Took  time.Duration // of the call

	// Overslept is the part of Late for which the system let the playing thread sleep on past the deadline: interrupts
	// that came late, a processor that was busy, a machine that stood still. The rest is this package's, and of what
	// the player did before. 0: it was woken in time, or it is not known, as without a process of its own.
	Overslept time.Duration
}

// Progress is how far a run is.
type Progress struct {
	Frame   int64         // the last one that was played; -1: none was
	Played  int64         // how many were
	Skipped int64         // how many were left out
	Paused  bool          // no frame is played until Resume
	Late    time.Duration // of the last one
	Max     time.Duration // the latest of all
}

// Report is what became of a run.
type Report struct {
	Footing Footing

	Played  int64 // frames
	Skipped int64 // frames that were left out, which only Skip does
	Missed  int64 // frames that were played after the next one was due
	Fetched int64 // how often the thread that plays had to be fetched to another processor
	Stopped bool  // it ended by Stop, by its context or by an error, not with its last frame

	Lateness Histogram // of every frame that was played
	Took     Histogram // how long the calls of Player.Frame took
	Records  []Record  // of the last frames, at most Job.Keep of them, the oldest first

	Elapsed time.Duration // from the deadline of frame 0 to the end, pauses included
	Paused  time.Duration // of it
	// what the pacing process took of a processor meanwhile, all its threads together; 0: unknown, or no process of its
	// own
	CPU    time.Duration
	Result []byte // what a Resulter told
}

// Drift is how much later the last frames were than the first ones, in frames: the medians of the records' first and
// last fifth compared. A pace that adds up its errors has much of it; absolute deadlines have none but the clock's.
func (r *Report) Drift(rate Rate) float64 {
	n := len(r.Records) / 5
	if n == 0 || rate.IsZero() {
		return 0
	}
	var first, last Histogram
	for i := range n {
		first.Add(r.Records[i].Late)
		last.Add(r.Records[len(r.Records)-1-i].Late)
	}
	return float64(last.Quantile(0.5)-first.Quantile(0.5)) / float64(rate.Interval())
}

// The errors of Host.Start and Run.Wait, besides a context's and those of a job that cannot be.
var (
	// ErrJob is wrapped by errors about a job that cannot be done as it is written.
	ErrJob = errors.New("pace: not a job that can be done")
	// ErrProcess is wrapped when the process that played died or stopped answering. What the player held was let go of
	// by a player made in this process, unless the error says otherwise.
	ErrProcess = errors.New("pace: the pacing process failed")
)

// PlayerError is an error, or a panic, of a player.
type PlayerError struct {
	Doing string // make, play, pause, resume, stop, result
	Frame int64  // the frame that was played; -1 for all but play
	Err   error  // of a process of its own it is only the text
}

// Error says what the player was doing and what it said.
func (e *PlayerError) Error() string {
	if e.Frame >= 0 {
		return fmt.Sprintf("%s frame %d: %v", e.Doing, e.Frame, e.Err)
	}
	return fmt.Sprintf("%s the player: %v", e.Doing, e.Err)
}

// Unwrap is the player's own error.
func (e *PlayerError) Unwrap() error { return e.Err }
