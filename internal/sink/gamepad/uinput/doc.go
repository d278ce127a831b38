// Package uinput is a driver that makes virtual game pads on Linux, which games, emulators and browsers see like real
// ones.
//
//	hikyaku macro play combo.txt --device uinput
//
// The kernel's module uinput has to be there, and /dev/uinput writable. A pad looks like one of a PlayStation 4: its
// buttons and axes are where the kernel's rules for game pads (Documentation/input/gamepad.rst) want them, so that
// nothing has to be configured. What has no place there, gyroscopes and the touch pad's coordinates, is left out.
//
// A program needs some time to notice a new pad. A pad that is there for one macro alone is therefore of little use to
// it: the driver waits a moment after it has made the pads.
package uinput
