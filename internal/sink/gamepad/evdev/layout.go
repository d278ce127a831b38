package evdev

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/nearest"
)

// About is what a pad says of itself.
type About struct {
	Name string

	vendor uint16
	keys   map[uint16]bool
	axes   map[uint16]reach
}

// reach is how far an axis goes, and where it is.
type reach struct{ least, most, now int32 }

// fraction is where a value is between the ends: from 0 to 1.
func (r reach) fraction(v int32) float64 {
	if r.most <= r.least {
		return 0
	}
	return float64(int64(min(max(v, r.least), r.most))-int64(r.least)) / float64(int64(r.most)-int64(r.least))
}

// way is where a stick is: from -100 to 100.
func (r reach) way(v int32) int8 { return int8(math.Round(r.fraction(v)*200 - 100)) }

// layout is what the buttons and axes of a pad are to a macro.
type layout struct {
	buttons map[uint16]macro.Input
	axes    map[uint16]axis
}

// axis is a stick's way, a trigger, or for the direction pad two of its arms.
type axis struct {
	reach
	input macro.Input // of a hat, the arm at its least
}

const microsoft = 0x045e

func (a *About) isXbox() bool {
	name := strings.ToLower(a.Name)
	return a.vendor == microsoft || strings.Contains(name, "xbox") || strings.Contains(name, "x-box")
}

// layout is the usual one, changed by a mapping.
func (a *About) layout(m Mapping) layout {
	l := layout{buttons: map[uint16]macro.Input{}, axes: map[uint16]axis{}}
	known := maps.Clone(usual)
	if a.isXbox() {
		maps.Copy(known, xboxes)
	}
	for k, in := range known {
		if a.keys[k] {
			l.buttons[k] = in
		}
	}
	inputs := map[uint16]macro.Input{
		absX: macro.LX, absY: macro.LY, absRX: macro.RX, absRY: macro.RY, absZ: macro.L2, absRZ: macro.R2,
		absHatX: macro.Left, absHatY: macro.Up,
	}
	// By Bluetooth, and of simple pads, the right stick is on Z and RZ, and the triggers are pedals.
	if _, ok := a.axes[absRX]; !ok {
		inputs[absZ], inputs[absRZ] = macro.RX, macro.RY
		inputs[absBrake], inputs[absGas] = macro.L2, macro.R2
	}
	for k, in := range inputs {
		if r, ok := a.axes[k]; ok {
			l.axes[k] = axis{r, in}
		}
	}
	for c, in := range m {
		if c.kind == evKey {
			l.buttons[c.number] = in
		} else if r, ok := a.axes[c.number]; ok {
			maps.DeleteFunc(l.axes, func(_ uint16, other axis) bool { return other.input == in })
			l.axes[c.number] = axis{r, in}
		}
	}
	return l
}

// Mapping says of some buttons and axes what they are to be.
type Mapping map[code]macro.Input

// ErrMapping is wrapped by the errors of ParseMapping.
var ErrMapping = errors.New("no mapping of a button")

// ParseMapping reads parts like BTN_WEST=lp, 0x2c1=touch or ABS_Z=rx: a button's or an axis' name or number as the
// kernel has it, and the name of an input in a macro.
func ParseMapping(parts []string) (Mapping, error) {
	m := Mapping{}
	for _, part := range parts {
		from, to, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("%w: %q has no =", ErrMapping, part)
		}
		c, ok := codes[strings.ToUpper(strings.TrimSpace(from))]
		if n, err := strconv.ParseUint(strings.TrimSpace(from), 0, 16); err == nil && n >= 0x100 && n <= mostKey {
			c, ok = key(uint16(n)), true
		}
		if !ok {
			return nil, fmt.Errorf("%w: %q is no button or axis%s", ErrMapping, from,
				guess(from, slices.Sorted(maps.Keys(codes))))
		}
		in, isAxis, ok := macro.InputOf(strings.ToLower(strings.TrimSpace(to)))
		if !ok {
			return nil, fmt.Errorf("%w: %q is nothing that a macro presses%s", ErrMapping, to, guess(to, macro.Names()))
		}
		isTrigger := in == macro.L2 || in == macro.R2
		if c.kind == evKey && isAxis || c.kind == evAbs && (!isAxis || in > macro.LY) && !isTrigger {
			return nil, fmt.Errorf("%w: %q: a button becomes a button, and an axis a stick's way or a trigger",
				ErrMapping, part)
		}
		for other, as := range m {
			if c.kind == evAbs && other.kind == evAbs && other != c && as == in {
				return nil, fmt.Errorf("%w: %q: another axis is that already", ErrMapping, part)
			}
		}
		m[c] = in
	}
	return m, nil
}

func guess(name string, all []string) string {
	if n := nearest.Name(name, all); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// mostKey is KEY_MAX.
const mostKey = 0x2ff
