package macro

import "slices"

// Input is something on a game pad that can be pressed or moved: its place in a State.
type Input uint8

// The inputs, in the order that the converters of ConsoleTuner and their library gcdapi know them by; the names are a
// PlayStation pad's.
const (
	PS Input = iota
	Share
	Start
	R1
	R2
	R3
	L1
	L2
	L3
	RX
	RY
	LX
	LY
	Up
	Down
	Left
	Right
	Triangle
	Circle
	Cross
	Square
	AccX
	AccY
	AccZ
	GyroX
	GyroY
	GyroZ
	Touch
	TouchX
	TouchY

	// Inputs is how many a State has: the rest have no name.
	Inputs = 36
)

// word is a name for an input.
type word struct {
	name  string
	input Input
	axis  bool // from -100 to 100, with no meaning unless a value is given
}

// words are all names. The first one of an input is the one that states are written with.
func words() []word { return table[:] }

// table is never changed. The punches and kicks are where fighting games have them on a pad: the lower row kicks, the
// upper row punches.
var table = [...]word{
	{"lp", Square, false}, {"mp", Triangle, false}, {"hp", R1, false},
	{"lk", Cross, false}, {"mk", Circle, false}, {"hk", R2, false},
	{"options", Start, false}, {"start", Start, false}, {"pause", Start, false},
	{"share", Share, false}, {"select", Share, false}, {"reload", Share, false},
	{"ps", PS, false},
	{"l1", L1, false}, {"l2", L2, false}, {"l3", L3, false},
	{"r3", R3, false}, {"save", R3, false}, {"r1", R1, false}, {"r2", R2, false},
	{"touch", Touch, false},
	{"square", Square, false}, {"triangle", Triangle, false}, {"cross", Cross, false}, {"circle", Circle, false},
	{"up", Up, false}, {"down", Down, false}, {"left", Left, false}, {"right", Right, false},
	{"lx", LX, true}, {"ly", LY, true}, {"rx", RX, true}, {"ry", RY, true},
	{"accx", AccX, true}, {"accy", AccY, true}, {"accz", AccZ, true},
	{"gyrox", GyroX, true}, {"gyroy", GyroY, true}, {"gyroz", GyroZ, true},
	{"touchx", TouchX, true}, {"touchy", TouchY, true},
}

// wordOf finds a name.
func wordOf(name string) (word, bool) {
	if i := slices.IndexFunc(table[:], func(w word) bool { return w.name == name }); i >= 0 {
		return table[i], true
	}
	return word{}, false
}

// InputOf finds the input with a name, and tells whether it is one that goes to both sides, like lx.
func InputOf(name string) (in Input, axis, ok bool) {
	w, ok := wordOf(name)
	return w.input, w.axis, ok
}

// Names are all names of inputs, for guesses.
func Names() []string { return names() }

// names are all names, for guesses.
func names() []string {
	all := make([]string, 0, len(table))
	for _, w := range words() {
		all = append(all, w.name)
	}
	return all
}

// presses are what may stand for buttons behind the digits of a motion: a name, or any punch or kick, of which the
// weakest are meant.
func presses(text string) ([]Input, bool) {
	switch text {
	case "p":
		return []Input{Square}, true
	case "pp":
		return []Input{Square, Triangle}, true
	case "ppp":
		return []Input{Square, Triangle, R1}, true
	case "k":
		return []Input{Cross}, true
	case "kk":
		return []Input{Cross, Circle}, true
	case "kkk":
		return []Input{Cross, Circle, R2}, true
	}
	if w, ok := wordOf(text); ok && !w.axis {
		return []Input{w.input}, true
	}
	return nil, false
}

// Name is the name that states are written with for an input; "" for one that has none.
func Name(in Input) string {
	for i := range table {
		if table[i].input == in {
			return table[i].name
		}
	}
	return ""
}
