package evdev

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// Poll is Read for those who have no time to lose: it waits at most so long, and keeps its thread meanwhile. Nothing
// after that time is no error.
func (s *Source) Poll(wait time.Duration) (changes []Change, err error) {
	conn, err := s.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var n int
	var failed error
	err = conn.Control(func(fd uintptr) {
		there, err := device.Await(fd, wait)
		if err != nil || !there {
			failed = err
			return
		}
		if n, failed = unix.Read(int(fd), s.in[s.have:]); n == 0 && failed == nil {
			failed = io.EOF
		}
	})
	if err == nil {
		err = failed
	}
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return nil, nil
	case errors.Is(err, syscall.ENODEV):
		return nil, fmt.Errorf("the pad %q: %w", s.about.Name, device.ErrGone)
	case err != nil:
		return nil, err
	}
	return s.take(max(0, n))
}
