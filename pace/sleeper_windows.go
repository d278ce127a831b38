package pace

import (
	"errors"
	"fmt"
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
	timer, event windows.Handle
	base         time.Time
	set          *windows.LazyProc
	sharp        bool // the timer is of high resolution
	period       *windows.LazyProc
}

// newSleeper makes one and the beginning of its clock.
func newSleeper() (sleeper, time.Time, error) {
	kernel := windows.NewLazySystemDLL("kernel32.dll")
	w := &waitable{base: time.Now(), set: kernel.NewProc("SetWaitableTimer"), sharp: true}
	create := kernel.NewProc("CreateWaitableTimerExW")
	made, _, err := create.Call(0, 0, timerHighResolution, timerAllAccess)
	if made == 0 { // before Windows 10 1803
		w.sharp = false
		if made, _, err = create.Call(0, 0, 0, timerAllAccess); made == 0 {
			return nil, w.base, fmt.Errorf("pace: make a timer: %w", err)
		}
		// The usual timer is as coarse as the system's tick, which can be asked to be a millisecond.
		multimedia := windows.NewLazySystemDLL("winmm.dll")
		if begin := multimedia.NewProc("timeBeginPeriod"); begin.Find() == nil {
			if failed, _, _ := begin.Call(1); failed == 0 {
				w.period = multimedia.NewProc("timeEndPeriod")
			}
		}
	}
	w.timer = windows.Handle(made)
	if w.event, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		return nil, w.base, errors.Join(fmt.Errorf("pace: make an event: %w", err), windows.CloseHandle(w.timer))
	}
	return w, w.base, nil
}

func (w *waitable) sleep(t int64) {
	due := -(t - int64(time.Since(w.base))) / 100 // negative: from now on, in steps of 100 ns
	if due >= 0 {
		return
	}
	if ok, _, _ := w.set.Call(uintptr(w.timer), uintptr(unsafe.Pointer(&due)), 0, 0, 0, 0); ok == 0 {
		time.Sleep(time.Duration(-due) * 100)
		return
	}
	_, _ = windows.WaitForMultipleObjects([]windows.Handle{w.timer, w.event}, false, windows.INFINITE)
}

func (w *waitable) nudge() { _ = windows.SetEvent(w.event) }
func (w *waitable) calm()  { _ = windows.ResetEvent(w.event) }

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
	return errors.Join(windows.CloseHandle(w.timer), windows.CloseHandle(w.event))
}

// keepPlace changes nothing here.
func (*waitable) keepPlace() {}
