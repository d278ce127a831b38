package serial_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// board is the far end of a line: written from docs/adapter.md alone, and sharing nothing with the package.
type board struct {
	line *os.File // the pseudo-terminal's other side
	file string   // what a program opens
	hold *os.File // keeps the line while no program has it

	mu      sync.Mutex
	changed *sync.Cond
	states  []string // what was shown to the console, without repetitions
	hellos  int
	bad     int // frames that were thrown away

	version byte // what it answers HELLO with
	deafTo  int  // as many HELLOs are not answered
	mute    bool // states are not told to be shown
	dead    string
}

// newBoard plugs a board in.
func newBoard(t *testing.T) *board {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	b := &board{line: os.NewFile(uintptr(fd), "the far end"), file: fmt.Sprintf("/dev/pts/%d", number), version: 1}
	b.changed = sync.NewCond(&b.mu)
	if b.hold, err = os.OpenFile(b.file, os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.hold.Close(); b.line.Close() })
	return b
}

// run reads the line until it is cut.
func (b *board) run() {
	var gathered []byte
	read := make([]byte, 64)
	for {
		n, err := b.line.Read(read)
		if err != nil {
			return
		}
		for _, v := range read[:n] {
			if v != 0 {
				gathered = append(gathered, v)
				continue
			}
			if len(gathered) > 0 {
				b.mu.Lock()
				b.frame(gathered)
				b.changed.Broadcast()
				b.mu.Unlock()
			}
			gathered = gathered[:0]
		}
	}
}

func (b *board) frame(coded []byte) {
	m, err := uncoded(coded)
	if err != nil {
		b.bad++
		return
	}
	switch {
	case m[0] == 0x01 && len(m) >= 3:
		if b.hellos++; b.hellos > b.deafTo {
			b.tell(append([]byte{0x81, b.version}, "a far end"...))
		}
	case m[0] == 0x02 && b.dead != "":
		b.tell(append([]byte{0x83}, b.dead...))
	case m[0] == 0x02:
		state, err := stateOf(m)
		if err != nil {
			b.bad++
			return
		}
		if len(b.states) == 0 || b.states[len(b.states)-1] != state {
			b.states = append(b.states, state)
		}
		if !b.mute {
			b.tell([]byte{0x82, m[1]})
		}
	}
}

func (b *board) tell(message []byte) { b.line.Write(coded(message)) }

// await waits until something is so.
func (b *board) await(is func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !is() {
		b.changed.Wait()
	}
}

// stateOf says what a STATE presses.
func stateOf(m []byte) (string, error) {
	if len(m) < 2 || len(m)%2 != 0 {
		return "", errors.New("half an input")
	}
	var all []string
	last := -1
	for i := 2; i < len(m); i += 2 {
		in, v := int(m[i]), int(int8(m[i+1]))
		if in <= last || in > 35 || v == 0 || v < -100 || v > 100 {
			return "", fmt.Errorf("input %d behind %d is %d", in, last, v)
		}
		last = in
		all = append(all, fmt.Sprintf("%d=%d", in, v))
	}
	return strings.Join(all, ","), nil
}

// crc is CRC-16/CCITT-FALSE, bit by bit from the highest.
func crc(message []byte) uint16 {
	register := uint32(0xffff)
	for _, b := range message {
		for bit := 7; bit >= 0; bit-- {
			top := register>>15&1 ^ uint32(b)>>bit&1
			register = register << 1 & 0xffff
			if top == 1 {
				register ^= 0x1021
			}
		}
	}
	return uint16(register)
}

// coded makes a frame: the zeros cut a message into pieces, each with its length and one before it.
func coded(message []byte) []byte {
	s := crc(message)
	message = append(bytes.Clone(message), byte(s), byte(s>>8))
	var frame []byte
	for _, piece := range bytes.Split(message, []byte{0}) {
		frame = append(append(frame, byte(len(piece)+1)), piece...)
	}
	return append(frame, 0)
}

func uncoded(frame []byte) ([]byte, error) {
	if len(frame) > 129 {
		return nil, errors.New("too long")
	}
	var pieces [][]byte
	for len(frame) > 0 {
		n := int(frame[0])
		if n > len(frame) {
			return nil, errors.New("a piece is longer than what is there")
		}
		pieces = append(pieces, frame[1:n])
		frame = frame[n:]
	}
	m := bytes.Join(pieces, []byte{0})
	if len(m) < 3 {
		return nil, errors.New("too short")
	}
	m, s := m[:len(m)-2], uint16(m[len(m)-2])|uint16(m[len(m)-1])<<8
	if crc(m) != s {
		return nil, errors.New("another checksum")
	}
	return m, nil
}
