package gimx

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/nearest"
	"github.com/hikyaku/hikyaku/pace"
)

// tap is for how long KEY, MBUTTON and JBUTTON press.
const tap = 50 * time.Millisecond

// Read makes a macro of the one with a name, which is the event that begins it, as in "KEYDOWN a"; without one, of the
// only one that there is. Milliseconds become frames of rate. The error is macro.Mistakes about text, all that are
// found.
func Read(text []byte, name string, names Names, rate pace.Rate) ([]byte, error) {
	if len(text) > macro.MaxText {
		return nil, macro.Mistakes{top(fmt.Sprintf("the file has %d bytes; %d are the most", len(text), macro.MaxText),
			"leave out what is not the macro")}
	}
	if !utf8.Valid(text) {
		return nil, macro.Mistakes{top("this is not text in UTF-8", "save the file as UTF-8")}
	}
	source := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	r := reader{names: names, out: macro.NewTimeline(rate)}
	r.split(strings.ReplaceAll(source, "\r", "\n"))
	if from, ok := r.choose(name); ok {
		r.read(from)
	}
	if len(r.found) > 0 {
		return nil, r.found
	}
	return macro.Format([]byte(r.out.String()))
}

func top(text, hint string) macro.Mistake {
	return macro.Mistake{Line: 1, Column: 1, Length: 1, Text: text, Hint: hint}
}

// word is a word of a line, with its place in characters from 1.
type word struct {
	text         string
	line, column int
}

// reader walks along the lines.
type reader struct {
	lines  [][]word // those that say something
	begins []int    // of them, those that begin a macro
	starts []string // the event that begins each of those, as in "KEYDOWN a"
	names  Names
	found  macro.Mistakes

	out     *macro.Timeline
	state   macro.State
	changed word // what pressed something since the last wait; empty: nothing did
}

func (r *reader) add(w word, text, hint string) {
	if len(r.found) < macro.MaxTold {
		r.found = append(r.found, macro.Mistake{Line: w.line, Column: w.column, Length: max(1, len([]rune(w.text))),
			Text: text, Hint: hint})
	}
}

// split cuts a text into lines and words, and finds what begins macros.
func (r *reader) split(text string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.HasPrefix(line, "#") {
			continue
		}
		var words []word
		column, begin := 1, 0
		var part []rune
		for _, c := range line + " " {
			switch blank := c == ' ' || c == '\t' || c == '\n'; {
			case blank && len(part) > 0:
				words = append(words, word{string(part), number, begin})
				part = nil
			case !blank:
				if len(part) == 0 {
					begin = column
				}
				part = append(part, c)
			}
			column++
		}
		if len(words) == 0 {
			continue
		}
		if words[0].text == "MACRO" {
			start := "KEYDOWN"
			if len(words) == 2 { // as files of old have it
				start += " " + words[1].text
			} else if len(words) > 2 {
				start = words[1].text + " " + words[2].text
			}
			r.begins, r.starts = append(r.begins, len(r.lines)), append(r.starts, start)
		}
		r.lines = append(r.lines, words)
	}
}

// choose finds the macro that is meant: the line that begins it.
func (r *reader) choose(name string) (line int, ok bool) {
	name = strings.Join(strings.Fields(name), " ")
	several := strings.Join(r.starts, ", ")
	switch at := slices.Index(r.starts, name); {
	case len(r.starts) == 0:
		r.found = append(r.found, top("there is no macro in this file", "a macro begins with: MACRO KEYDOWN a"))
	case name == "" && len(r.starts) == 1:
		return r.begins[0], true
	case name == "":
		r.found = append(r.found, top("there are several macros: "+several,
			fmt.Sprintf("say which one with --combo %q", r.starts[0])))
	case at >= 0:
		return r.begins[at], true
	default:
		hint := "there are " + several
		if guess := nearest.Name(name, r.starts); guess != "" {
			hint = fmt.Sprintf("did you mean %q?", guess)
		}
		r.found = append(r.found, top(fmt.Sprintf("there is no macro %q in this file", name), hint))
	}
	return 0, false
}

// read takes the lines behind the one that begins the macro.
func (r *reader) read(from int) {
	for _, words := range r.lines[from+1:] {
		switch w := words[0]; w.text {
		case "MACRO":
			r.end(words[0])
			return
		case "TRIGGER", "TOGGLE", "INIT": // these say when it is begun, or whether
		case "DELAY":
			if ms, ok := r.number(words, 1, 1, 1e9, "DELAY 50"); ok {
				r.hold(words[1], time.Duration(ms)*time.Millisecond)
			}
		case "KEYDOWN", "MBUTTONDOWN", "JBUTTONDOWN":
			r.press(words, 100)
		case "KEYUP", "MBUTTONUP", "JBUTTONUP":
			r.press(words, 0)
		case "KEY", "MBUTTON", "JBUTTON":
			if r.press(words, 100) {
				r.hold(words[1], tap)
				r.press(words, 0)
			}
		case "JAXIS":
			r.move(words)
		case "MAXIS":
			r.add(w, "a mouse cannot be moved in a macro", "say with JAXIS how far the stick goes, and for how long")
		default:
			hint := "a line begins with KEYDOWN, KEYUP, KEY, JAXIS, DELAY and the like"
			if guess := nearest.Name(w.text, commands); guess != "" {
				hint = fmt.Sprintf("did you mean %s?", guess)
			}
			r.add(w, fmt.Sprintf("there is no %q", w.text), hint)
		}
	}
	r.end(r.lines[from][0])
}

var commands = []string{"KEYDOWN", "KEYUP", "KEY", "MBUTTONDOWN", "MBUTTONUP", "MBUTTON", "JBUTTONDOWN", "JBUTTONUP",
	"JBUTTON", "JAXIS", "DELAY", "MACRO", "TRIGGER", "TOGGLE", "INIT"}

// end is told at a place near the macro's last line.
func (r *reader) end(near word) {
	if r.changed.text != "" {
		r.add(r.changed, "no DELAY follows this, so that it would be pressed for no time", "put DELAY 50 behind it")
	} else if r.out.Frames() == 0 && len(r.found) == 0 {
		r.add(near, "there is nothing to play in this macro", "a macro has KEYDOWN and DELAY")
	}
}

// number reads a whole number at a place of a line.
func (r *reader) number(words []word, at int, least, most int64, like string) (int64, bool) {
	if at >= len(words) {
		r.add(words[0], "a number is missing behind this", "write "+like)
		return 0, false
	}
	n, err := strconv.ParseInt(words[at].text, 10, 64)
	if err != nil || n < least || n > most {
		r.add(words[at], fmt.Sprintf("%q is no whole number from %d to %d", words[at].text, least, most),
			"write "+like)
		return 0, false
	}
	return n, true
}

// hold writes what is pressed, for so long.
func (r *reader) hold(w word, d time.Duration) {
	switch err := r.out.Hold(&r.state, d); {
	case errors.Is(err, macro.ErrLong):
		r.add(w, fmt.Sprintf("the macro becomes longer than %d frames here", macro.MaxFrames), "play it in parts")
	case err != nil:
		r.add(w, fmt.Sprintf("%d ms are shorter than a frame", d.Milliseconds()),
			"a macro changes with frames: wait longer")
	}
	r.changed = word{}
}

// find finds what a key, a button or an axis is on the pad.
func (r *reader) find(words []word, prefix string) (target, bool) {
	if len(words) < 2 {
		r.add(words[0], "it is not said what", fmt.Sprintf("write %s and a key or a number", words[0].text))
		return target{}, false
	}
	id := prefix + words[1].text
	t, ok := r.names[id]
	if !ok {
		like := "lp"
		if prefix == "JAXIS" {
			like = "lx"
		}
		r.add(words[1], fmt.Sprintf("it is not said what %s is on the pad", id),
			fmt.Sprintf("GIMX's configuration has it: write --map %s=%s", id, like))
	}
	return t, ok
}

// press sets a button, and tells whether it did.
func (r *reader) press(words []word, value int8) bool {
	command := words[0].text
	event := strings.TrimSuffix(strings.TrimSuffix(command, "DOWN"), "UP")
	prefix := ""
	if event == "JBUTTON" {
		prefix = event
	}
	if len(words) > 1 {
		way := "UP "
		if value != 0 {
			way = "DOWN "
		}
		if slices.Contains(r.starts, event+way+words[1].text) {
			r.add(words[0], fmt.Sprintf("%s%s%s begins a macro of this file, perhaps this one again", event, way,
				words[1].text), "a macro is a fixed list: leave the line out, and write <loop 10> around what it becomes")
			return false
		}
	}
	t, ok := r.find(words, prefix)
	if !ok {
		return false
	}
	r.set(words[1], t.in, value)
	return true
}

// move moves an axis.
func (r *reader) move(words []word) {
	t, ok := r.find(words, "JAXIS")
	if !ok {
		return
	}
	least := int64(0)
	if t.axis {
		least = -32768
	}
	n, ok := r.number(words, 2, least, 32767, "JAXIS 0 32767")
	if !ok {
		return
	}
	r.set(words[1], t.in, int8(max(-100, math.Round(float64(n)*100/32767))))
}

func (r *reader) set(w word, in macro.Input, value int8) {
	r.state[in] = value
	if r.state.Clash(in) {
		r.add(w, fmt.Sprintf("%s is pressed together with its opposite", macro.Name(in)),
			"let go of the other one first")
		r.state[in] = 0
	}
	if value != 0 {
		r.changed = w
	}
}
