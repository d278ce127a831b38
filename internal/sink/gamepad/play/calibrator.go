package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/pace"
)

// calibrator presses a button at each even frame and lets go of it at each odd one.
type calibrator struct {
	pad    device.Device
	player int
	eye    *eye // nil: it cannot be asked, or asking it is of no use
	watch  *pace.Stopwatch
	spread time.Duration
	press  macro.State
	found  Calibration
	learnt bool
	lost   int // answers in a row
}

// mostLost is how many answers in a row may be missing before no more are waited for.
const mostLost = 10

// Frame writes, and waits for the answer.
func (c *calibrator) Frame(n int64) error {
	if c.eye != nil && !c.learnt {
		if err := c.learn(); err != nil {
			return err
		}
	}
	time.Sleep(spreadOut(n, c.spread))
	pressed := n%2 == 0
	if c.eye != nil {
		if err := c.eye.drain(); err != nil {
			return err
		}
	}
	began := c.watch.Elapsed()
	if err := c.write(n, pressed); err != nil {
		return err
	}
	c.found.Writes = append(c.found.Writes, c.watch.Elapsed()-began)
	if c.eye == nil {
		return nil
	}
	came, err := c.eye.await(began, pressed)
	switch {
	case err != nil:
		return err
	case came:
		c.found.Answers = append(c.found.Answers, c.watch.Elapsed()-began)
		c.lost = 0
	default:
		c.found.Lost++
		if c.lost++; c.lost == mostLost {
			c.eye = nil
		}
	}
	return nil
}

// spreadOut is by how much a frame's write is later than the frame. A device that looks at what was written to it at
// intervals of its own, as all do that are on a bus, would otherwise be met at a few points of its interval alone. The
// steps are those of the golden section, whose first n points are spread evenly for every n.
func spreadOut(n int64, spread time.Duration) time.Duration {
	const golden = 0x9e3779b97f4a7c15 // of 2^64
	return time.Duration(uint64(n) * golden >> 32 * uint64(spread) >> 32)
}

func (c *calibrator) write(frame int64, pressed bool) error {
	s := c.press
	if !pressed {
		s = macro.State{}
	}
	return c.pad.Write(c.player, frame, &s)
}

// learn finds out what the device tells when the button is pressed. What it tells is looked at again if it makes no
// sense: a lesson in which the answer came too late spoils all.
func (c *calibrator) learn() error {
	c.learnt = true
	for range courses {
		pressed, released, err := c.course()
		if err != nil {
			return err
		}
		if c.eye.signs = signsOf(pressed, released); len(c.eye.signs) > 0 {
			c.found.Reading = Answering
			return nil
		}
		if !slices.ContainsFunc(append(pressed, released...), func(told []byte) bool { return len(told) > 0 }) {
			break // it says nothing at all
		}
	}
	c.found.Reading, c.eye = Silent, nil
	return nil
}

// course is what the device told in some lessons.
func (c *calibrator) course() (pressed, released [][]byte, err error) {
	for range lessons {
		for _, lesson := range []struct {
			press bool
			to    *[][]byte
		}{{true, &pressed}, {false, &released}} {
			if err := c.eye.drain(); err != nil {
				return nil, nil, err
			}
			if err := c.write(0, lesson.press); err != nil {
				return nil, nil, err
			}
			told, err := c.eye.settle()
			if err != nil {
				return nil, nil, err
			}
			*lesson.to = append(*lesson.to, told)
		}
	}
	return pressed, released, nil
}

// Stop lets go of the button.
func (c *calibrator) Stop() error {
	err := c.pad.Write(c.player, device.Release, new(macro.State))
	if err != nil {
		err = fmt.Errorf("let go of what player %d held: %w", c.player, err)
	}
	return errors.Join(err, c.pad.Close())
}

// Result is what was found out, as JSON.
func (c *calibrator) Result() ([]byte, error) {
	c.found.Writes, c.found.Answers = sorted(c.found.Writes), sorted(c.found.Answers)
	return json.Marshal(&c.found)
}
