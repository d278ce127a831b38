package serial

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"golang.org/x/sys/windows"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// port is a COM port.
type port struct {
	handle   windows.Handle
	timeouts windows.CommTimeouts // those that are set
}

// full is how long a write may take before the port's buffer is said to be full, in milliseconds.
const full = 50

// Flags of a windows.DCB: bytes as they are, DTR and RTS on.
const asTheyAre = 1 | 1<<4 | 1<<12

func openLine(file string, speed int) (line, error) {
	path := file
	if !strings.HasPrefix(path, `\\.\`) {
		path = `\\.\` + path
	}
	utf16, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("%s: open %s: %w", name, file, err)
	}
	handle, err := windows.CreateFile(utf16, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil,
		windows.OPEN_EXISTING, 0, 0)
	switch {
	case errors.Is(err, windows.ERROR_FILE_NOT_FOUND):
		return nil, fmt.Errorf("%s: %w: there is no %s; Windows' Device Manager lists the ports", name,
			device.ErrMissing, file)
	case errors.Is(err, windows.ERROR_ACCESS_DENIED), errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		return nil, fmt.Errorf("%s: %w: another program has %s", name, device.ErrBusy, file)
	case err != nil:
		return nil, fmt.Errorf("%s: open %s: %w", name, file, err)
	}
	p := &port{handle: handle}
	if err := p.begin(speed); err != nil {
		windows.CloseHandle(handle)
		return nil, fmt.Errorf("%s: set up %s with %d bits a second: %w; is it a serial line?", name, file, speed, err)
	}
	return p, nil
}

func (p *port) begin(speed int) error {
	var c windows.DCB
	if err := windows.GetCommState(p.handle, &c); err != nil {
		return err
	}
	c.BaudRate, c.Flags, c.ByteSize, c.Parity, c.StopBits = uint32(speed), asTheyAre, 8, 0, 0
	if err := windows.SetCommState(p.handle, &c); err != nil {
		return err
	}
	if err := p.within(0); err != nil {
		return err
	}
	return windows.PurgeComm(p.handle, windows.PURGE_RXCLEAR|windows.PURGE_TXCLEAR)
}

// within says how long a read may take: it ends with the first bytes.
func (p *port) within(wait time.Duration) error {
	t := windows.CommTimeouts{ReadIntervalTimeout: math.MaxUint32, WriteTotalTimeoutConstant: full}
	if wait > 0 {
		t.ReadTotalTimeoutMultiplier = math.MaxUint32
		t.ReadTotalTimeoutConstant = uint32(min(max(1, wait.Milliseconds()), 60_000))
	}
	if t == p.timeouts {
		return nil
	}
	p.timeouts = t
	return windows.SetCommTimeouts(p.handle, &t)
}

func (p *port) write(b []byte) error {
	var n uint32
	err := windows.WriteFile(p.handle, b, &n, nil)
	if err == nil && int(n) < len(b) {
		return errFull
	}
	return err
}

func (p *port) read(b []byte, wait time.Duration) (int, error) {
	if err := p.within(wait); err != nil {
		return 0, err
	}
	var n uint32
	err := windows.ReadFile(p.handle, b, &n, nil)
	return int(n), err
}

func (p *port) close() error { return windows.CloseHandle(p.handle) }
