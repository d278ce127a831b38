package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/pace"
)

// calibrationName is the name of the player that calibrates, for pace.Job.
const calibrationName = "calibrate"

// Calibration is what was found out about a device by pressing a button, letting go of it, and asking the device each
// time until it has it.
type Calibration struct {
	Reading Reading
	Writes  Times        // how long writes took
	Answers Times        // from the beginning of a write until the device told that it has what was written
	Lost    int64        // writes after which it did not tell that in time, which is Patience
	Footing pace.Footing `json:"-"`
}

// Reading is how far a device could be asked.
type Reading string

// The ways that a device answers, or does not.
const (
	NoReading Reading = "none"   // its driver cannot ask it
	Silent    Reading = "silent" // nothing that it tells follows what is written to it
	Answering Reading = "answering"
)

// Patience is how long an answer is waited for.
const Patience = 300 * time.Millisecond

// Lead is by how much earlier a write has to be for its effect to be there when it is due: half of the effects are
// earlier then, and half are later. 0: it is not known.
func (c *Calibration) Lead() time.Duration {
	return c.Answers.Quantile(0.5).Round(10 * time.Microsecond)
}

// Jitter is by how much one effect comes later than another: from the earliest one of a hundred to the latest of a
// hundred.
func (c *Calibration) Jitter() time.Duration {
	return c.Answers.Quantile(0.99) - c.Answers.Quantile(0.01)
}

// calibrationSetup is what a calibrator is made of.
type calibrationSetup struct {
	Seat   seat  `json:"seat"`
	Rounds int   `json:"rounds"`
	Spread int64 `json:"spread_ns"` // by how much at most a write is later than its frame
}

// MostRounds is how often Calibrate can press a button.
const MostRounds = 100_000

// Calibrate presses a button so many times on the first of the pads, each frame something else, and measures how long
// it takes. It is played like a macro, by the same process and with the same writes. A slow device is given time: the
// next frame comes after the answer.
func (p *Pads) Calibrate(ctx context.Context, host *pace.Host, rounds int, rate pace.Rate,
	progress func(pace.Progress)) (Calibration, error) {
	if len(p.seats) == 0 || len(p.seats[0].Players) == 0 {
		return Calibration{}, fmt.Errorf("%w: none is kept", ErrDevice)
	}
	if rounds < 1 || rounds > MostRounds {
		return Calibration{}, fmt.Errorf("%d rounds are not from 1 to %d", rounds, MostRounds)
	}
	s := p.seats[0]
	s.Players = s.Players[:1]
	setup, err := json.Marshal(calibrationSetup{s, rounds, int64(rate.Interval() / 2)})
	if err != nil {
		return Calibration{}, err
	}
	run, err := host.Start(ctx, pace.Job{
		Player: calibrationName, Setup: setup, Rate: rate, Frames: 2 * int64(rounds), Policy: pace.Shift, Keep: -1,
		Progress: progress,
	})
	if err != nil {
		return Calibration{}, err
	}
	report, err := run.Wait()
	c := Calibration{Footing: report.Footing}
	if len(report.Result) > 0 {
		if bad := json.Unmarshal(report.Result, &c); bad != nil {
			err = errors.Join(err, fmt.Errorf("what was measured: %w", bad))
		}
	}
	return c, err
}

// newCalibrator is a pace.Maker.
func newCalibrator(setup []byte) (pace.Player, error) {
	var s calibrationSetup
	if err := json.Unmarshal(setup, &s); err != nil {
		return nil, fmt.Errorf("what to calibrate: %w", err)
	}
	if len(s.Seat.Players) != 1 || s.Seat.Players[0] < 1 || s.Seat.Players[0] > macro.Players {
		return nil, fmt.Errorf("what to calibrate: there are no players %v", s.Seat.Players)
	}
	if s.Rounds < 0 || s.Rounds > MostRounds {
		return nil, fmt.Errorf("what to calibrate: %d rounds", s.Rounds)
	}
	d, err := s.Seat.open()
	if err != nil {
		return nil, err
	}
	return calibrate(d, s.Seat.Players[0], s.Rounds, time.Duration(s.Spread)), nil
}

func calibrate(d device.Device, player, rounds int, spread time.Duration) *calibrator {
	c := &calibrator{pad: d, player: player, watch: pace.NewStopwatch(), spread: spread,
		found: Calibration{Reading: NoReading}}
	// memory is not asked for while time matters
	c.found.Writes, c.found.Answers = make(Times, 0, 2*rounds), make(Times, 0, 2*rounds)
	c.press[macro.Square] = 100
	if r, ok := d.(device.Reader); ok {
		c.eye = &eye{from: r, player: player, watch: c.watch}
	}
	return c
}
