package vigem

import (
	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

const name = "vigem"

// Driver is the driver.
func Driver() device.Driver {
	return device.Driver{Name: name, Summary: "makes virtual Xbox 360 pads on Windows, with ViGEmBus installed; after " +
		"a colon the path of ViGEmClient.dll, if it is not beside the program", Pads: macro.Players, Open: open}
}
