package titanone

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
	library = "gcdapi.dll"

	// The library finds the device in a thread of its own and tells nobody: it can only be asked.
	connectTries = 60
	connectWait  = 50 * time.Millisecond

	badExeFormat = syscall.Errno(193)
)

// gcdapi is the loaded library.
type gcdapi struct {
	dll                                       *syscall.LazyDLL
	load, unload, isConnected, version, write *syscall.LazyProc
	// Read, GetTimeVal and CalcPressTime are for those who measure the device.
	read, timeVal, pressTime *syscall.LazyProc
}

// locate finds the library beside the program; else Windows looks for it.
func locate(target string) string {
	if target != "" {
		return target
	}
	if self, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(self), library); exists(beside) {
			return beside
		}
	}
	return library
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func loadLibrary(target string) (*gcdapi, error) {
	path := locate(target)
	dll := syscall.NewLazyDLL(path)
	switch err := dll.Load(); {
	case errors.Is(err, badExeFormat):
		return nil, fmt.Errorf("%s: %s has another word size than this program: the vendor's has 32 bits, which "+
			"hikyaku-pad for windows/386 can load", name, path)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s cannot be loaded (%w); put the vendor's library beside this program", name,
			device.ErrMissing, path, err)
	}
	g := &gcdapi{dll: dll}
	for _, f := range []struct {
		to   **syscall.LazyProc
		name string
	}{
		{&g.load, "gcdapi_Load"}, {&g.unload, "gcdapi_Unload"}, {&g.isConnected, "gcapi_IsConnected"},
		{&g.version, "gcapi_GetFWVer"}, {&g.write, "gcapi_Write"},
		{&g.read, "gcapi_Read"}, {&g.timeVal, "gcapi_GetTimeVal"}, {&g.pressTime, "gcapi_CalcPressTime"},
	} {
		*f.to = dll.NewProc(f.name)
		if err := (*f.to).Find(); err != nil {
			return nil, fmt.Errorf("%s: %s has no function %s: it is not the vendor's library, or a version that "+
				"this program does not know", name, path, f.name)
		}
	}
	return g, nil
}

// yes tells whether a function that returns a byte said yes.
func yes(p *syscall.LazyProc) bool {
	r, _, _ := p.Call()
	return byte(r) != 0
}

func open(target string, _ []int) (device.Device, error) {
	g, err := loadLibrary(target)
	if err != nil {
		return nil, err
	}
	if !yes(g.load) {
		return nil, fmt.Errorf("%s: %w: gcdapi_Load refused; close Gtuner and other programs that use the device", name,
			device.ErrBusy)
	}
	for range connectTries {
		if yes(g.isConnected) {
			return g, nil
		}
		time.Sleep(connectWait)
	}
	g.unload.Call()
	return nil, fmt.Errorf("%s: %w: no Titan One is connected to this machine; plug in the cable of its PROG port",
		name, device.ErrMissing)
}

// Write sends a state.
func (g *gcdapi) Write(_ int, _ int64, s *macro.State) error {
	if r, _, _ := g.write.Call(uintptr(unsafe.Pointer(s))); byte(r) != 0 {
		return nil
	}
	if !yes(g.isConnected) {
		return fmt.Errorf("%s: %w: it was unplugged; plug it in again", name, device.ErrGone)
	}
	return fmt.Errorf("%s: gcapi_Write refused, firmware %s", name, g.firmware())
}

// Read asks what the device has: the library fills b with its report, which is smaller, whatever it puts between the
// fields.
func (g *gcdapi) Read(_ int, b []byte, _ time.Duration) (int, error) {
	b = b[:device.AnswerBytes]
	if r, _, _ := g.read.Call(uintptr(unsafe.Pointer(unsafe.SliceData(b)))); byte(r) != 0 {
		return len(b), nil
	}
	if !yes(g.isConnected) {
		return 0, fmt.Errorf("%s: %w: it was unplugged; plug it in again", name, device.ErrGone)
	}
	return 0, nil
}

// firmware is the version that the device tells.
func (g *gcdapi) firmware() string {
	r, _, _ := g.version.Call()
	return fmt.Sprintf("%d.%02d", byte(r>>8), byte(r))
}

// Close unloads the library, which gives the device back.
func (g *gcdapi) Close() error {
	g.unload.Call()
	return nil
}
