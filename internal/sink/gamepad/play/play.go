// Package play plays macros on game pads, to the frame: the whole script and the devices' names go to a process that
// does nothing else (package pace), which opens the devices and writes to them itself.
//
//	func main() {
//		host := pace.Child(play.Players()) // first
//		…
//		pads, err := play.Keep([]string{"uinput"}, script.Players())
//		…
//		defer pads.Close()
//		run, err := pads.Start(ctx, host, play.Job{Script: script})
//		if err != nil {
//			return err
//		}
//		report, err := run.Wait()
//	}
//
// Whatever ends a run, everything that was pressed is let go, if the device can still be reached: also when the process
// that plays is killed, and when the program that asked for it is.
package play

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/pace"
)

// Name is the name of the player, for pace.Job.
const Name = "macro"

// Players are what this package can play, for the program's pace.Child.
func Players() pace.Players { return pace.Players{Name: newPlayer, calibrationName: newCalibrator} }

// ErrDevice is wrapped by errors about devices that cannot be meant.
var ErrDevice = errors.New("no such device")

// Check looks whether the devices can be meant, each of them NAME or NAME:WHERE; one for all players, or one for each.
// It opens none.
func Check(devices []string) error {
	_, err := arrange(devices, []int{1})
	return err
}

// Pads are devices that are kept for several runs, one after the other. They may be used by any number of goroutines,
// but two runs at once press on the same pads.
type Pads struct {
	seats []seat
	done  []func() error
}

// Keep makes what has to be there before the first run, and stays between runs: a virtual pad that games are to find,
// an empty file. Players are those who may play; those for whom there is no room are left out, and a script for them is
// refused.
func Keep(devices []string, players []int) (*Pads, error) {
	seats, err := arrange(devices, players)
	if err != nil {
		return nil, err
	}
	p := &Pads{seats: seats}
	for i := range seats {
		s := &seats[i]
		d := s.driver()
		if d.Keep == nil {
			continue
		}
		target, done, err := d.Keep(s.Target, s.Players)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		s.Target = target
		p.done = append(p.done, done)
	}
	return p, nil
}

// Open opens player 1's device in this process, for those who write to it themselves. repeat is after how many frames
// an unchanged state has to be written again; 0: never.
func (p *Pads) Open() (d device.Device, repeat int64, err error) {
	s := p.seats[0]
	s.Players = []int{1}
	d, err = s.open()
	return d, s.driver().Repeat, err
}

// Close lets go of the pads. It is called when no run is under way.
func (p *Pads) Close() error {
	var all []error
	for _, done := range p.done {
		all = append(all, done())
	}
	p.done = nil
	return errors.Join(all...)
}

// Job is what is to be played.
type Job struct {
	Script   *macro.Script // not to be changed until Start has returned
	Rate     pace.Rate     // of the frames; zero: pace.NTSC
	Progress func(pace.Progress)

	// At is when frame 0 is to have its effect, and Lead by how much earlier a write has to be for that
	// (Calibration.Lead); the frames after it likewise. Without At the first write is made as soon as it can be, and
	// Lead changes nothing.
	At   time.Time
	Lead time.Duration
}

// MostLead is the longest Lead.
const MostLead = time.Second

// ErrOver is wrapped when a macro's moment is over before anything could be written.
var ErrOver = errors.New("its moment is over")

// start is when frame 0 is to be written.
func (j *Job) start(now time.Time) (time.Time, error) {
	switch {
	case j.Lead < 0 || j.Lead > MostLead:
		return time.Time{}, fmt.Errorf("a lead of %s is not from 0 to %s", j.Lead, MostLead)
	case j.At.IsZero():
		return time.Time{}, nil
	}
	start := j.At.Add(-j.Lead)
	if over := now.Sub(start); over > 0 {
		return time.Time{}, fmt.Errorf("%w: it had to begin %s ago, for %s", ErrOver, over.Round(time.Millisecond),
			j.At.Format(time.RFC3339Nano))
	}
	return start, nil
}

// Start opens the devices and begins to play. The caller has to Wait for the run. Its frames keep to the grid of the
// rate: one that is late is played at once, and those after it when they would have been, because the game's frames do
// not wait either.
func (p *Pads) Start(ctx context.Context, host *pace.Host, j Job) (*pace.Run, error) {
	var used []seat
	for _, player := range j.Script.Players() {
		i := slices.IndexFunc(p.seats, func(s seat) bool { return slices.Contains(s.Players, player) })
		if i < 0 {
			return nil, fmt.Errorf("%w: the macro has lines for player %d, who has none: name a device for each player",
				ErrDevice, player)
		}
		s := p.seats[i]
		s.Players = []int{player}
		if at := slices.IndexFunc(used,
			func(u seat) bool { return u.Driver == s.Driver && u.Target == s.Target }); at >= 0 {
			used[at].Players = append(used[at].Players, player)
			continue
		}
		used = append(used, s)
	}
	setup, err := pack(used, j.Script)
	if err != nil {
		return nil, err
	}
	if j.Rate.IsZero() {
		j.Rate = pace.NTSC()
	}
	start, err := j.start(time.Now())
	if err != nil {
		return nil, err
	}
	return host.Start(ctx, pace.Job{Player: Name, Setup: setup, Rate: j.Rate, Frames: j.Script.Frames(),
		Policy: pace.CatchUp, Start: start, Progress: j.Progress})
}

// seat is a device and who plays on it.
type seat struct {
	Driver  string `json:"driver"`
	Target  string `json:"target"`
	Players []int  `json:"players"`
}

// arrange gives each player a device.
func arrange(devices []string, players []int) ([]seat, error) {
	if len(devices) == 0 {
		return nil, fmt.Errorf("%w: none is named; there are %s", ErrDevice, driverNames())
	}
	if len(devices) > macro.Players {
		return nil, fmt.Errorf("%w: %d devices for %d players", ErrDevice, len(devices), macro.Players)
	}
	for _, text := range devices {
		if _, _, err := find(text); err != nil {
			return nil, err
		}
	}
	var seats []seat
	if len(devices) == 1 || devices[0] == devices[1] {
		d, target, _ := find(devices[0])
		return append(seats, seat{d.Name, target, slices.Clone(players[:min(len(players), d.Pads)])}), nil
	}
	for _, player := range players {
		d, target, _ := find(devices[player-1])
		seats = append(seats, seat{d.Name, target, []int{player}})
	}
	return seats, nil
}

// pack makes the setup of a job: the seats as a line of JSON, and the script.
func pack(seats []seat, script *macro.Script) ([]byte, error) {
	b, err := json.Marshal(seats)
	if err != nil {
		return nil, err
	}
	return script.AppendBinary(append(b, '\n'))
}

func unpack(setup []byte) (seats []seat, script *macro.Script, err error) {
	head, rest, ok := bytes.Cut(setup, []byte("\n"))
	if !ok {
		return nil, nil, errors.New("the macro's setup has no end")
	}
	if err := json.Unmarshal(head, &seats); err != nil {
		return nil, nil, fmt.Errorf("the macro's devices: %w", err)
	}
	script = new(macro.Script)
	return seats, script, script.UnmarshalBinary(rest)
}

// driver is the seat's driver; one without a name if there is none.
func (s *seat) driver() device.Driver {
	for _, d := range Drivers() {
		if d.Name == s.Driver {
			return d
		}
	}
	return device.Driver{}
}

// open opens the device of a seat.
func (s *seat) open() (device.Device, error) {
	d := s.driver()
	if d.Open == nil {
		return nil, fmt.Errorf("%w: %s", ErrDevice, s.Driver)
	}
	return d.Open(s.Target, s.Players)
}
