package pass

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/evdev"
	"github.com/hikyaku/hikyaku/pace"
)

func state(t *testing.T, text string) macro.State {
	t.Helper()
	s, err := macro.ParseState(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func steps(t *testing.T, text string) []macro.Step {
	t.Helper()
	s, err := macro.Read([]byte(text), macro.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Tracks[0]
}

// story tells a mixer what a player does, and returns what the pad has: "FRAME:what is pressed" for each, "FRAME:-" to
// look without a change. Macros have 10 frames a second.
func story(t *testing.T, m *Mixer, lines string) (has string) {
	t.Helper()
	for line := range strings.FieldsSeq(lines) {
		at, what, _ := strings.Cut(line, ":")
		var frame float64
		if _, err := fmt.Sscan(at, &frame); err != nil {
			t.Fatal(err)
		}
		now := time.Hour + time.Duration(frame*float64(100*time.Millisecond))
		m.Tick(now)
		if what != "-" {
			c := evdev.Change{At: now, State: state(t, what)}
			c.Keys = c.State
			m.Input(&c, now)
		}
		has += fmt.Sprintf(" %s:%s", at, m.State())
	}
	return has[1:]
}

func TestAMacroIsPlayedOverThePlayersInput(t *testing.T) {
	ten, err := pace.PerSecond(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ story, want string }{
		"nothing but the player": {"0:2 1:3,lp 2:5 3:lx=50", "0:2 1:3,lp 2:5 3:lx=50"},
		"its button is not handed on, and its frames are kept": {
			"0:l3 1.9:- 2:- 3.9:- 4:- 5:5", "0:2 1.9:2 2:6,hp 3.9:6,hp 4:5 5:5"},
		"what it touches is its own, and all else the player's": {
			"0:4,lk 1:4,lk,l3 1.5:4,mp,hp,l3,rx=30 3:- 4:lx=-90 5:-",
			"0:4,lk 1:2,lk 1.5:2,mp,rx=30 3:6,mp,hp,rx=30 4:6,hp 5:lx=-90"},
		"once more ends it":                                  {"0:l3 1:4 2:4,l3 3:4", "0:2 1:2 2:4 3:4"},
		"held, it is begun once":                             {"0:l3 3:l3,lp 5:l3,lp 9:l3", "0:2 3:6,lp,hp 5:lp 9:5"},
		"another one takes its place":                        {"0:l3 1:l3,r3 2:r3 3:- 4:-", "0:2 1:lp 2:lp 3:lp 4:5"},
		"a wakeup that is late leaves no frame out of place": {"0:l3 3.5:- 4:-", "0:2 3.5:6,hp 4:5"},
	} {
		m := NewMixer(ten, []Macro{{macro.L3, "a", steps(t, "2 2\n6,hp 2\n")}, {macro.R3, "b", steps(t, "lp 3\n")}})
		if got := story(t, m, c.story); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

func TestATriggerBeginsAMacroFromTheHalfOfItsWay(t *testing.T) {
	m := NewMixer(pace.NTSC(), []Macro{{macro.L2, "a", steps(t, "hp 9\n")}})
	for way, want := range map[string]string{"l2=40": "5", "l2=60": "hp"} {
		m.Input(&evdev.Change{State: state(t, way)}, 0)
		if got := m.State(); got.String() != want {
			t.Errorf("%s: %s, not %s", way, got, want)
		}
		m.Input(&evdev.Change{}, 0)
		m.running = none
	}
}

func TestMixingAllocatesNothing(t *testing.T) {
	m := NewMixer(pace.NTSC(), []Macro{{macro.L3, "a", steps(t, "2 2\n6,hp 2\n")}})
	press, let := evdev.Change{State: state(t, "l3,lp")}, evdev.Change{}
	now := time.Duration(0)
	if n := testing.AllocsPerRun(100, func() {
		m.Input(&press, now)
		m.Tick(now)
		_ = m.State()
		m.Input(&let, now)
		now += 40 * time.Millisecond
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
