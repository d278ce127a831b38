package serial

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// tty is a terminal's file.
type tty int

func openLine(file string, speed int) (line, error) {
	fd, err := unix.Open(file, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w: there is no %s; %s", name, device.ErrMissing, file, lines())
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s: %s may not be opened; as a rule the group dialout may: sudo usermod -aG dialout "+
			"$USER, and a new login", name, file)
	case errors.Is(err, unix.EBUSY):
		return nil, fmt.Errorf("%s: %w: another program has %s", name, device.ErrBusy, file)
	case err != nil:
		return nil, fmt.Errorf("%s: open %s: %w", name, file, err)
	}
	if err := begin(fd, file, speed); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return tty(fd), nil
}

// lines says which files there are, for who named another one.
func lines() string {
	var all []string
	for _, pattern := range []string{"/dev/serial/by-id/*", "/dev/ttyACM*", "/dev/ttyUSB*"} {
		found, _ := filepath.Glob(pattern)
		all = append(all, found...)
	}
	if len(all) == 0 {
		return "no serial line is connected by USB"
	}
	return "there are " + strings.Join(all, ", ")
}

// speeds are those that the kernel has numbers for.
var speeds = map[int]uint32{57600: unix.B57600, 115200: unix.B115200, 230400: unix.B230400, 460800: unix.B460800,
	500000: unix.B500000, 921600: unix.B921600, 1000000: unix.B1000000, 1500000: unix.B1500000,
	2000000: unix.B2000000, 3000000: unix.B3000000}

// begin takes a line for this program alone, and makes it carry bytes as they are.
func begin(fd int, file string, speed int) error {
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("%s: %w: another program plays on %s", name, device.ErrBusy, file)
	}
	number, ok := speeds[speed]
	if !ok {
		return fmt.Errorf("%s: a line cannot have %d bits a second; it can have 57600, 115200, 230400, 460800, 500000, "+
			"921600, 1000000, 1500000, 2000000 or 3000000", name, speed)
	}
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("%s: %s is not a serial line: %w", name, file, err)
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	// Without HUPCL a close leaves the lines of a modem as they are, by which some boards are reset.
	t.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | number
	t.Ispeed, t.Ospeed = number, number
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, t); err != nil {
		return fmt.Errorf("%s: set up %s: %w", name, file, err)
	}
	if err := unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIOFLUSH); err != nil {
		return fmt.Errorf("%s: set up %s: %w", name, file, err)
	}
	return nil
}

func (t tty) write(b []byte) error {
	for {
		n, err := unix.Write(int(t), b)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN), err == nil && n < len(b):
			return errFull
		default:
			return err
		}
	}
}

func (t tty) read(b []byte, wait time.Duration) (int, error) {
	if wait > 0 {
		if there, err := device.Await(uintptr(t), wait); err != nil || !there {
			return 0, err
		}
	}
	n, err := unix.Read(int(t), b)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return 0, nil
	case err == nil && n == 0 && wait > 0:
		return 0, unix.EIO // it was said that there is something: the other end has hung up
	}
	return max(n, 0), err
}

func (t tty) close() error { return unix.Close(int(t)) }
