// Command guest is the first and only program of the virtual machine that test/guests/qemu boots: it loads the kernel's
// modules, plays macros by the real hikyaku-pad, and looks at what the kernel's side of each device got. It tells its
// findings to the second serial port, as lines of JSON, and ends the machine.
package main
