package device

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Await waits at most so long until there is something to be read from a file, for drivers whose devices tell by
// themselves. It keeps the thread: to be woken by the language's own poller takes another thread, and longer.
func Await(fd uintptr, wait time.Duration) (bool, error) {
	until := time.Now().Add(wait)
	for {
		left := unix.NsecToTimespec(int64(max(0, time.Until(until))))
		n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, &left, nil)
		if !errors.Is(err, unix.EINTR) {
			return n > 0, err
		}
	}
}
