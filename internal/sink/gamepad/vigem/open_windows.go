package vigem

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

const (
	library = "ViGEmClient.dll"

	// notice is how long programs may need to see a new pad.
	notice = time.Second

	badExeFormat = syscall.Errno(193)
)

// The library's answers.
const (
	done         = 0x20000000
	noBus        = 0xE0000001
	noSlot       = 0xE0000002
	notPluggedIn = 0xE0000007
	otherVersion = 0xE0000008
)

// pads are a connection to the bus and what is plugged into it.
type pads struct {
	free, disconnect, remove, freeTarget, update *syscall.LazyProc
	client                                       uintptr
	targets                                      [macro.Players]uintptr // by player
}

// locate finds the library beside the program; else Windows looks for it.
func locate(target string) string {
	if target != "" {
		return target
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), library)
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return library
}

func open(target string, players []int) (device.Device, error) {
	path := locate(target)
	dll := syscall.NewLazyDLL(path)
	switch err := dll.Load(); {
	case errors.Is(err, badExeFormat):
		return nil, fmt.Errorf("%s: %s has another word size than this program: take the library with %d bits", name,
			path, 8*unsafe.Sizeof(uintptr(0)))
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s cannot be loaded (%w); put it beside this program", name, device.ErrMissing,
			path, err)
	}
	p := new(pads)
	var alloc, connect, make360, add *syscall.LazyProc
	for _, f := range []struct {
		to   **syscall.LazyProc
		name string
	}{
		{&alloc, "vigem_alloc"}, {&p.free, "vigem_free"}, {&connect, "vigem_connect"},
		{&p.disconnect, "vigem_disconnect"}, {&make360, "vigem_target_x360_alloc"},
		{&p.freeTarget, "vigem_target_free"}, {&add, "vigem_target_add"}, {&p.remove, "vigem_target_remove"},
		{&p.update, "vigem_target_x360_update"},
	} {
		*f.to = dll.NewProc(f.name)
		if err := (*f.to).Find(); err != nil {
			return nil, fmt.Errorf("%s: %s has no function %s: it is another library", name, path, f.name)
		}
	}
	if p.client, _, _ = alloc.Call(); p.client == 0 {
		return nil, fmt.Errorf("%s: there is no memory for a pad", name)
	}
	if r, _, _ := connect.Call(p.client); uint32(r) != done {
		p.free.Call(p.client)
		return nil, failed("connect to the bus", uint32(r))
	}
	for _, player := range players {
		pad, _, _ := make360.Call()
		r, _, _ := add.Call(p.client, pad)
		if uint32(r) != done {
			p.freeTarget.Call(pad)
			p.Close()
			return nil, failed("plug in a pad", uint32(r))
		}
		p.targets[player-1] = pad
	}
	time.Sleep(notice)
	return p, nil
}

// failed says what an answer means.
func failed(what string, answer uint32) error {
	switch answer {
	case noBus:
		return fmt.Errorf("%s: %w: the driver ViGEmBus is not installed, or does not run: install it, then start "+
			"Windows again", name, device.ErrMissing)
	case noSlot:
		return fmt.Errorf("%s: %w: the bus has no room for another pad: end other programs that have some", name,
			device.ErrBusy)
	case notPluggedIn:
		return fmt.Errorf("%s: %w: the pad was unplugged", name, device.ErrGone)
	case otherVersion:
		return fmt.Errorf("%s: the driver ViGEmBus is of another version than the library: install the newest one of "+
			"both", name)
	}
	return fmt.Errorf("%s: %s: the library answered 0x%08X", name, what, answer)
}

// Write makes a pad what the state says.
func (p *pads) Write(player int, _ int64, s *macro.State) error {
	r := of(s)
	var answer uintptr
	if unsafe.Sizeof(answer) == 8 { // what is longer than a word is handed over by its address
		answer, _, _ = p.update.Call(p.client, p.targets[player-1], uintptr(unsafe.Pointer(&r)))
	} else {
		w := (*[3]uint32)(unsafe.Pointer(&r))
		answer, _, _ = p.update.Call(p.client, p.targets[player-1], uintptr(w[0]), uintptr(w[1]), uintptr(w[2]))
	}
	if uint32(answer) != done {
		return failed("write", uint32(answer))
	}
	return nil
}

// Close unplugs the pads.
func (p *pads) Close() error {
	for _, pad := range p.targets {
		if pad != 0 {
			p.remove.Call(p.client, pad)
			p.freeTarget.Call(pad)
		}
	}
	p.disconnect.Call(p.client)
	p.free.Call(p.client)
	return nil
}
