package gimx

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/nearest"
)

// Names says what the keys, buttons and axes of a macro are on the pad.
type Names map[string]target

type target struct {
	in   macro.Input
	axis bool
}

// ErrNames is wrapped by the errors of ParseNames.
var ErrNames = errors.New("that says of no key what it is")

// ParseNames reads parts like p=lp and BUTTON_LEFT=r1, which name a key or a mouse's button as GIMX does, JBUTTON3=lk
// for the joystick's button 3, and JAXIS0=lx for its axis 0.
func ParseNames(parts []string) (Names, error) {
	all := Names{}
	for _, part := range parts {
		at := strings.LastIndexByte(part, '=')
		if at <= 0 {
			return nil, fmt.Errorf("%w: %q has no = behind a key", ErrNames, part)
		}
		from, to := strings.TrimSpace(part[:at]), strings.ToLower(strings.TrimSpace(part[at+1:]))
		in, axis, ok := macro.InputOf(to)
		if !ok {
			hint := ""
			if guess := nearest.Name(to, macro.Names()); guess != "" {
				hint = fmt.Sprintf("; did you mean %s?", guess)
			}
			return nil, fmt.Errorf("%w: %q is nothing that a macro presses%s", ErrNames, to, hint)
		}
		number, moves := strings.CutPrefix(from, "JAXIS")
		_, err := strconv.ParseUint(number, 10, 8)
		moves = moves && err == nil
		if trigger := in == macro.L2 || in == macro.R2; moves != axis && !(moves && trigger) {
			return nil, fmt.Errorf("%w: %q: a key becomes a button, and an axis a stick's way or a trigger", ErrNames, part)
		}
		all[from] = target{in, axis}
	}
	return all, nil
}
