package uinput

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// Types and codes of <linux/input-event-codes.h>.
const (
	evSyn = 0x00
	evKey = 0x01
	evAbs = 0x03

	absX, absY, absZ, absRX, absRY, absRZ = 0, 1, 2, 3, 4, 5
	absHatX, absHatY                      = 0x10, 0x11
)

// button is a key of the pad.
type button struct {
	input macro.Input
	code  uint16
}

// buttons are where the kernel's rules for game pads want them. The touch pad's button has no place there, so it is the
// first of the spare ones.
func buttons() []button {
	return []button{
		{macro.Cross, 0x130}, {macro.Circle, 0x131}, {macro.Triangle, 0x133}, {macro.Square, 0x134},
		{macro.L1, 0x136}, {macro.R1, 0x137}, {macro.L2, 0x138}, {macro.R2, 0x139},
		{macro.Share, 0x13a}, {macro.Start, 0x13b}, {macro.PS, 0x13c}, {macro.L3, 0x13d}, {macro.R3, 0x13e},
		{macro.Touch, 0x2c0},
	}
}

// axis is a stick's or trigger's way, or the direction pad's.
type axis struct {
	code        uint16
	least, most int32
	rest        int32
	value       func(s *macro.State) int32
}

func stick(in macro.Input) func(*macro.State) int32 {
	return func(s *macro.State) int32 { return 128 + int32(s[in])*127/100 }
}

func trigger(in macro.Input) func(*macro.State) int32 {
	return func(s *macro.State) int32 { return max(0, int32(s[in])) * 255 / 100 }
}

// arms is a way of the direction pad: -1, 0 or 1. An arm counts as pressed from the half on.
func arms(less, more macro.Input) func(*macro.State) int32 {
	return func(s *macro.State) (v int32) {
		if s[less] >= 50 {
			v--
		}
		if s[more] >= 50 {
			v++
		}
		return v
	}
}

func axes() []axis {
	return []axis{
		{absX, 0, 255, 128, stick(macro.LX)}, {absY, 0, 255, 128, stick(macro.LY)},
		{absRX, 0, 255, 128, stick(macro.RX)}, {absRY, 0, 255, 128, stick(macro.RY)},
		{absZ, 0, 255, 0, trigger(macro.L2)}, {absRZ, 0, 255, 0, trigger(macro.R2)},
		{absHatX, -1, 1, 0, arms(macro.Left, macro.Right)}, {absHatY, -1, 1, 0, arms(macro.Up, macro.Down)},
	}
}

// event is the kernel's struct input_event. The kernel fills in the time.
type event struct {
	_     unix.Timeval
	kind  uint16
	code  uint16
	value int32
}

const eventBytes = int(unsafe.Sizeof(event{}))

// encoder turns states into events.
type encoder struct {
	buttons []button
	axes    []axis
	pressed []int32 // what the pad has: of each button
	moved   []int32 // of each axis
	out     []event
}

func newEncoder() *encoder {
	e := &encoder{buttons: buttons(), axes: axes()}
	e.pressed, e.moved = make([]int32, len(e.buttons)), make([]int32, len(e.axes))
	e.out = make([]event, 0, len(e.buttons)+len(e.axes)+1)
	for i := range e.axes {
		e.moved[i] = e.axes[i].rest
	}
	return e
}

// changes is what makes the pad what s says, with the event that ends a report; nothing if it is that already. It is
// valid until the next call.
func (e *encoder) changes(s *macro.State, all bool) []event {
	e.out = e.out[:0]
	for i, b := range e.buttons {
		v := int32(0)
		if s[b.input] >= 50 || s[b.input] > 0 && b.input != macro.L2 && b.input != macro.R2 {
			v = 1
		}
		if v != e.pressed[i] || all {
			e.pressed[i] = v
			e.out = append(e.out, event{kind: evKey, code: b.code, value: v})
		}
	}
	for i, a := range e.axes {
		if v := a.value(s); v != e.moved[i] || all {
			e.moved[i] = v
			e.out = append(e.out, event{kind: evAbs, code: a.code, value: v})
		}
	}
	if len(e.out) > 0 {
		e.out = append(e.out, event{kind: evSyn})
	}
	return e.out
}

// bytes is the memory of events, as the kernel reads it.
func bytesOf(events []event) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(events))), len(events)*eventBytes)
}
