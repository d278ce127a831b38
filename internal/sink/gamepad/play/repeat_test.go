package play

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// notes is a device that writes down what it is told.
type notes struct{ said strings.Builder }

func (n *notes) Write(player int, frame int64, s *macro.State) error {
	fmt.Fprintf(&n.said, "%d:%d:%s ", frame, player, s)
	return nil
}

func (n *notes) Close() error { return nil }

func TestADeviceThatTakesSilenceForAnEndHearsAnUnchangedStateAgain(t *testing.T) {
	script, err := macro.Read([]byte("lp 7\nhp 1\n5 6\n"), macro.Options{})
	if err != nil {
		t.Fatal(err)
	}
	to := new(notes)
	p := player{open: []device.Device{to}, tracks: []track{{player: 1, pad: to, steps: script.Tracks[0], repeat: 3}}}
	for n := range int64(16) {
		if err := p.Frame(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(to.said.String()),
		"0:1:lp 3:1:lp 6:1:lp 7:1:hp 8:1:5 11:1:5 14:1:5 -1:1:5"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestFramesThatWereLeftOutAreMadeUpFor(t *testing.T) {
	script, err := macro.Read([]byte("lp 2\nhp 2\nlk 2\n"), macro.Options{})
	if err != nil {
		t.Fatal(err)
	}
	to := new(notes)
	tr := track{player: 1, pad: to, steps: script.Tracks[0]}
	for _, n := range []int64{0, 4, 9} {
		if err := tr.frame(n); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.TrimSpace(to.said.String()), "0:1:lp 4:1:lk 9:1:5"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestASetupThatIsNoneIsRefused(t *testing.T) {
	for _, setup := range []string{"", "nothing", "[]\nshort", "{\n",
		`[{"driver":"none","players":[1]}]` + "\n\x00\x00\x00\x00\x00\x00\x00\x00",
		`[{"driver":"trace","target":"/dev/null","players":[7]}]` + "\n\x00\x00\x00\x00\x00\x00\x00\x00"} {
		if p, err := newPlayer([]byte(setup)); err == nil {
			t.Errorf("%q became %v", setup, p)
		}
	}
	if _, err := newPlayer([]byte(`[{"driver":"none"}]` + "\n\x00\x00\x00\x00\x00\x00\x00\x00")); !errors.Is(err,
		ErrDevice) {
		t.Error(err)
	}
}
