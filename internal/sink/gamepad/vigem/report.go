package vigem

import "github.com/hikyaku/hikyaku/internal/macro"

// report is what such a pad tells: the library's XUSB_REPORT.
type report struct {
	buttons        uint16
	left, right    uint8 // the triggers
	lx, ly, rx, ry int16 // up is positive
}

// buttons are the bits of the inputs.
var buttons = [...]struct {
	in  macro.Input
	bit uint16
}{
	{macro.Up, 0x0001}, {macro.Down, 0x0002}, {macro.Left, 0x0004}, {macro.Right, 0x0008},
	{macro.Start, 0x0010}, {macro.Share, 0x0020}, {macro.L3, 0x0040}, {macro.R3, 0x0080},
	{macro.L1, 0x0100}, {macro.R1, 0x0200}, {macro.PS, 0x0400},
	{macro.Cross, 0x1000}, {macro.Circle, 0x2000}, {macro.Square, 0x4000}, {macro.Triangle, 0x8000},
}

// pressed is from where on a button is.
const pressed = 50

// of is the report of a state.
func of(s *macro.State) report {
	var r report
	for _, b := range buttons {
		if s[b.in] >= pressed {
			r.buttons |= b.bit
		}
	}
	trigger := func(in macro.Input) uint8 { return uint8(int(min(max(s[in], 0), 100)) * 255 / 100) }
	way := func(in macro.Input) int16 { return int16(int(min(max(s[in], -100), 100)) * 32767 / 100) }
	r.left, r.right = trigger(macro.L2), trigger(macro.R2)
	r.lx, r.ly, r.rx, r.ry = way(macro.LX), -way(macro.LY), way(macro.RX), -way(macro.RY)
	return r
}
