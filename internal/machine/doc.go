// Package machine tells what this process may take of the machine it runs on: how much memory, by its control groups
// and by the machine itself, where those groups are, and how many files it may have open; and what it takes:
// memory, processor time, room on a disk. It limits nobody but this process, and knows nothing of what the memory is
// for.
//
//	memory := machine.Memory()            // 314572800 bytes, by the control group /sys/fs/cgroup/app
//	limit, from := machine.Limit(memory)  // the garbage collector keeps below 267386880
package machine
