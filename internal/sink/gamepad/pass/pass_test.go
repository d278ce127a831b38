package pass

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/evdev"
	"github.com/hikyaku/hikyaku/pace"
)

// script is a pad that does one thing after the other, each when the device has what is to be there before.
type script struct {
	t     *testing.T
	to    *notes
	turns []struct{ until, press string }
	end   error
}

func (s *script) Now() evdev.Change { return evdev.Change{} }
func (s *script) Live() bool        { return false }

func (s *script) Poll(wait time.Duration) ([]evdev.Change, error) {
	if len(s.turns) == 0 {
		return nil, s.end
	}
	next := s.turns[0]
	if s.to.last != next.until {
		time.Sleep(wait) // as a poll does: the loop's own deadline is what is waited for
		return nil, nil
	}
	s.turns = s.turns[1:]
	c := evdev.Change{State: state(s.t, next.press)}
	c.Keys = c.State
	return []evdev.Change{c}, nil
}

// notes is a device that writes down what it is told.
type notes struct {
	said []string
	last string
	fail error
}

func (n *notes) Write(_ int, frame int64, s *macro.State) error {
	n.last = s.String()
	if frame == device.Release {
		n.last += "!"
	}
	n.said = append(n.said, n.last)
	if n.last == "hp" {
		return n.fail
	}
	return nil
}

func (n *notes) Close() error { return nil }

func TestWhatEndsItLetsGoOfEverything(t *testing.T) {
	for _, c := range []struct {
		end, fail error
		want      error
	}{{io.EOF, nil, nil}, {device.ErrGone, nil, device.ErrGone}, {nil, device.ErrGone, device.ErrGone}} {
		to := &notes{fail: c.fail}
		from := &script{t: t, to: to, end: c.end}
		from.turns = append(from.turns, struct{ until, press string }{"5", "4"},
			struct{ until, press string }{"4", "4,l3"},
			struct{ until, press string }{"4,hp", "4"}, struct{ until, press string }{"4", "hp"})
		m := NewMixer(pace.NTSC(), []Macro{{macro.L3, "a", steps(t, "mp 2\nhp 300\n")}})
		if c.fail == nil {
			from.turns = from.turns[:3]
		} else {
			from.turns = append(from.turns[:1], struct{ until, press string }{"4", "hp"})
		}
		report := new(Report)
		err := Run(t.Context(), from, to, m, 0, report)
		said := strings.Join(to.said, " ")
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%v, not %v: %s", err, c.want, said)
		}
		want := "5 4 4,mp 4,hp 5!"
		if c.fail != nil {
			want = "5 4 hp 5!"
		} else if report.Started != 1 || report.Frames.Count() != 1 {
			t.Errorf("%+v", report)
		}
		if said != want {
			t.Errorf("the device got %s, not %s", said, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := new(notes)
	if err := Run(ctx, &script{t: t, to: to}, to, NewMixer(pace.NTSC(), nil), 0, new(Report)); err != nil ||
		to.last != "5!" {
		t.Errorf("%v, %q", err, to.said)
	}
}

func TestADeviceThatTakesSilenceForAnEndHearsItsStateAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	to := new(notes)
	from := &again{script{t: t, to: to}, cancel}
	if err := Run(ctx, from, to, NewMixer(pace.NTSC(), nil), time.Millisecond, new(Report)); err != nil ||
		len(to.said) < 5 {
		t.Errorf("%v, %q", err, to.said)
	}
}

// again is a pad on which nothing happens, until the device has heard of it several times.
type again struct {
	script
	enough func()
}

func (a *again) Poll(wait time.Duration) ([]evdev.Change, error) {
	time.Sleep(wait)
	if len(a.to.said) >= 5 {
		a.enough()
	}
	return nil, nil
}
