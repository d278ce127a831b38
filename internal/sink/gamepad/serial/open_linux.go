package serial

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// How an adapter is greeted: some boards begin anew when their line is opened, and are deaf for a moment.
const (
	greetings = 5
	patience  = 400 * time.Millisecond // for the answer to each
)

// pad is an adapter that has been greeted. It keeps to one thread, and no write waits: an adapter that takes nothing
// for so long that the kernel's buffer is full has failed.
type pad struct {
	fd   int
	file string

	in      decoder
	welcome []byte // the last one, without its kind
	trouble error  // what the adapter told, until it is handed on

	number byte             // of the last state
	wrote  [256]macro.State // by number
	shown  []byte           // numbers of states that the console has had and nobody has read, the oldest first
}

// mostShown is how many answers are kept for who reads them.
const mostShown = 64

func open(target string, _ []int) (device.Device, error) {
	file, speed, err := place(target)
	if err != nil {
		return nil, err
	}
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
	p := &pad{fd: fd, file: file, shown: make([]byte, 0, mostShown)}
	if err := p.begin(speed); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return p, nil
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

// begin takes the line for this program alone, makes it carry bytes as they are, and greets the adapter.
func (p *pad) begin(speed int) error {
	if err := unix.Flock(p.fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("%s: %w: another program plays on %s", name, device.ErrBusy, p.file)
	}
	number, ok := speeds[speed]
	if !ok {
		return fmt.Errorf("%s: a line cannot have %d bits a second; it can have 57600, 115200, 230400, 460800, 500000, "+
			"921600, 1000000, 1500000, 2000000 or 3000000", name, speed)
	}
	t, err := unix.IoctlGetTermios(p.fd, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("%s: %s is not a serial line: %w", name, p.file, err)
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	// Without HUPCL a close leaves the lines of a modem as they are, by which some boards are reset.
	t.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | number
	t.Ispeed, t.Ospeed = number, number
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(p.fd, unix.TCSETS, t); err != nil {
		return fmt.Errorf("%s: set up %s: %w", name, p.file, err)
	}
	if err := unix.IoctlSetInt(p.fd, unix.TCFLSH, unix.TCIOFLUSH); err != nil {
		return fmt.Errorf("%s: set up %s: %w", name, p.file, err)
	}
	return p.greet()
}

// greet says hello until the adapter answers.
func (p *pad) greet() error {
	for range greetings {
		if err := p.send(appendHello(nil)); err != nil {
			return err
		}
		for until := time.Now().Add(patience); p.welcome == nil && time.Now().Before(until); {
			if err := p.hear(time.Until(until)); err != nil {
				return err
			}
		}
		switch w := p.welcome; {
		case w == nil:
		case w[0] < oldest || w[0] > newest:
			return fmt.Errorf("%s: the adapter %q on %s speaks no version of the protocol from %d to %d: put newer "+
				"firmware on it, or take a newer hikyaku", name, w[1:], p.file, oldest, newest)
		default:
			return nil
		}
	}
	return fmt.Errorf("%s: %w: nothing on %s answers as docs/adapter.md says; is it the adapter's file, and is the "+
		"speed the firmware's?", name, device.ErrMissing, p.file)
}

func (p *pad) send(frame []byte) error {
	for {
		n, err := unix.Write(p.fd, frame)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN), err == nil && n < len(frame):
			return fmt.Errorf("%s: %w: the adapter on %s takes nothing any more; plug it in again", name,
				device.ErrGone, p.file)
		case err != nil:
			return p.gone(err)
		default:
			return nil
		}
	}
}

// hear takes what the adapter has told, and waits at most so long until it tells something.
func (p *pad) hear(wait time.Duration) error {
	if wait > 0 {
		if there, err := device.Await(uintptr(p.fd), wait); err != nil || !there {
			return err
		}
	}
	var b [256]byte
	n, err := unix.Read(p.fd, b[:])
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return nil
	case err != nil:
		return p.gone(err)
	case n == 0 && wait > 0:
		return p.gone(syscall.EIO) // it was said that there is something: the other end has hung up
	}
	for _, v := range b[:max(n, 0)] {
		if m, ok := p.in.add(v); ok {
			p.take(m)
		}
	}
	return nil
}

// take takes a message. What is not understood is left out: a newer firmware may tell more.
func (p *pad) take(m []byte) {
	switch body := m[1:]; {
	case m[0] == kindWelcome && len(body) > 0:
		// What was told before was of an earlier program.
		p.welcome, p.trouble, p.shown = append([]byte{}, body...), nil, p.shown[:0]
	case m[0] == kindShown && len(body) > 0:
		if len(p.shown) == mostShown {
			p.shown = append(p.shown[:0], p.shown[1:]...)
		}
		p.shown = append(p.shown, body[0])
	case m[0] == kindTrouble:
		p.trouble = fmt.Errorf("%s: the adapter on %s says: %q", name, p.file, body)
	}
}

// troubled is what the adapter has told of trouble, once.
func (p *pad) troubled() error {
	err := p.trouble
	p.trouble = nil
	return err
}

// Write sends a state, whatever the adapter has told before.
func (p *pad) Write(_ int, _ int64, s *macro.State) error {
	p.number++
	p.wrote[p.number] = *s
	var b [mostFrame]byte
	if err := p.send(appendState(b[:0], p.number, s)); err != nil {
		return err
	}
	return errors.Join(p.hear(0), p.troubled())
}

// Read waits until the console has had a state, and answers with that.
func (p *pad) Read(_ int, b []byte, wait time.Duration) (int, error) {
	for until := time.Now().Add(wait); len(p.shown) == 0; {
		left := max(0, time.Until(until))
		if err := errors.Join(p.hear(left), p.troubled()); err != nil {
			return 0, err
		}
		if left == 0 && len(p.shown) == 0 {
			return 0, nil
		}
	}
	s := p.wrote[p.shown[0]]
	p.shown = append(p.shown[:0], p.shown[1:]...)
	for in, v := range s {
		b[in] = byte(v)
	}
	return len(s), nil
}

func (p *pad) gone(err error) error {
	return fmt.Errorf("%s: %w: %s (%w); plug it in again", name, device.ErrGone, p.file, err)
}

// Close gives the line back. An adapter that has not been told to let go does so after a second of silence.
func (p *pad) Close() error {
	if err := unix.Close(p.fd); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
