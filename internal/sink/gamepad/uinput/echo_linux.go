package uinput

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// echo reads a pad's events, as games do.
type echo struct {
	file  *os.File
	codes []uint32 // of each place in the answer: kind and code
	has   []byte
	fresh bool // something has come since the last report
	in    []byte
	left  []byte // of in, what was not looked at
}

func newEcho(node string) (*echo, error) {
	f, err := os.OpenFile(node, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return echoOf(f), nil
}

func echoOf(f *os.File) *echo {
	e := &echo{file: f, in: make([]byte, 64*eventBytes)}
	for _, b := range buttons() {
		e.codes = append(e.codes, place(evKey, b.code))
	}
	for _, a := range axes() {
		e.codes = append(e.codes, place(evAbs, a.code))
	}
	e.has = make([]byte, len(e.codes))
	return e
}

func place(kind, code uint16) uint32 { return uint32(kind)<<16 | uint32(code) }

// next waits for the end of a report, and copies what the pad has then: a byte for each button and each axis.
func (e *echo) next(b []byte, wait time.Duration) (int, error) {
	for until := time.Now().Add(wait); ; {
		for len(e.left) >= eventBytes {
			if e.take() {
				return copy(b, e.has), nil
			}
		}
		there, err := device.Await(e.file.Fd(), time.Until(until))
		if err != nil || !there {
			return 0, err
		}
		n, err := unix.Read(int(e.file.Fd()), e.in)
		if err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
		if n == 0 && err == nil {
			return 0, syscall.ENODEV // a file that ends is no pad
		}
		e.left = e.in[:max(0, n)]
	}
}

// take looks at an event, and tells whether it is the end of a report that says something new.
func (e *echo) take() (whole bool) {
	at := eventBytes - 8 // behind the time
	kind, code := binary.NativeEndian.Uint16(e.left[at:]), binary.NativeEndian.Uint16(e.left[at+2:])
	value := binary.NativeEndian.Uint32(e.left[at+4:])
	e.left = e.left[eventBytes:]
	if kind == evSyn {
		whole, e.fresh = e.fresh && code == 0, false
		return whole
	}
	if i := slices.Index(e.codes, place(kind, code)); i >= 0 {
		e.has[i], e.fresh = byte(value), true
	}
	return false
}

func (e *echo) close() error {
	if e == nil {
		return nil
	}
	return e.file.Close()
}

// Read tells what others see of a pad.
func (h *held) Read(player int, b []byte, wait time.Duration) (n int, err error) {
	p := h.pads[player]
	if p == nil {
		return 0, fmt.Errorf("uinput: there is no pad for player %d", player)
	}
	if p.echo == nil {
		p.echo, err = newEcho(p.file.Name())
	}
	if err == nil {
		n, err = p.echo.next(b, wait)
	}
	switch {
	case errors.Is(err, syscall.ENODEV):
		err = device.ErrGone
		fallthrough
	case err != nil:
		return 0, fmt.Errorf("uinput: the events of player %d's pad: %w", player, err)
	}
	return n, nil
}
