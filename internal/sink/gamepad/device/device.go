// Package device is what a driver of game pads is: it opens a device, writes states to it, and lets go.
//
// A driver has a room of its own beside this one, and stands in the list of package play. It is called on the thread
// that keeps the time of a macro, in a process of its own as a rule: Open is where everything slow belongs, and Write
// where nothing does.
//
// Its errors are read by people, perhaps in another process, where nothing is left of them but their text: it says what
// is wrong with which device, and what to do.
package device

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// Device is an open device: one pad, or one for each of several players. It is used by one goroutine.
type Device interface {
	// Write makes a player's pad what s says, and returns when the device has it. frame is that of the macro; Release
	// for letting go, after which no other comes. An error means that the device cannot be relied on any more.
	Write(player int, frame int64, s *macro.State) error
	// Close lets go of the device. A device that forgets its state when nobody holds it need not have been released
	// before.
	Close() error
}

// Reader is a Device that tells what its pads have, for those who measure how long a write takes until it has an
// effect.
//
// An answer is in the device's own form, in which each thing has its place: whoever measures learns which bytes follow
// what is written, so that a driver need not know what the vendor of a device has not told.
type Reader interface {
	Device
	// Read waits at most so long for an answer, puts it into b, which has AnswerBytes, and returns how many bytes it
	// has: 0 when none came. A device that can only be asked answers at once, with the same as before if nothing has
	// changed. With a wait of 0, one that tells by itself answers with the oldest one that was not yet read.
	Read(player int, b []byte, wait time.Duration) (n int, err error)
}

// AnswerBytes is the most that an answer of a Reader has.
const AnswerBytes = 512

// Release is the frame of a write that lets go of everything at the end.
const Release int64 = -1

// Driver is a way to reach devices.
type Driver struct {
	Name    string // as in --device NAME:WHERE
	Summary string // one line for people, with what WHERE is
	Target  bool   // WHERE has to be given
	Pads    int    // how many players one device has room for

	// Keep is called before the first of several runs, by the program that asks for them, for what has to be there
	// before and stay between. It returns the target that the runs open, and what lets go of it after the last one.
	// nil: there is nothing to keep.
	Keep func(target string, players []int) (forRuns string, done func() error, err error)

	// Repeat is after how many frames an unchanged state is written again, for devices that take silence for an end; 0:
	// never.
	Repeat int64

	// Open opens the device that target names for players, which are one or more, each from 1 to macro.Players, and at
	// most Pads.
	Open func(target string, players []int) (Device, error)
}

// The errors of drivers, for errors.Is in the same process.
var (
	ErrMissing = errors.New("the device is not there")
	ErrBusy    = errors.New("the device is in use")
	ErrGone    = errors.New("the device has gone")
	ErrSystem  = errors.New("not on this system")
)

// Elsewhere is a driver's Open on systems that it is not for. where names those that it is for.
func Elsewhere(driver, where string) func(string, []int) (Device, error) {
	return func(string, []int) (Device, error) {
		return nil, fmt.Errorf("%s: %w: it is for %s, and this is %s/%s", driver, ErrSystem, where, runtime.GOOS,
			runtime.GOARCH)
	}
}
