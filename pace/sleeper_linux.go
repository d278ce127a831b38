package pace

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of linux/futex.h.
const (
	futexWake       = 1
	futexWaitBitset = 9
	futexPrivate    = 128
	futexAny        = 0xffffffff
)

// futex sleeps until a moment of CLOCK_MONOTONIC as clock_nanosleep does, with the same timer of the kernel's, and can
// be woken by any thread, which clock_nanosleep cannot but by a signal that may come too early.
type futex struct {
	word  atomic.Uint32
	at    unix.Timespec // what is waited for: here, since the kernel is given its address
	base  int64         // of the clock, on CLOCK_MONOTONIC
	alone bool          // no thread of this process is ever pushed aside by another process

	second *second // looks after this thread; nil: nobody does
	late   bool    // the last sleep was ended by it
}

// What is slept with the runtime's place kept.
const (
	nearby = int64(30 * time.Millisecond) // before a deadline at most
	// at a time: the runtime lets a goroutine run for 10 ms without looking after it
	piece = int64(9 * time.Millisecond)
)

// newSleeper makes one and the clock that it sleeps by.
func newSleeper() (sleeper, func() int64, error) {
	var at unix.Timespec
	// The two clocks are one; what passes between the readings is a part of a microsecond, by which it would wake too
	// early.
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &at); err != nil {
		return nil, nil, fmt.Errorf("pace: read the clock: %w", err)
	}
	clock := NewStopwatch()
	return &futex{base: at.Nano()}, func() int64 { return int64(clock.Elapsed()) }, nil
}

// sleep has two ways to do it. Usually the runtime is told that this thread sleeps, and gives its place to others after
// a while, during which it looks every 20 µs whether it should; that costs 3 % of a processor at 60 frames a second,
// and the place has to be found again just when time matters. In a process that is alone the thread keeps its place,
// which nobody needs, and lets the runtime have its way now and then, far from the deadline: it would insist on it at a
// worse moment.
func (f *futex) sleep(t int64) {
	if !f.alone {
		f.wait(syscall.Syscall6, t)
		return
	}
	if f.second != nil {
		f.second.due.Store(f.base + t)
		defer func() { f.late = f.second.due.Swap(0) == 0 }()
	}
	var clock unix.Timespec
	for f.word.Load() == 0 {
		runtime.Gosched()
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock) != nil {
			return
		}
		switch left := t - (clock.Nano() - f.base); {
		case left <= 0:
			return
		case left > nearby:
			f.wait(syscall.Syscall6, t-nearby)
		case left > piece:
			f.wait(syscall.RawSyscall6, t-max(left-piece, left/2))
		default:
			f.wait(syscall.RawSyscall6, t)
			return // without letting go of anything now
		}
	}
}

// wait sleeps until t, a nudge, or a signal; its errors say which.
func (f *futex) wait(call func(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err syscall.Errno), t int64) {
	f.at = unix.NsecToTimespec(f.base + t)
	_, _, _ = call(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&f.word)), futexWaitBitset|futexPrivate, 0,
		uintptr(unsafe.Pointer(&f.at)), 0, futexAny)
	runtime.KeepAlive(f)
}

func (f *futex) nudge() {
	f.word.Store(1)
	_, _, _ = syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&f.word)), futexWake|futexPrivate, 1, 0, 0, 0)
	runtime.KeepAlive(f)
}

func (f *futex) beWatched() (err error) {
	f.second, err = newSecond(&f.word)
	return err
}

func (f *futex) fetched() bool { return f.late }

func (f *futex) endWatch() (n int64) {
	if f.second == nil {
		return 0
	}
	return f.second.end()
}

func (f *futex) keepPlace()   { f.alone = true }
func (f *futex) calm()        { f.word.Store(0) }
func (*futex) method() string { return "futex" }
func (*futex) close() error   { return nil }
