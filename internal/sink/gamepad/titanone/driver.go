package titanone

import "github.com/hikyaku/hikyaku/internal/sink/gamepad/device"

const (
	name = "titanone"

	// repeat is how many frames may pass without a write: a tenth of a second.
	repeat = 6
)

// Driver is the driver.
func Driver() device.Driver {
	return device.Driver{Name: name, Summary: "a Titan One on Windows; after a colon the path of gcdapi.dll, if it " +
		"is not beside the program", Pads: 1, Repeat: repeat, Open: open}
}
