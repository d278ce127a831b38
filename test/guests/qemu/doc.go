// Package qemu boots a virtual machine with Debian's kernel and plays macros in it, by the real hikyaku-pad, on devices
// that a container's or a cloud's kernel has not: virtual pads of uinput, which are read back through evdev as games
// read them, and a converter on USB that uhid makes up, which records the reports that come through hidraw.
//
//	scripts/guests qemu
//
// The tests have the build tag guests, since they want QEMU and a kernel, which scripts/guests-qemu gets; make
// test-guests runs them beside others.
//
// The machine has no disk: everything is in its first file system, which the test makes. Its only program is the one in
// the folder guest, which loads the modules, plays, and tells what it saw through a serial port. What it promises about
// time is nothing, since its processor is emulated: no test compares how long something took with anything but a least.
package qemu
