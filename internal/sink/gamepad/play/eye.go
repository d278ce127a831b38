package play

import (
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/pace"
)

// How a device's answers are learnt.
const (
	lessons = 3   // times that the button is pressed for it
	courses = 4   // times that this is tried
	mostOld = 128 // answers that are read to get rid of them: drivers and kernels keep fewer
)

// sign is a byte of a device's answers that follows the button.
type sign struct {
	at                int
	pressed, released byte
}

// eye looks at what a device answers.
type eye struct {
	from   device.Reader
	player int
	watch  *pace.Stopwatch
	signs  []sign // all of them together tell
	answer [device.AnswerBytes]byte
}

// drain gets rid of old answers.
func (e *eye) drain() error {
	for range mostOld {
		n, err := e.from.Read(e.player, e.answer[:], 0)
		if err != nil || n == 0 {
			return err
		}
	}
	return nil
}

// settle waits until whatever was written must have had its effect, and returns what the device told last; nothing if
// it told nothing.
func (e *eye) settle() (last []byte, err error) {
	for began := e.watch.Elapsed(); ; {
		left := Patience - (e.watch.Elapsed() - began)
		if left <= 0 {
			return last, nil
		}
		n, err := e.from.Read(e.player, e.answer[:], left)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			last = append(last[:0], e.answer[:n]...)
		}
	}
}

// await waits until the device tells that the button is as it was written at a time of the watch, and tells whether it
// did before the patience was over.
func (e *eye) await(began time.Duration, pressed bool) (bool, error) {
	for {
		left := Patience - (e.watch.Elapsed() - began)
		if left <= 0 {
			return false, nil
		}
		n, err := e.from.Read(e.player, e.answer[:], left)
		if err != nil {
			return false, err
		}
		if e.sees(e.answer[:n], pressed) {
			return true, nil
		}
	}
}

func (e *eye) sees(answer []byte, pressed bool) bool {
	for _, s := range e.signs {
		want := s.released
		if pressed {
			want = s.pressed
		}
		if s.at >= len(answer) || answer[s.at] != want {
			return false
		}
	}
	return true
}

// signsOf finds the bytes that were always the same when the button was pressed, and always the same, but something
// else, when it was not. Where there are some that were just what is written, 100 and 0, these are the ones: others may
// tell of the state before.
func signsOf(pressed, released [][]byte) (signs []sign) {
	shortest := device.AnswerBytes
	for _, answer := range append(slices.Clone(pressed), released...) {
		shortest = min(shortest, len(answer))
	}
	exact := false
	for i := range shortest {
		s := sign{i, pressed[0][i], released[0][i]}
		other := func(b byte) func([]byte) bool { return func(answer []byte) bool { return answer[i] != b } }
		if s.pressed == s.released || slices.ContainsFunc(pressed, other(s.pressed)) ||
			slices.ContainsFunc(released, other(s.released)) {
			continue
		}
		signs = append(signs, s)
		exact = exact || s.isExact()
	}
	if exact {
		signs = slices.DeleteFunc(signs, func(s sign) bool { return !s.isExact() })
	}
	return signs
}

func (s sign) isExact() bool { return s.pressed == 100 && s.released == 0 }
