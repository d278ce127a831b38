package pace

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// counter counts nanoseconds from its making, by Windows' performance counter.
type counter struct {
	read   uintptr // QueryPerformanceCounter
	now    int64   // what it was read into; here, so that no reading allocates
	base   int64
	second int64 // how far it counts in one
}

func newCounter() counter {
	kernel := windows.NewLazySystemDLL("kernel32.dll")
	c := counter{read: kernel.NewProc("QueryPerformanceCounter").Addr()}
	second := new(int64)
	_, _, _ = syscall.SyscallN(kernel.NewProc("QueryPerformanceFrequency").Addr(), uintptr(unsafe.Pointer(second)))
	c.second = max(1, *second) // it cannot fail since Windows XP
	base := new(int64)
	_, _, _ = syscall.SyscallN(c.read, uintptr(unsafe.Pointer(base)))
	c.base = *base
	return c
}

func (c *counter) nanoseconds() int64 {
	_, _, _ = syscall.SyscallN(c.read, uintptr(unsafe.Pointer(&c.now)))
	passed := c.now - c.base
	// In two parts, since the whole is too large for a product after some minutes.
	return passed/c.second*int64(time.Second) + passed%c.second*int64(time.Second)/c.second
}
