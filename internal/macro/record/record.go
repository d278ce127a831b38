// Package record makes a macro of what a player does: states with their times become frames.
//
//	r := record.New(pace.NTSC())
//	r.Add(at, state) // for each change
//	text, err := r.Text(end)
//
// Frame 0 begins with the first press. Each change comes with the frame that begins nearest to it, by its own time and
// not by those before it, so that no error adds up. What is pressed is pressed for a frame at least, as a game would
// have it that looks once a frame and happens to look: what is let go within its first frame is let go with the next
// one.
package record

import (
	"errors"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/pace"
)

// The bounds of a recording, so that it can always be read again.
const (
	MaxSteps  = 30_000 // a line is 30 bytes at most as a rule, and a macro's text a mebibyte
	MaxFrames = macro.MaxLine
)

// ErrFull is what Add returns when nothing more has room.
var ErrFull = errors.New("the recording is as long as one can be")

// ErrEmpty is what Text returns when nothing was pressed.
var ErrEmpty = errors.New("nothing was pressed")

// Recording is what was done so far. It is used by one goroutine.
type Recording struct {
	rate  pace.Rate
	begun bool
	zero  time.Duration // when frame 0 begins
	steps []macro.Step  // whole ones
	bytes int           // of the text so far

	frame  int64       // of the last change
	before macro.State // what was pressed in the frame before it
	state  macro.State // since then
}

// New begins a recording.
func New(rate pace.Rate) *Recording { return &Recording{rate: rate} }

// Begun tells whether something was pressed.
func (r *Recording) Begun() bool { return r.begun }

// Held tells whether something is pressed.
func (r *Recording) Held() bool { return r.state != macro.State{} }

// Steps counts the changes.
func (r *Recording) Steps() int { return len(r.steps) }

// Add goes on with a state from a time on, on a clock that does not go back. The error is ErrFull: the recording stays
// as it was.
func (r *Recording) Add(at time.Duration, s macro.State) error {
	if !r.begun {
		if s == (macro.State{}) {
			return nil
		}
		r.begun, r.zero, r.state = true, at, s
		return nil
	}
	if s == r.state {
		return nil
	}
	frame := max(r.frameOf(at), r.frame)
	if frame == r.frame && !r.losesNew(s) {
		r.state = s
		return nil
	}
	frame = max(frame, r.frame+1)
	if frame > MaxFrames || len(r.steps) >= MaxSteps || r.bytes > macro.MaxText/2 {
		return ErrFull
	}
	r.push(frame)
	r.state = s
	return nil
}

// frameOf is the frame that begins nearest to a time.
func (r *Recording) frameOf(at time.Duration) int64 {
	return r.rate.Frame(max(0, at-r.zero) + r.rate.Interval()/2)
}

// losesNew tells whether something that began in this frame is not in s any more.
func (r *Recording) losesNew(s macro.State) bool {
	for in, v := range r.state {
		if v != 0 && v != r.before[in] && s[in] != v {
			return true
		}
	}
	return false
}

// push ends what is pressed with a frame. A state that came back within a frame goes on.
func (r *Recording) push(frame int64) {
	frames := uint32(frame - r.frame)
	if n := len(r.steps); n > 0 && r.steps[n-1].State == r.state {
		r.steps[n-1].Frames += frames
	} else {
		r.steps = append(r.steps, macro.Step{Frames: frames, State: r.state})
		r.bytes += len(r.state.String()) + len(" 1000000\n")
	}
	r.before, r.frame = r.state, frame
}

// Frames is how long the recording is up to its last change.
func (r *Recording) Frames() int64 { return r.frame }

// Text ends the recording at a time, with which everything is let go, and writes it as a macro. The error is ErrEmpty.
func (r *Recording) Text(end time.Duration) ([]byte, error) {
	if !r.begun {
		return nil, ErrEmpty
	}
	if r.Held() {
		r.push(min(max(r.frameOf(end), r.frame+1), max(MaxFrames, r.frame+1)))
		r.state = macro.State{}
	}
	var b []byte
	for _, s := range r.steps {
		b, _ = s.State.AppendText(b)
		b = append(b, ' ')
		b = strconv.AppendUint(b, uint64(s.Frames), 10)
		b = append(b, '\n')
	}
	return b, nil
}
