package evdev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// The requests of <linux/input.h>, as most processors number them.
const (
	evioGetID    = 0x80084502
	evioGrab     = 0x40044590
	evioSetClock = 0x400445a0
)

func evioGetName(size int) uintptr       { return 0x80004506 | uintptr(size)<<16 }
func evioGetKeys(size int) uintptr       { return 0x80004518 | uintptr(size)<<16 }
func evioGetBits(kind, size int) uintptr { return 0x80004520 + uintptr(kind) | uintptr(size)<<16 }
func evioGetAxis(number uint16) uintptr  { return 0x80184540 + uintptr(number) }

// absInfo is struct input_absinfo.
type absInfo struct{ value, least, most, fuzz, flat, resolution int32 }

const (
	keyBytes = (mostKey + 8) / 8
	absBytes = 8 // up to ABS_MAX, 0x3f
)

// Open opens a pad, or a file or pipe with the bytes of one's events.
func Open(path string, m Mapping) (*Source, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s may not be read: %s", path, whoMay(path))
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %w; `hikyaku macro record` without a device lists the pads", device.ErrMissing, err)
	case err != nil:
		return nil, err
	}
	s, err := openFile(f, m)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func openFile(f *os.File, m Mapping) (*Source, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeCharDevice == 0 {
		return newSource(f, recorded(f.Name()), m), nil
	}
	about, err := ask(f)
	if err != nil {
		return nil, fmt.Errorf("this is no input device of the kernel: %w", err)
	}
	if !about.isPad() {
		return nil, fmt.Errorf("%q is no game pad: it has no button that the kernel's rules for pads want", about.Name)
	}
	clock := int32(unix.CLOCK_MONOTONIC)
	if err := control(f, evioSetClock, unsafe.Pointer(&clock)); err != nil {
		return nil, fmt.Errorf("have its times on the monotonic clock: %w", err)
	}
	s := newSource(f, about, m)
	s.ask = func(p *pad) error { return refresh(f, p) }
	if err := refresh(f, s.pad); err != nil {
		return nil, err
	}
	s.pad.report(s.pad.last.At)
	return s, nil
}

// whoMay says what is missing for the right to read a device.
func whoMay(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return err.Error()
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&0o040 == 0 {
		return "run as its owner"
	}
	group := strconv.Itoa(int(stat.Gid))
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	if stat.Gid == 0 {
		return "run as root, or let a udev rule give it to the group input"
	}
	return fmt.Sprintf("that is the right of the group %s; `sudo usermod -aG %s $USER` and a new login give it to you",
		group, group)
}

// Grab keeps the events from everybody else, games among them, until the source is closed.
func (s *Source) Grab() error {
	if s.ask == nil {
		return nil // a file has no other readers
	}
	conn, err := s.file.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	err = conn.Control(func(fd uintptr) { _, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, evioGrab, 1) })
	switch {
	case err != nil:
		return err
	case errno == unix.EBUSY:
		return fmt.Errorf("the pad %q: %w: another program has it for itself", s.about.Name, device.ErrBusy)
	case errno != 0:
		return fmt.Errorf("keep the pad %q from others: %w", s.about.Name, errno)
	}
	return nil
}

// Clock is the time that Change.At is on.
func Clock() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}

// control is an ioctl that leaves the file as it is, so that reading it can be ended.
func control(f *os.File, request uintptr, to unsafe.Pointer) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	if err := conn.Control(func(fd uintptr) {
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(to))
	}); err != nil {
		return err
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// ask asks a device what it has.
func ask(f *os.File) (About, error) {
	a := About{keys: map[uint16]bool{}, axes: map[uint16]reach{}}
	var name [256]byte
	var id struct{ bus, vendor, product, version uint16 }
	var keys [keyBytes]byte
	var axes [absBytes]byte
	for _, q := range []struct {
		request uintptr
		to      unsafe.Pointer
	}{
		{evioGetName(len(name)), unsafe.Pointer(&name)}, {evioGetID, unsafe.Pointer(&id)},
		{evioGetBits(evKey, len(keys)), unsafe.Pointer(&keys)}, {evioGetBits(evAbs, len(axes)), unsafe.Pointer(&axes)},
	} {
		if err := control(f, q.request, q.to); err != nil {
			return a, err
		}
	}
	a.Name, a.vendor = unix.ByteSliceToString(name[:]), id.vendor
	for k := uint16(btnJoystick); k <= mostKey; k++ {
		if keys[k/8]&(1<<(k%8)) != 0 {
			a.keys[k] = true
		}
	}
	for k := range uint16(absBytes * 8) {
		if axes[k/8]&(1<<(k%8)) == 0 {
			continue
		}
		var info absInfo
		if err := control(f, evioGetAxis(k), unsafe.Pointer(&info)); err != nil {
			return a, err
		}
		a.axes[k] = reach{info.least, info.most, info.value}
	}
	return a, nil
}

// refresh asks a device what is down and where its axes are.
func refresh(f *os.File, p *pad) error {
	var keys [keyBytes]byte
	if err := control(f, evioGetKeys(len(keys)), unsafe.Pointer(&keys)); err != nil {
		return err
	}
	for k := range p.buttons {
		p.down[k] = keys[k/8]&(1<<(k%8)) != 0
	}
	for k := range p.axes {
		var info absInfo
		if err := control(f, evioGetAxis(k), unsafe.Pointer(&info)); err != nil {
			return err
		}
		p.moved[k] = info.value
	}
	return nil
}
