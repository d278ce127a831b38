package pace

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// threadTimeCritical is THREAD_PRIORITY_TIME_CRITICAL.
const threadTimeCritical = 15

// prioritize gives this thread, to which its goroutine is locked, the best priority that is permitted.
func prioritize(f *Footing) {
	f.Priority = "normal"
	if err := windows.SetPriorityClass(windows.CurrentProcess(), windows.HIGH_PRIORITY_CLASS); err != nil {
		f.Lacking = append(f.Lacking, fmt.Sprintf("high priority: %v", err))
	}
	kernel := windows.NewLazySystemDLL("kernel32.dll")
	set := kernel.NewProc("SetThreadPriority")
	if ok, _, err := set.Call(uintptr(windows.CurrentThread()), threadTimeCritical); ok == 0 {
		f.Lacking = append(f.Lacking, fmt.Sprintf("time-critical priority: %v", err))
		return
	}
	f.Priority = "time-critical"
}

// promote is for systems where a runtime's other threads may hold up the one that plays for long.
func promote(map[int]bool) {}
