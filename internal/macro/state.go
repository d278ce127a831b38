package macro

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// State is what is pressed at one moment: for each Input from -100 to 100, where 0 is let go and 100 is pressed. The
// zero State has everything let go.
type State [Inputs]int8

const pressed = 100

// keypad are the ways a direction goes: across (left is -1) and along (up is -1).
var keypad = [10]struct{ x, y int8 }{
	7: {-1, -1}, 8: {0, -1}, 9: {1, -1},
	4: {-1, 0}, 5: {0, 0}, 6: {1, 0},
	1: {-1, 1}, 2: {0, 1}, 3: {1, 1},
}

// point presses a direction of the number pad, from 1 to 9.
func (s *State) point(digit int) {
	way := keypad[digit]
	switch way.x {
	case -1:
		s[Left] = pressed
	case 1:
		s[Right] = pressed
	}
	switch way.y {
	case -1:
		s[Up] = pressed
	case 1:
		s[Down] = pressed
	}
}

// Direction is the number pad's digit for the direction pad, from 1 to 9, if each of its arms is either pressed or let
// go and no two opposite ones are pressed.
func (s *State) Direction() (digit int, ok bool) {
	var x, y int8
	for _, arm := range [4]struct {
		in   Input
		x, y int8
	}{{Left, -1, 0}, {Right, 1, 0}, {Up, 0, -1}, {Down, 0, 1}} {
		switch s[arm.in] {
		case 0:
		case pressed:
			x, y = x+arm.x, y+arm.y
		default:
			return 0, false
		}
	}
	if s[Left] != 0 && s[Right] != 0 || s[Up] != 0 && s[Down] != 0 {
		return 0, false
	}
	for d := 1; d <= 9; d++ {
		if keypad[d].x == x && keypad[d].y == y {
			return d, true
		}
	}
	return 0, false
}

// Mirrored is the state of someone who faces the other way: left and right have changed places, on the direction pad
// and on the left stick.
func (s State) Mirrored() State {
	s[Left], s[Right] = s[Right], s[Left]
	s[LX] = -max(s[LX], -pressed)
	return s
}

// AppendText appends the state as a macro has it, without frames: "2,mk", "lp,lx=-50", or "5" when everything is let
// go. Inputs without a name are left out. It allocates nothing if there is room in b. The error is always nil.
func (s *State) AppendText(b []byte) ([]byte, error) {
	begin := len(b)
	part := func() {
		if len(b) > begin {
			b = append(b, ',')
		}
	}
	digit, pointed := s.Direction()
	if pointed && digit != 5 {
		b = strconv.AppendInt(b, int64(digit), 10)
	}
	var told [Inputs]bool
	for i := range table {
		w := &table[i]
		arm := w.input >= Up && w.input <= Right
		if s[w.input] == 0 || told[w.input] || arm && pointed {
			continue
		}
		told[w.input] = true
		part()
		b = append(b, w.name...)
		if w.axis || s[w.input] != pressed {
			b = append(b, '=')
			b = strconv.AppendInt(b, int64(s[w.input]), 10)
		}
	}
	if len(b) == begin {
		b = append(b, '5')
	}
	return b, nil
}

// String is the state as AppendText writes it.
func (s State) String() string {
	b, _ := s.AppendText(nil)
	return string(b)
}

// ParseState reads what AppendText writes.
func ParseState(text string) (State, error) {
	t, err := Parse([]byte(text + " 1"))
	if err != nil {
		return State{}, err
	}
	if len(t.body) != 1 || strings.ContainsFunc(text, unicode.IsSpace) {
		return State{}, fmt.Errorf("%q is not one state", text)
	}
	p, ok := t.body[0].(*press)
	if !ok || len(p.motion) > 1 || p.frames != 1 || p.final != 0 || p.remark != "" {
		return State{}, fmt.Errorf("%q is not one state", text)
	}
	return p.last(), nil
}
