package pace

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Of the Windows SDK.
const (
	timerHighResolution = 0x2
	timerAllAccess      = 0x1f0003
)

// waitable sleeps with a waitable timer and is woken by an event.
type waitable struct {
	clock  *Stopwatch
	timer  windows.Handle
	either [2]windows.Handle // the timer and the event
	set    uintptr           // SetWaitableTimer
	due    int64             // what it is set to: here, so that no sleep allocates
	sharp  bool              // the timer is of high resolution
	period *windows.LazyProc // gives back the system's shorter tick; nil: there is none
}

// newSleeper makes one and the clock that it sleeps by.
func newSleeper() (sleeper, func() int64, error) {
	kernel := windows.NewLazySystemDLL("kernel32.dll")
	w := &waitable{clock: NewStopwatch(), set: kernel.NewProc("SetWaitableTimer").Addr(), sharp: true}
	create := kernel.NewProc("CreateWaitableTimerExW")
	made, _, _ := create.Call(0, 0, timerHighResolution, timerAllAccess)
	if made == 0 { // before Windows 10 1803
		w.sharp = false
		var err error
		if made, _, err = create.Call(0, 0, 0, timerAllAccess); made == 0 {
			return nil, nil, fmt.Errorf("pace: make a timer: %w", err)
		}
	}
	w.timer = windows.Handle(made)
	event, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("pace: make an event: %w", err), windows.CloseHandle(w.timer))
	}
	w.either = [2]windows.Handle{w.timer, event}
	// The usual timer, and the clock that everybody but us looks at, are as coarse as the system's tick, which can be
	// asked to be a millisecond.
	multimedia := windows.NewLazySystemDLL("winmm.dll")
	if begin := multimedia.NewProc("timeBeginPeriod"); begin.Find() == nil {
		if failed, _, _ := begin.Call(1); failed == 0 {
			w.period = multimedia.NewProc("timeEndPeriod")
		}
	}
	return w, func() int64 { return int64(w.clock.Elapsed()) }, nil
}

func (w *waitable) sleep(t int64) {
	w.due = -(t - int64(w.clock.Elapsed())) / 100 // negative: from now on, in steps of 100 ns
	if w.due >= 0 {
		return
	}
	if ok, _, _ := syscall.SyscallN(w.set, uintptr(w.timer), uintptr(unsafe.Pointer(&w.due)), 0, 0, 0, 0); ok == 0 {
		time.Sleep(time.Duration(-w.due) * 100)
		return
	}
	_, _ = windows.WaitForMultipleObjects(w.either[:], false, windows.INFINITE)
}

func (w *waitable) nudge() { _ = windows.SetEvent(w.either[1]) }
func (w *waitable) calm()  { _ = windows.ResetEvent(w.either[1]) }

func (w *waitable) method() string {
	if w.sharp {
		return "high-resolution timer"
	}
	return "waitable timer"
}

func (w *waitable) close() error {
	if w.period != nil {
		_, _, _ = w.period.Call(1)
	}
	return errors.Join(windows.CloseHandle(w.either[0]), windows.CloseHandle(w.either[1]))
}

// keepPlace changes nothing here.
func (*waitable) keepPlace() {}
