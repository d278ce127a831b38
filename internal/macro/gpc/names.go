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
	for i, name := range strings.Fields(twos) {
		all[name] = macro.Input(i)
	}
	return all
}()

// twos are the names of Titan Two, in the same order: it numbers the buttons without the sticks between them. Those
// from BUTTON_18 on are another thing on each pad.
const twos = "BUTTON_1 BUTTON_2 BUTTON_3 BUTTON_4 BUTTON_5 BUTTON_6 BUTTON_7 BUTTON_8 BUTTON_9 " +
	"STICK_1_X STICK_1_Y STICK_2_X STICK_2_Y BUTTON_10 BUTTON_11 BUTTON_12 BUTTON_13 BUTTON_14 BUTTON_15 BUTTON_16 " +
	"BUTTON_17"

// isAxis tells whether an input goes to both sides.
func isAxis(in macro.Input) bool {
	return in >= macro.RX && in <= macro.LY || in >= macro.AccX && in <= macro.GyroZ
}
