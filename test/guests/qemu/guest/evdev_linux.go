package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// Of <linux/input-event-codes.h>, and of Documentation/input/gamepad.rst, which says where a pad's buttons are: written
// down here for a second time, so that it is not the driver that says what is right.
const (
	evSyn, evKey, evAbs = 0, 1, 3

	south, east, north, west              = 0x130, 0x131, 0x133, 0x134
	tl, tr, tl2, tr2                      = 0x136, 0x137, 0x138, 0x139
	selectButton, startButton, modeButton = 0x13a, 0x13b, 0x13c
	thumbl, thumbr, happy1                = 0x13d, 0x13e, 0x2c0

	absX, absY, absZ, absRX, absRY, absRZ, hatX, hatY = 0, 1, 2, 3, 4, 5, 0x10, 0x11
)

var buttons = map[macro.Input]uint16{
	macro.Cross: south, macro.Circle: east, macro.Triangle: north, macro.Square: west,
	macro.L1: tl, macro.R1: tr, macro.L2: tl2, macro.R2: tr2,
	macro.Share: selectButton, macro.Start: startButton, macro.PS: modeButton, macro.L3: thumbl, macro.R3: thumbr,
	macro.Touch: happy1,
}

// image is what a pad has: its buttons that are down, and its axes that are not at rest.
type image map[string]int32

func (i image) set(kind, code uint16, value int32) {
	rest := int32(0)
	if kind == evAbs && (code == absX || code == absY || code == absRX || code == absRY) {
		rest = 128
	}
	name := fmt.Sprintf("%d:%#x", kind, code)
	if value == rest {
		delete(i, name)
	} else {
		i[name] = value
	}
}

// String is the same for the same image.
func (i image) String() string {
	all := make([]string, 0, len(i))
	for name, value := range i {
		all = append(all, fmt.Sprintf("%s=%d", name, value))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, " ")
}

// imageOf is what a pad should have in a state whose buttons are down or up.
func imageOf(s *macro.State) image {
	i := image{}
	for in, code := range buttons {
		if s[in] >= 50 {
			i.set(evKey, code, 1)
		}
	}
	for code, in := range map[uint16]macro.Input{absX: macro.LX, absY: macro.LY, absRX: macro.RX, absRY: macro.RY} {
		i.set(evAbs, code, 128+int32(s[in])*127/100)
	}
	i.set(evAbs, absZ, int32(s[macro.L2])*255/100)
	i.set(evAbs, absRZ, int32(s[macro.R2])*255/100)
	i.set(evAbs, hatX, int32(s[macro.Right]-s[macro.Left])/100)
	i.set(evAbs, hatY, int32(s[macro.Down]-s[macro.Up])/100)
	return i
}

// moment is what a pad had from a time on.
type moment struct {
	at   time.Time // as the kernel has it
	what string
}

// watched is a pad whose events are read as a game reads them.
type watched struct {
	t    *test
	file int
	done chan struct{}

	mu      sync.Mutex
	moments []moment
	err     error // why reading ended
}

// watch waits for a pad of this name, and reads its events from then on.
func (t *test) watch(name string) *watched {
	w := &watched{t: t, done: make(chan struct{})}
	t.eventually("there is a "+name, func() bool {
		node := nodeNamed(name)
		if node == "" {
			return false
		}
		fd, err := unix.Open(node, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		w.file = fd
		return err == nil
	})
	go w.read()
	t.cleanup(func() { <-w.done }) // the pad is that of a process, which is killed if it has not ended before
	return w
}

func nodeNamed(name string) string {
	files, _ := filepath.Glob("/sys/class/input/event*/device/name")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.TrimSpace(string(b)) == name {
			return filepath.Join("/dev/input", filepath.Base(filepath.Dir(filepath.Dir(f))))
		}
	}
	return ""
}

const eventBytes = 24

// read reads with a higher priority than that of the process that plays: when a pad vanishes, the kernel forgets what
// has not been read yet.
func (w *watched) read() {
	defer close(w.done)
	defer unix.Close(w.file)
	runtime.LockOSThread() // and never unlocks: the thread ends with its priority
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 70},
		0); err != nil {
		w.fail(fmt.Errorf("a priority for the reader: %w", err))
		return
	}
	now := image{}
	b := make([]byte, 64*eventBytes)
	for {
		n, err := unix.Read(w.file, b)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		w.mu.Lock()
		for e := b[:max(0, n)]; len(e) >= eventBytes; e = e[eventBytes:] {
			kind, code, value := binary.LittleEndian.Uint16(e[16:]), binary.LittleEndian.Uint16(e[18:]),
				int32(binary.LittleEndian.Uint32(e[20:]))
			if kind != evSyn {
				now.set(kind, code, value)
				continue
			}
			at := time.Unix(int64(binary.LittleEndian.Uint64(e)), int64(binary.LittleEndian.Uint64(e[8:]))*1000)
			w.moments = append(w.moments, moment{at, now.String()})
		}
		w.err = err
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (w *watched) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
}

func (w *watched) seen() []moment {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.moments)
}

// sees waits until the pad has had an image.
func (w *watched) sees(what string) {
	w.t.eventually("the pad has "+what, func() bool {
		return slices.ContainsFunc(w.seen(), func(m moment) bool { return m.what == what })
	})
}

// rests waits until the pad has had an image and has been let go since.
func (w *watched) rests(what string) {
	w.t.eventually("the pad has had "+what+" and is let go", func() bool {
		all := w.seen()
		return len(all) > 0 && all[len(all)-1].what == "nothing" &&
			slices.ContainsFunc(all, func(m moment) bool { return m.what == what })
	})
}

// vanishes waits until the pad is no more, and wants it to have been let go before.
func (w *watched) vanishes() {
	w.t.eventually("the pad has vanished", func() bool {
		select {
		case <-w.done:
			return true
		default:
			return false
		}
	})
	if !errors.Is(w.err, unix.ENODEV) {
		w.t.errorf("reading the pad's events ended with %v", w.err)
	}
	if all := w.seen(); len(all) > 0 && all[len(all)-1].what != "nothing" {
		w.t.errorf("the pad vanished with something pressed: %s", all[len(all)-1].what)
	}
}
