package uinput

import (
	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

const name = "uinput"

// Driver is the driver.
func Driver() device.Driver {
	return device.Driver{Name: name,
		Summary: "makes virtual pads on Linux; after a colon another path than /dev/uinput", Pads: macro.Players,
		Keep: keep, Open: open}
}
