package titanonehid

import "github.com/hikyaku/hikyaku/internal/sink/gamepad/device"

const (
	name = "titanone-hid"

	// repeat is how many frames may pass without a report: a tenth of a second.
	repeat = 6
)

// Driver is the driver.
func Driver() device.Driver {
	return device.Driver{Name: name, Summary: "a Titan One on Linux; after a colon its /dev/hidraw file, if there " +
		"are several", Pads: 1, Repeat: repeat, Open: open}
}
