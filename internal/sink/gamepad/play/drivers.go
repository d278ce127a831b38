package play

import (
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/nearest"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/serial"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/titanone"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/titanonehid"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/uinput"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/vigem"
)

// Drivers lists the ways to reach a device.
func Drivers() []device.Driver {
	return []device.Driver{trace.Driver(), uinput.Driver(), serial.Driver(), titanonehid.Driver(), titanone.Driver(),
		vigem.Driver()}
}

func driverNames() string {
	var all []string
	for _, d := range Drivers() {
		name := d.Name
		if d.Target {
			name += ":FILE"
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

// find finds the driver that a device's name names, and what it is to open.
func find(text string) (device.Driver, string, error) {
	name, target, _ := strings.Cut(text, ":")
	var names []string
	for _, d := range Drivers() {
		names = append(names, d.Name)
		switch {
		case d.Name != name:
		case d.Target && target == "":
			return d, "", fmt.Errorf("%w: %s does not say which: write %s:FILE", ErrDevice, text, name)
		default:
			return d, target, nil
		}
	}
	if n := nearest.Name(name, names); n != "" {
		return device.Driver{}, "", fmt.Errorf("%w: %q; did you mean %s?", ErrDevice, text, n)
	}
	return device.Driver{}, "", fmt.Errorf("%w: %q; there are %s", ErrDevice, text, driverNames())
}
