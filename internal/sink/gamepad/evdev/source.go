package evdev

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// Source is a pad that is read. It is used by one goroutine.
type Source struct {
	file  *os.File
	about About
	pad   *pad
	in    []byte
	have  int              // bytes of in that are a part of an event
	ask   func(*pad) error // what the pad has now; nil: it cannot be asked
	found []Change
}

// readAtOnce is how many events are read together at most.
const readAtOnce = 64

func newSource(f *os.File, a About, m Mapping) *Source {
	return &Source{file: f, about: a, pad: newPad(a.layout(m)), in: make([]byte, readAtOnce*eventBytes)}
}

// About is what the pad says of itself.
func (s *Source) About() About { return s.about }

// Now is what the pad has, as far as it was read.
func (s *Source) Now() Change { return s.pad.last }

// Unused counts the buttons that are nothing to a macro: a Mapping makes them something.
func (s *Source) Unused() (n int) {
	for k := range s.about.keys {
		if _, ok := s.pad.buttons[k]; !ok {
			n++
		}
	}
	return n
}

// Live tells whether it is a pad, and not a file with the events of one.
func (s *Source) Live() bool { return s.ask != nil }

// Close lets go of the pad: whoever else reads it gets its events again.
func (s *Source) Close() error { return s.file.Close() }

// WaitUntil makes a Read that waits, and those that come, end at a time; the zero one is never. It may be called by any
// goroutine. A file that is no pipe does not wait.
func (s *Source) WaitUntil(t time.Time) error {
	if err := s.file.SetReadDeadline(t); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return err
	}
	return nil
}

// Read waits until the pad has changed, and returns the changes that came together, which are valid until the next
// call. Its errors wrap os.ErrDeadlineExceeded after WaitUntil, device.ErrGone when the pad is no more, and io.EOF at
// the end of a file.
func (s *Source) Read() ([]Change, error) {
	for {
		n, err := s.file.Read(s.in[s.have:])
		changes, askErr := s.take(max(0, n))
		switch {
		case errors.Is(err, syscall.ENODEV) || errors.Is(askErr, syscall.ENODEV):
			return changes, fmt.Errorf("the pad %q: %w", s.about.Name, device.ErrGone)
		case askErr != nil:
			return changes, fmt.Errorf("ask the pad %q what it has: %w", s.about.Name, askErr)
		case len(changes) > 0:
			return changes, nil
		case err != nil:
			return nil, err
		}
	}
}

// take looks at n bytes more.
func (s *Source) take(n int) ([]Change, error) {
	s.found = s.found[:0]
	s.have += n
	b := s.in[:s.have]
	for ; len(b) >= eventBytes; b = b[eventBytes:] {
		e := decode(b)
		whole, lost := s.pad.take(e)
		if lost && s.ask != nil {
			if err := s.ask(s.pad); err != nil {
				return s.found, err
			}
			whole = s.pad.report(e.at) || whole
		}
		if whole {
			s.found = append(s.found, s.pad.last)
		}
	}
	s.have = copy(s.in, b)
	return s.found, nil
}
