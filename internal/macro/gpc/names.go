package gpc

import (
	"strings"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// pads are the names of inputs, for each family of pads in the order of macro.Input from PS on.
var pads = map[string]string{
	"PS4_": "PS SHARE OPTIONS R1 R2 R3 L1 L2 L3 RX RY LX LY UP DOWN LEFT RIGHT TRIANGLE CIRCLE CROSS SQUARE " +
		"ACCX ACCY ACCZ GYROX GYROY GYROZ TOUCH",
	"PS3_":   "PS SELECT START R1 R2 R3 L1 L2 L3 RX RY LX LY UP DOWN LEFT RIGHT TRIANGLE CIRCLE CROSS SQUARE",
	"XB1_":   "XBOX VIEW MENU RB RT RS LB LT LS RX RY LX LY UP DOWN LEFT RIGHT Y B A X",
	"XB360_": "XBOX BACK START RB RT RS LB LT LS RX RY LX LY UP DOWN LEFT RIGHT Y B A X",
}

// inputs are all of those names.
var inputs = func() map[string]macro.Input {
	all := map[string]macro.Input{}
	for family, names := range pads {
		for i, name := range strings.Fields(names) {
			all[family+name] = macro.Input(i)
		}
	}
	return all
}()

// isAxis tells whether an input goes to both sides.
func isAxis(in macro.Input) bool {
	return in >= macro.RX && in <= macro.LY || in >= macro.AccX && in <= macro.GyroZ
}
