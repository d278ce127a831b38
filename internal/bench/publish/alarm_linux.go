package publish

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm waits for moments to some 50 µs, where Go's own timers wait for whole milliseconds while a process is idle. It
// belongs to one goroutine.
type alarm struct {
	file *os.File // a timer of the kernel's, which the runtime's poller waits for
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	return &alarm{os.NewFile(uintptr(fd), "timer")}, nil
}

// until returns at the moment, or at once if it is past.
func (a *alarm) until(t time.Time) error {
	d := time.Until(t)
	if d <= 0 {
		return nil
	}
	raw, err := a.file.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.TimerfdSettime(int(fd), 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
	})
	if err == nil {
		err = set
	}
	if err == nil {
		var times [8]byte
		_, err = a.file.Read(times[:])
	}
	if err != nil {
		return fmt.Errorf("wait for a timer: %w", err)
	}
	return nil
}

func (a *alarm) Close() error { return a.file.Close() }
