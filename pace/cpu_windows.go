package pace

import (
	"time"

	"golang.org/x/sys/windows"
)

// processorTime is what this process has taken of the processors so far.
func processorTime() time.Duration {
	var begun, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &begun, &ended, &kernel, &user); err != nil {
		return 0
	}
	steps := func(f windows.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(steps(kernel)+steps(user)) * 100
}
