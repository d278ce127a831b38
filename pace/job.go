package pace

import (
	"fmt"
	"time"
)

// Bounds of a Job.
const (
	MaxSetup    = 64 << 20 // bytes
	MaxKeep     = 1 << 22  // records
	DefaultKeep = 1 << 16  // records: 18 minutes of 59.94 frames a second
)

// Job is a run of frames.
type Job struct {
	Player string // the name of what plays, in Players
	// what its Maker gets: all that will be played. At most MaxSetup; not to be changed until Start has returned.
	Setup  []byte
	Rate   Rate   // of the frames
	Frames int64  // how many; the run ends when the last one's time is over. 0: until it is stopped.
	Policy Policy // what becomes of frames that are late

	// Start is when frame 0 is due; when that is past, the policy decides about the frames that are late. Zero: as soon
	// as the player is made.
	Start time.Time

	Plain bool // do without a process of its own
	Keep  int  // how many records the report has at most; 0: DefaultKeep, below 0: none

	// Progress is told about ten times a second how far the run is, and once at its end, by one goroutine. It should be
	// quick. nil: nobody is told.
	Progress func(Progress)
}

// check says what is wrong with the job.
func (j *Job) check(players Players) error {
	switch {
	case players[j.Player] == nil:
		return fmt.Errorf("%w: there is no player %q: give it to Child or Plain", ErrJob, j.Player)
	case j.Rate.IsZero():
		return fmt.Errorf("%w: it has no rate: set Job.Rate, for one to NTSC()", ErrJob)
	case j.Frames < 0:
		return fmt.Errorf("%w: %d frames", ErrJob, j.Frames)
	case j.Policy < CatchUp || j.Policy > Strict:
		return fmt.Errorf("%w: there is no policy %v", ErrJob, j.Policy)
	case len(j.Setup) > MaxSetup:
		return fmt.Errorf("%w: its setup has %d bytes, the most is %d", ErrJob, len(j.Setup), MaxSetup)
	case j.Keep > MaxKeep:
		return fmt.Errorf("%w: %d records to keep, the most is %d", ErrJob, j.Keep, MaxKeep)
	}
	return nil
}

// keep is how many records have room.
func (j *Job) keep() int {
	n := j.Keep
	switch {
	case n < 0:
		return 0
	case n == 0:
		n = DefaultKeep
	}
	if j.Frames > 0 {
		n = int(min(int64(n), j.Frames))
	}
	return n
}
