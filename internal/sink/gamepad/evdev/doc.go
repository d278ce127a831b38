// Package evdev reads a player's own game pad on Linux: /dev/input/event7, in the events of <linux/input.h>.
//
//	pads, err := evdev.List()
//	source, err := evdev.Open("/dev/input/event7", evdev.Mapping{})
//	defer source.Close()
//	for {
//		changes, err := source.Read(time.Now().Add(time.Second))
//		…
//	}
//
// What a pad has is asked of the kernel: its name, its buttons, and how far its sticks go. Where they belong is told by
// the kernel's rules for game pads (Documentation/input/gamepad.rst) and what the drivers of usual pads make of them; a
// Mapping changes it. A file or a pipe with the bytes of such events is read as well, with the buttons of those rules
// and sticks from 0 to 255, since nothing can be asked of it.
//
// The package only reads. What virtual pads are made with is package uinput.
package evdev
