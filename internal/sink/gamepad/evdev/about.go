package evdev

import (
	"strconv"
	"strings"
)

// isPad tells whether the kernel's rules, or what simple joysticks do, make this a game pad.
func (a *About) isPad() bool { return a.keys[btnSouth] || a.keys[btnJoystick] }

// recorded is what a file of events is taken for: all that the rules know, with sticks as many pads have them.
func recorded(name string) About {
	a := About{Name: name, keys: map[uint16]bool{}, axes: map[uint16]reach{}}
	for k := range usual {
		a.keys[k] = true
	}
	for _, k := range []uint16{absX, absY, absRX, absRY} {
		a.axes[k] = reach{0, 255, 128}
	}
	a.axes[absZ], a.axes[absRZ] = reach{0, 255, 0}, reach{0, 255, 0}
	a.axes[absHatX], a.axes[absHatY] = reach{-1, 1, 0}, reach{-1, 1, 0}
	return a
}

// Found is a pad of this machine.
type Found struct {
	Path, Name string
	Refused    string // why it may not be read; empty: it may
}

// hasBit looks into the kernel's text of a bitmap, as in /sys/class/input/event7/device/capabilities/key: words of C's
// long in hexadecimal digits, the one with the lowest bits last.
func hasBit(text string, bit int) bool {
	words := strings.Fields(text)
	at := len(words) - 1 - bit/(longBytes*8)
	if at < 0 {
		return false
	}
	word, err := strconv.ParseUint(words[at], 16, longBytes*8)
	return err == nil && word>>(bit%(longBytes*8))&1 != 0
}
