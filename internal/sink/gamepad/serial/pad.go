//go:build linux || windows

package serial

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
)

// How an adapter is greeted: some boards begin anew when their line is opened, and are deaf for a moment.
const (
	greetings = 5
	patience  = 400 * time.Millisecond // for the answer to each
)

// line is a serial line that is open, is this program's alone and carries bytes as they are.
type line interface {
	// write hands bytes over, all or none, and does not wait; errFull when there is no room for them.
	write(b []byte) error
	// read takes what has come, and waits at most so long until something does; 0 when nothing has.
	read(b []byte, wait time.Duration) (int, error)
	close() error
}

var errFull = errors.New("there is no room")

// pad is an adapter that has been greeted. It keeps to one thread, and no write waits: an adapter that takes nothing
// for so long that the system's buffer is full has failed.
type pad struct {
	line line
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
	l, err := openLine(file, speed)
	if err != nil {
		return nil, err
	}
	p := &pad{line: l, file: file, shown: make([]byte, 0, mostShown)}
	if err := p.greet(); err != nil {
		l.close()
		return nil, err
	}
	return p, nil
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
	switch err := p.line.write(frame); {
	case errors.Is(err, errFull):
		return fmt.Errorf("%s: %w: the adapter on %s takes nothing any more; plug it in again", name, device.ErrGone,
			p.file)
	case err != nil:
		return p.gone(err)
	}
	return nil
}

// hear takes what the adapter has told, and waits at most so long until it tells something.
func (p *pad) hear(wait time.Duration) error {
	var b [256]byte
	n, err := p.line.read(b[:], wait)
	if err != nil {
		return p.gone(err)
	}
	for _, v := range b[:n] {
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
	if err := p.line.close(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
