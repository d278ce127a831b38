package titanonehid

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// products are the devices that understand the reports, as the kernel writes their vendor and product.
func products() []string {
	return []string{"00002508:00000001", "00002508:00000002", "00002508:00000003", "00002508:00000004",
		"00002008:00000001"}
}

const sysDir = "/sys/class/hidraw"

// find finds the hidraw files of such devices below dir.
func find(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name(), "device", "uevent"))
		if err != nil {
			continue // it has just gone
		}
		for line := range strings.Lines(string(text)) {
			id, ok := strings.CutPrefix(strings.TrimSpace(line), "HID_ID=")
			if _, product, _ := strings.Cut(id, ":"); ok && slices.Contains(products(), strings.ToUpper(product)) {
				files = append(files, filepath.Join("/dev", e.Name()))
			}
		}
	}
	return files, nil
}

// pad is an open device.
type pad struct {
	file   *os.File
	report report
}

func open(target string, _ []int) (device.Device, error) {
	if target == "" {
		files, err := find(sysDir)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: look for a device: %w", name, err)
		case len(files) == 0:
			return nil, fmt.Errorf("%s: %w: no Titan One is connected to this machine; plug in the cable of its PROG "+
				"port", name, device.ErrMissing)
		case len(files) > 1:
			return nil, fmt.Errorf("%s: there are several devices: say which one with %s:%s", name, name,
				strings.Join(files, " or "+name+":"))
		}
		target = files[0]
	}
	f, err := os.OpenFile(target, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w: there is no %s", name, device.ErrMissing, target)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s: %s may not be opened; run as root, or give your group the right to write to it "+
			"with a udev rule", name, target)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &pad{file: f}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w: another program plays on %s", name, device.ErrBusy, target)
	}
	if err := p.send(kindEnter, nil); err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}

// send writes one report.
func (p *pad) send(kind byte, s *macro.State) error {
	p.report.make(kind, s)
	_, err := p.file.Write(p.report[:])
	switch {
	case errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EPIPE):
		return p.gone(err)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Write sends a state.
func (p *pad) Write(_ int, _ int64, s *macro.State) error { return p.send(kindOutput, s) }

// Read waits for a report of the device's own: what is pressed on a pad that is plugged into it, and what it makes the
// console see.
func (p *pad) Read(_ int, b []byte, wait time.Duration) (n int, err error) {
	there, err := device.Await(p.file.Fd(), wait)
	if there {
		n, err = p.file.Read(b)
	}
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENODEV):
		return 0, p.gone(err)
	case err != nil:
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

func (p *pad) gone(err error) error {
	return fmt.Errorf("%s: %w: %s (%w); plug it in again", name, device.ErrGone, p.file.Name(), err)
}

// Close gives the device back to whoever holds a pad that is plugged into it.
func (p *pad) Close() error {
	return errors.Join(p.send(kindLeave, nil), p.file.Close())
}
