package uinput

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// The requests of <linux/uinput.h>.
const (
	uiCreate  = 0x5501
	uiDestroy = 0x5502
	uiSetup   = 0x405c5503
	uiAbs     = 0x401c5504
	uiEvents  = 0x40045564
	uiKeys    = 0x40045565
	uiAxes    = 0x40045567
	uiSysname = 0x8040552c // 64 bytes
)

// setup is struct uinput_setup.
type setup struct {
	bus, vendor, product, version uint16
	name                          [80]byte
	effects                       uint32
}

// absSetup is struct uinput_abs_setup.
type absSetup struct {
	code                                          uint16
	_                                             uint16
	value, least, most, fuzz, flat, perMillimeter int32
}

const (
	defaultPath = "/dev/uinput"
	busVirtual  = 0x06

	// settle is how long a new pad is left alone: nobody tells when games and desktops have noticed it, and what is
	// pressed before is lost on them.
	settle = time.Second
)

// pad is a virtual pad that this process holds. It is gone when it is closed, or when the process ends.
type pad struct {
	file *os.File
	node string // where its events can be written to and read: /dev/input/event7
}

// newPad makes the pad of a player.
func newPad(path string, player int) (*pad, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV):
		return nil, fmt.Errorf("uinput: %w: %s is missing; load the kernel's module with `modprobe uinput`",
			device.ErrMissing, path)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("uinput: %s may not be opened; run as root, or give your group the right to write to "+
			"it with a udev rule", path)
	case err != nil:
		return nil, fmt.Errorf("uinput: %w", err)
	}
	p := &pad{file: f}
	if err := p.create(player); err != nil {
		f.Close()
		return nil, fmt.Errorf("uinput: make a pad with %s: %w; is this the kernel's uinput, of version 4.5 or later?",
			path, err)
	}
	return p, nil
}

func (p *pad) create(player int) error {
	for _, kind := range []uintptr{evKey, evAbs} {
		if err := p.ioctl(uiEvents, kind); err != nil {
			return err
		}
	}
	for _, b := range buttons() {
		if err := p.ioctl(uiKeys, uintptr(b.code)); err != nil {
			return err
		}
	}
	for _, a := range axes() {
		if err := p.ioctl(uiAxes, uintptr(a.code)); err != nil {
			return err
		}
		s := absSetup{code: a.code, value: a.rest, least: a.least, most: a.most}
		if err := p.pointer(uiAbs, unsafe.Pointer(&s)); err != nil {
			return err
		}
	}
	s := setup{bus: busVirtual, vendor: 0x6869, product: uint16(player), version: 1}
	copy(s.name[:len(s.name)-1], fmt.Sprintf("hikyaku pad %d", player))
	if err := p.pointer(uiSetup, unsafe.Pointer(&s)); err != nil {
		return err
	}
	if err := p.ioctl(uiCreate, 0); err != nil {
		return err
	}
	var name [64]byte
	if err := p.pointer(uiSysname, unsafe.Pointer(&name)); err != nil {
		return err
	}
	var err error
	p.node, err = nodeOf(unix.ByteSliceToString(name[:]))
	return err
}

// nodeOf finds the device file of an input that the kernel calls sysname.
func nodeOf(sysname string) (string, error) {
	found, err := filepath.Glob(filepath.Join("/sys/devices/virtual/input", sysname, "event*"))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("the kernel has no events of %s", sysname)
	}
	if err != nil {
		return "", err
	}
	return "/dev/input/" + filepath.Base(found[0]), nil
}

func (p *pad) close() error {
	return errors.Join(p.ioctl(uiDestroy, 0), p.file.Close())
}

func (p *pad) ioctl(request, argument uintptr) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, p.file.Fd(), request, argument); errno != 0 {
		return errno
	}
	return nil
}

func (p *pad) pointer(request uintptr, to unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, p.file.Fd(), request, uintptr(to)); errno != 0 {
		return errno
	}
	return nil
}

// keep makes pads that stay for several runs. What it returns is a target for open: the pads' own device files, which
// events can be written to.
func keep(target string, players []int) (string, func() error, error) {
	if strings.HasPrefix(target, inputDir) {
		return target, func() error { return nil }, nil
	}
	if target == "" {
		target = defaultPath
	}
	var pads []*pad
	closeAll := func() error {
		var all []error
		for _, p := range pads {
			all = append(all, p.close())
		}
		return errors.Join(all...)
	}
	var nodes []string
	for _, player := range players {
		p, err := newPad(target, player)
		if err != nil {
			return "", nil, errors.Join(err, closeAll())
		}
		pads = append(pads, p)
		nodes = append(nodes, fmt.Sprintf("%d=%s", player, p.node))
	}
	time.Sleep(settle)
	return inputDir + strings.Join(nodes, ","), closeAll, nil
}
