package serial

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

const (
	name = "serial"

	// repeat is how many frames may pass without a word. An adapter lets go of everything after a second of silence.
	repeat = 6

	// usual is the speed of a line whose speed is not said, in bits a second. USB lines have none and take any.
	usual = 115200
)

// Driver is the driver.
func Driver() device.Driver {
	return device.Driver{Name: name, Summary: "an adapter on a serial line (docs/adapter.md); the FILE is " +
		"/dev/ttyACM0, COM3 or the like, and /dev/ttyUSB0@1000000 is one with another speed than 115200", Target: true,
		Pads: 1, Repeat: repeat, Open: open}
}

// place takes a target apart: the file, and the speed.
func place(target string) (file string, speed int, err error) {
	at := strings.LastIndexByte(target, '@')
	if at < 0 {
		return target, usual, nil
	}
	speed, err = strconv.Atoi(target[at+1:])
	if err != nil || speed <= 0 {
		return "", 0, fmt.Errorf("%s: %q is no speed in bits a second: write %s:%s@%d", name, target[at+1:], name,
			target[:at], usual)
	}
	return target[:at], speed, nil
}
