// Package macro is the language of game pad macros: what is pressed, and for how many frames.
//
//	9 34            # up and to the right for 34 frames: a jump
//	hp 20
//	2,mk 8
//	236hp 2 4       # a motion: 2, 3 and 6 for 2 frames each, the button with the last one, which takes 4
//	<loop 3>
//	lp 2
//	5 8             # nothing is pressed
//	</loop>
//
// Directions are those of a number pad: 2 is down, 6 is right, 5 is none. A text is parsed as a whole, and all of its
// mistakes are told at once, each with its place; then it is compiled to a Script, a list of states and frames for each
// player that whoever plays it only has to walk along.
//
//	script, err := macro.Read(text, macro.Options{})
//	var mistakes macro.Mistakes
//	if errors.As(err, &mistakes) {
//		fmt.Print(mistakes.Pretty("combo.txt", text))
//	}
//
// The package plays nothing and knows no device and no clock: how long a frame lasts is up to whoever plays it.
// Everything is bounded: a text by MaxText, what it becomes by MaxSteps and MaxFrames, so that texts of strangers may
// be read.
//
// docs/macro.md describes the language for those who write it.
package macro

// The bounds of a macro.
const (
	MaxText    = 1 << 20   // bytes
	MaxSteps   = 1 << 20   // of all players together, with loops written out
	MaxFrames  = 1 << 23   // of one player: 38 hours at 60 a second
	MaxLine    = 1_000_000 // frames of one line, and rounds of one loop
	MaxNesting = 32        // blocks in blocks
	MaxTold    = 50        // mistakes that are told
	Players    = 2
)
