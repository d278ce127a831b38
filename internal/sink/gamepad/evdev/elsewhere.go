//go:build !linux

package evdev

import (
	"fmt"
	"runtime"
	"time"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

func elsewhere() error {
	return fmt.Errorf("%w: pads are read on Linux, and this is %s/%s", device.ErrSystem, runtime.GOOS, runtime.GOARCH)
}

// Open fails: there is no evdev on this system.
func Open(string, Mapping) (*Source, error) { return nil, elsewhere() }

// List fails: there is no evdev on this system.
func List() ([]Found, error) { return nil, elsewhere() }

// Grab fails: there is no evdev on this system.
func (s *Source) Grab() error { return elsewhere() }

// Poll fails: there is no evdev on this system.
func (s *Source) Poll(time.Duration) ([]Change, error) { return nil, elsewhere() }

// Clock is the time that Change.At is on.
func Clock() time.Duration { return time.Duration(time.Now().UnixNano()) }
