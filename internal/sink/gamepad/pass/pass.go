// Package pass hands a player's pad on to a virtual one or a converter, and plays macros over it that buttons of the
// pad begin.
//
//	err := pass.Run(ctx, source, to, pass.NewMixer(pace.NTSC(), macros), &report)
//
// One thread does it all: it waits for the pad's events and for the next frame of a macro, whichever is first, and
// writes. While a macro is played, the inputs that it touches anywhere are its own, directions together with the left
// stick; all others stay the player's. The buttons that begin macros are never handed on.
package pass

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/evdev"
	"github.com/hikyaku/hikyaku/pace"
)

// Source is a player's pad, as evdev has it.
type Source interface {
	// Poll waits at most so long for changes.
	Poll(wait time.Duration) ([]evdev.Change, error)
	Now() evdev.Change
	Live() bool // the times of its changes are on evdev.Clock
}

// Report is what was done.
type Report struct {
	Passed  pace.Histogram // from the kernel's time of each change to the end of the write that handed it on
	Frames  pace.Histogram // from when a macro's state was due to the end of the write
	Started int            // macros
	On      string         // what it stood on, for people
}

// longest is for how long nothing is looked at when nothing happens: so long may an end take.
const longest = 100 * time.Millisecond

// Run hands on until ctx ends or something fails, and then lets go of everything. repeat is after how long an unchanged
// state is written again; 0: never.
func Run(ctx context.Context, from Source, to device.Device, m *Mixer, repeat time.Duration, r *Report) error {
	ended := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks: the thread ends with its priority
		r.On = hurry()
		ended <- run(ctx, &loop{from: from, to: to, mixer: m, repeat: repeat, report: r})
	}()
	return <-ended
}

func run(ctx context.Context, l *loop) (err error) {
	defer func() {
		if failed := l.to.Write(1, device.Release, new(macro.State)); failed != nil {
			err = errors.Join(err, fmt.Errorf("let go of everything: %w", failed))
		}
	}()
	l.mixer.player = l.from.Now()
	if err := l.write(evdev.Clock(), true); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := l.turn(); errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

type loop struct {
	from   Source
	to     device.Device
	mixer  *Mixer
	repeat time.Duration
	report *Report
	has    macro.State   // of the device
	wrote  time.Duration // when
}

// turn waits for what comes next, and does it.
func (l *loop) turn() error {
	now := evdev.Clock()
	wait := min(longest, l.mixer.Next()-now)
	if l.repeat > 0 {
		wait = min(wait, l.wrote+l.repeat-now)
	}
	changes, err := l.from.Poll(max(0, wait))
	now = evdev.Clock()
	if due := l.mixer.Next(); due <= now {
		l.mixer.Tick(now)
		if err := l.write(now, false); err != nil {
			return err
		}
		l.report.Frames.Add(evdev.Clock() - due)
	}
	for i := range changes { // each is written: a tap that came together with its end is one for the game, too
		was := l.mixer.running
		l.mixer.Input(&changes[i], now)
		if l.mixer.running != was && l.mixer.running != none {
			l.report.Started++
		}
		if err := l.write(now, false); err != nil {
			return err
		}
		if l.from.Live() {
			l.report.Passed.Add(max(0, evdev.Clock()-changes[i].At))
		}
	}
	if err != nil {
		return err
	}
	return l.write(now, l.repeat > 0 && now-l.wrote >= l.repeat)
}

// write writes what has changed, or everything.
func (l *loop) write(now time.Duration, all bool) error {
	s := l.mixer.State()
	if s == l.has && !all {
		return nil
	}
	l.has, l.wrote = s, now
	return l.to.Write(1, 0, &l.has)
}
