// Package device is what a driver of game pads is: it opens a device, writes states to it, and lets go.
//
// A driver has a room of its own beside this one, and stands in the list of package play. It is called on the thread that keeps the time of a macro, in a process
// of its own as a rule: Open is where everything slow belongs, and Write where nothing does.
//
// Its errors are read by people, perhaps in another process, where nothing is left of them but their text: it says what is wrong with which device, and what to do.
package device

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// Device is an open device: one pad, or one for each of several players. It is used by one goroutine.
type Device interface {
	// Write makes a player's pad what s says, and returns when the device has it. frame is that of the macro; Release for letting go, after which no other comes.
	// An error means that the device cannot be relied on any more.
	Write(player int, frame int64, s *macro.State) error
	// Close lets go of the device. A device that forgets its state when nobody holds it need not have been released before.
	Close() error
}

// Release is the frame of a write that lets go of everything at the end.
const Release int64 = -1

// Driver is a way to reach devices.
type Driver struct {
	Name    string // as in --device NAME:WHERE
	Summary string // one line for people, with what WHERE is
	Target  bool   // WHERE has to be given
	Pads    int    // how many players one device has room for

	// Keep is called before the first of several runs, by the program that asks for them, for what has to be there before and stay between. It returns the target that the
	// runs open, and what lets go of it after the last one. nil: there is nothing to keep.
	Keep func(target string, players []int) (forRuns string, done func() error, err error)

	// Repeat is after how many frames an unchanged state is written again, for devices that take silence for an end; 0: never.
	Repeat int64

	// Open opens the device that target names for players, which are one or more, each from 1 to macro.Players, and at most Pads.
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
		return nil, fmt.Errorf("%s: %w: it is for %s, and this is %s/%s", driver, ErrSystem, where, runtime.GOOS, runtime.GOARCH)
	}
}
