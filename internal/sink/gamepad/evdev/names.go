package evdev

import "github.com/hikyaku/hikyaku/internal/macro"

// Codes of buttons and axes that the layouts speak of.
const (
	btnJoystick = 0x120
	btnSouth    = 0x130
	btnEast     = 0x131
	btnNorth    = 0x133
	btnWest     = 0x134
	btnHappy1   = 0x2c0

	absX, absY, absZ, absRX, absRY, absRZ = 0, 1, 2, 3, 4, 5
	absGas, absBrake                      = 9, 10
	absHatX, absHatY                      = 0x10, 0x11
)

// code is a button or an axis.
type code struct {
	kind, number uint16
}

func key(number uint16) code { return code{evKey, number} }
func abs(number uint16) code { return code{evAbs, number} }

// codes are the names that a Mapping may use, as <linux/input-event-codes.h> has them.
var codes = map[string]code{
	"BTN_SOUTH": key(btnSouth), "BTN_EAST": key(btnEast), "BTN_C": key(0x132), "BTN_NORTH": key(btnNorth),
	"BTN_WEST": key(btnWest), "BTN_Z": key(0x135), "BTN_TL": key(0x136), "BTN_TR": key(0x137), "BTN_TL2": key(0x138),
	"BTN_TR2": key(0x139), "BTN_SELECT": key(0x13a), "BTN_START": key(0x13b), "BTN_MODE": key(0x13c),
	"BTN_THUMBL": key(0x13d), "BTN_THUMBR": key(0x13e),
	"BTN_TRIGGER": key(0x120), "BTN_THUMB": key(0x121), "BTN_THUMB2": key(0x122), "BTN_TOP": key(0x123),
	"BTN_TOP2": key(0x124), "BTN_PINKIE": key(0x125), "BTN_BASE": key(0x126), "BTN_BASE2": key(0x127),
	"BTN_BASE3": key(0x128), "BTN_BASE4": key(0x129), "BTN_BASE5": key(0x12a), "BTN_BASE6": key(0x12b),
	"BTN_DPAD_UP": key(0x220), "BTN_DPAD_DOWN": key(0x221), "BTN_DPAD_LEFT": key(0x222), "BTN_DPAD_RIGHT": key(0x223),
	"BTN_TRIGGER_HAPPY1": key(btnHappy1), "BTN_TRIGGER_HAPPY2": key(btnHappy1 + 1),
	"BTN_TRIGGER_HAPPY3": key(btnHappy1 + 2), "BTN_TRIGGER_HAPPY4": key(btnHappy1 + 3),
	"ABS_X": abs(absX), "ABS_Y": abs(absY), "ABS_Z": abs(absZ), "ABS_RX": abs(absRX), "ABS_RY": abs(absRY),
	"ABS_RZ": abs(absRZ), "ABS_GAS": abs(absGas), "ABS_BRAKE": abs(absBrake),
}

// usual are the buttons of the kernel's rules for game pads. The last one is where virtual pads of uinput have it.
var usual = map[uint16]macro.Input{
	btnSouth: macro.Cross, btnEast: macro.Circle, btnNorth: macro.Triangle, btnWest: macro.Square,
	0x136: macro.L1, 0x137: macro.R1, 0x138: macro.L2, 0x139: macro.R2,
	0x13a: macro.Share, 0x13b: macro.Start, 0x13c: macro.PS, 0x13d: macro.L3, 0x13e: macro.R3,
	0x220: macro.Up, 0x221: macro.Down, 0x222: macro.Left, 0x223: macro.Right,
	btnHappy1: macro.Touch,
}

// xboxes are what the driver xpad does in its own way: X, which is in the west, is called north and Y west, and the
// arms of the direction pads of some are spare buttons.
var xboxes = map[uint16]macro.Input{
	btnNorth: macro.Square, btnWest: macro.Triangle,
	btnHappy1: macro.Left, btnHappy1 + 1: macro.Right, btnHappy1 + 2: macro.Up, btnHappy1 + 3: macro.Down,
}
