//go:build unix

package lines

import (
	"errors"

	"golang.org/x/sys/unix"
)

// canWait: this system can wait for a file to be ready.
const canWait = true

// What ready waits for.
const (
	toRead  int16 = unix.POLLIN
	toWrite int16 = unix.POLLOUT
)

// poll returns when the stream is ready or the Port is woken.
func (p *Port) poll(events int16) error {
	stream, err := p.file.SyscallConn()
	if err != nil {
		return err
	}
	wake, err := p.woken.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = stream.Control(func(fd uintptr) {
		err := wake.Control(func(wakeFd uintptr) {
			fds := []unix.PollFd{{Fd: int32(fd), Events: events}, {Fd: int32(wakeFd), Events: toRead}}
			for {
				if _, failed = unix.Poll(fds, -1); !errors.Is(failed, unix.EINTR) {
					return
				}
			}
		})
		failed = errors.Join(failed, err)
	})
	return errors.Join(err, failed)
}
