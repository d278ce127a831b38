package macro

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/pace"
)

// Timeline writes a macro of states that last for times that are no frames. Each change comes with the frame that
// begins nearest to it, so that no error adds up.
type Timeline struct {
	rate    pace.Rate
	out     strings.Builder
	elapsed time.Duration
	frames  int64
}

// NewTimeline begins at frame 0.
func NewTimeline(rate pace.Rate) *Timeline { return &Timeline{rate: rate} }

// The errors of Hold.
var (
	ErrShort = errors.New("that is shorter than a frame")
	ErrLong  = errors.New("the macro becomes too long")
)

// MostHold is the longest that Hold takes.
const MostHold = 1e6 * time.Second

// Hold writes a state that lasts for so long, which is at most MostHold. ErrShort and ErrLong are its errors; nothing
// is written then.
func (t *Timeline) Hold(s *State, d time.Duration) error {
	t.elapsed += d
	until := t.rate.Frame(t.elapsed + t.rate.Interval()/2)
	frames := until - t.frames
	switch {
	case until > MaxFrames:
		return ErrLong
	case frames < 1:
		return ErrShort
	}
	t.frames = until
	for frames > 0 {
		part := min(frames, MaxLine)
		fmt.Fprintf(&t.out, "%s %d\n", s, part)
		frames -= part
	}
	return nil
}

// Frames is how many were written.
func (t *Timeline) Frames() int64 { return t.frames }

// String is the macro.
func (t *Timeline) String() string { return t.out.String() }

// Clash tells whether a direction is pressed together with its opposite, which no pad can do.
func (s *State) Clash(in Input) bool {
	opposite, ok := map[Input]Input{Up: Down, Down: Up, Left: Right, Right: Left}[in]
	return ok && s[in] != 0 && s[opposite] != 0
}
