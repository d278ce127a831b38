package play

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/pace"
)

// player plays a script. It writes where a state changes, and nothing between.
type player struct {
	open   []device.Device
	tracks []track
}

// track is how far a player of the script is.
type track struct {
	player int
	pad    device.Device
	steps  []macro.Step // those that have not begun
	due    int64        // the frame at which the next one begins, or with which the last one ends
	ended  bool

	repeat int64 // frames after which a state is written again; 0: never
	state  macro.State
	wrote  int64 // the frame that was last written
}

// newPlayer is a pace.Maker.
func newPlayer(setup []byte) (pace.Player, error) {
	seats, script, err := unpack(setup)
	if err != nil {
		return nil, err
	}
	p := new(player)
	for i := range seats {
		d, err := seats[i].open()
		if err != nil {
			return nil, errors.Join(err, p.Stop())
		}
		p.open = append(p.open, d)
		for _, n := range seats[i].Players {
			if n < 1 || n > macro.Players {
				return nil, errors.Join(fmt.Errorf("there is no player %d", n), p.Stop())
			}
			p.tracks = append(p.tracks,
				track{player: n, pad: d, steps: script.Tracks[n-1], repeat: seats[i].driver().Repeat})
		}
	}
	return p, nil
}

// Frame writes the states that begin with frame n.
func (p *player) Frame(n int64) error {
	for i := range p.tracks {
		if err := p.tracks[i].frame(n); err != nil {
			return err
		}
	}
	return nil
}

func (t *track) frame(n int64) error {
	if t.ended || t.due > n {
		if t.repeat == 0 || n-t.wrote < t.repeat {
			return nil
		}
		return t.write(n)
	}
	for t.due <= n {
		if len(t.steps) == 0 {
			t.ended, t.state = true, macro.State{} // let go, behind the last step
			break
		}
		t.state = t.steps[0].State
		t.due += int64(t.steps[0].Frames)
		t.steps = t.steps[1:]
	}
	return t.write(n)
}

func (t *track) write(n int64) error {
	t.wrote = n
	return t.pad.Write(t.player, n, &t.state)
}

// Stop lets go of everything, with every device that can still be reached, and closes them. A device that failed before
// is tried too: it may be there again.
func (p *player) Stop() error {
	var all []error
	for i := range p.tracks {
		t := &p.tracks[i]
		if err := t.pad.Write(t.player, device.Release, new(macro.State)); err != nil {
			all = append(all, fmt.Errorf("let go of what player %d held: %w", t.player, err))
		}
	}
	for _, d := range p.open {
		if err := d.Close(); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
