package gpc

import (
	"errors"
	"fmt"
	"maps"
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

// Read makes a macro of the combo with a name; without one, of the only one that there is. Milliseconds become frames
// of rate: each change comes with the frame that begins nearest to it, so that no error adds up. The error is
// macro.Mistakes about text, all that are found.
func Read(text []byte, combo string, rate pace.Rate) ([]byte, error) {
	if len(text) > macro.MaxText {
		return nil, macro.Mistakes{word{line: 1, column: 1}.mistake(
			fmt.Sprintf("the script has %d bytes; %d are the most", len(text), macro.MaxText),
			"leave out what is not the combo")}
	}
	if !utf8.Valid(text) {
		return nil, macro.Mistakes{word{line: 1, column: 1}.mistake("this is not text in UTF-8",
			"save the script as UTF-8")}
	}
	source := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	r := reader{words: split(strings.ReplaceAll(source, "\r", "\n")), defined: map[string]word{},
		out: macro.NewTimeline(rate)}
	r.outside()
	if begin, ok := r.choose(combo); ok {
		r.at = begin
		r.combo()
	}
	if len(r.found) > 0 {
		return nil, r.found
	}
	return macro.Format([]byte(r.out.String()))
}

// reader walks along the words.
type reader struct {
	words   []word
	at      int
	defined map[string]word // numbers that have a name
	names   []string        // of the combos, in their order
	begins  []int           // the words behind their braces
	found   macro.Mistakes

	out   *macro.Timeline
	state macro.State // what was set since the last wait
	set   word        // the last thing that was set to something else than 0; empty: nothing was
}

func (r *reader) next() word {
	w := r.words[r.at]
	if w.text != "" {
		r.at++
	}
	return w
}

func (r *reader) add(w word, text, hint string) {
	if len(r.found) < macro.MaxTold {
		r.found = append(r.found, w.mistake(text, hint))
	}
}

// outside finds the combos, and the numbers that have a name.
func (r *reader) outside() {
	depth := 0
	for i, w := range r.words {
		after := func(n int) word { return r.words[min(i+n, len(r.words)-1)] }
		switch {
		case w.text == "{":
			depth++
		case w.text == "}":
			depth--
		case depth == 0 && w.text == "combo" && after(2).text == "{":
			r.names, r.begins = append(r.names, after(1).text), append(r.begins, i+3)
		case depth == 0 && w.text == "define" && after(2).text == "=" && after(4).text == ";":
			r.defined[after(1).text] = after(3)
		case w.text == "#" && after(1).text == "define" && after(3).line == w.line && after(4).line != w.line:
			r.defined[after(2).text] = after(3)
		}
	}
}

// choose finds the combo that is meant.
func (r *reader) choose(name string) (begin int, ok bool) {
	top := r.words[0]
	top.text = ""
	switch {
	case len(r.names) == 0:
		r.add(top, "there is no combo in this script", "a combo begins with: combo NAME {")
		return 0, false
	case name == "" && len(r.names) > 1:
		r.add(top, "there are several combos: "+strings.Join(r.names, ", "), "say which one with --combo "+r.names[0])
		return 0, false
	}
	for i, n := range r.names {
		if name == "" || n == name {
			return r.begins[i], true
		}
	}
	hint := "there are " + strings.Join(r.names, ", ")
	if guess := nearest.Name(name, r.names); guess != "" {
		hint = fmt.Sprintf("did you mean %s?", guess)
	}
	r.add(top, fmt.Sprintf("there is no combo %q in this script", name), hint)
	return 0, false
}

// combo reads statements until the brace that closes it.
func (r *reader) combo() {
	for {
		switch w := r.next(); w.text {
		case "}":
			if r.set.text != "" {
				r.add(r.set, "no wait follows this, so that it would be pressed for no time", "put wait(50); behind it")
			} else if r.out.Frames() == 0 && len(r.found) == 0 {
				r.add(w, "there is nothing to play in this combo", "a combo has set_val and wait")
			}
			return
		case "":
			r.add(w, "the combo is never closed", "write } at its end")
			return
		case "set_val":
			r.setVal(w)
		case "wait":
			r.wait(w)
		case ";":
		default:
			r.add(w, fmt.Sprintf("%q cannot be said in a macro", w.text),
				"a macro is a fixed list: only set_val and wait of numbers are taken over")
			r.skip()
		}
	}
}

// skip goes on behind the statement, with all of its block.
func (r *reader) skip() {
	for depth := 0; ; {
		switch w := r.words[r.at]; {
		case w.text == "", w.text == "}" && depth == 0:
			return
		case w.text == "{":
			depth++
		case w.text == "}":
			if depth--; depth == 0 {
				r.at++
				return
			}
		case w.text == ";" && depth == 0:
			r.at++
			return
		}
		r.at++
	}
}

// arguments reads "(a, b);", with a sign before each.
func (r *reader) arguments(of word, n int) (all []word, ok bool) {
	for i := range n {
		if open := r.next(); open.text != [...]string{"(", ","}[min(i, 1)] {
			break
		}
		w := r.next()
		if w.text == "-" {
			w.text += r.next().text
		}
		all = append(all, w)
	}
	if len(all) < n || r.words[r.at].text != ")" {
		r.add(of, fmt.Sprintf("this is not %s with %s", of.text,
			[...]string{1: "one number", 2: "a name and a number"}[n]),
			"what is worked out while the script runs cannot be said in a macro")
		r.skip()
		return nil, false
	}
	r.at++
	if r.words[r.at].text != ";" {
		r.add(r.words[r.at-1], "a ; is missing behind this", fmt.Sprintf("write %s(…);", of.text))
		return nil, false
	}
	r.at++
	return all, true
}

// number reads a number, or the name of one, from least to most.
func (r *reader) number(w word, least, most float64) (float64, bool) {
	text := w.text
	if d, ok := r.defined[strings.TrimPrefix(text, "-")]; ok {
		text = strings.TrimSuffix(text, strings.TrimPrefix(text, "-")) + d.text
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(n):
		r.add(w, fmt.Sprintf("%q is not a number", w.text),
			"a variable has no value until the script runs; write the number")
		return 0, false
	case n < least || n > most:
		r.add(w, fmt.Sprintf("%s is not from %v to %v", w.text, least, most), "write a number that is")
		return 0, false
	}
	return n, true
}

func (r *reader) setVal(of word) {
	all, ok := r.arguments(of, 2)
	if !ok {
		return
	}
	in, ok := inputs[all[0].text]
	if !ok {
		hint := "known are the names of PS4_, PS3_, XB1_ and XB360_, as in PS4_CROSS, and those of Titan Two from " +
			"BUTTON_1 to BUTTON_17"
		if guess := nearest.Name(all[0].text, known()); guess != "" {
			hint = fmt.Sprintf("did you mean %s?", guess)
		}
		r.add(all[0], fmt.Sprintf("there is no %s", all[0].text), hint)
		return
	}
	least := 0.0
	if isAxis(in) {
		least = -100
	}
	n, ok := r.number(all[1], least, 100)
	if !ok {
		return
	}
	r.state[in] = int8(math.Round(n))
	if r.state.Clash(in) {
		r.add(all[0], fmt.Sprintf("%s is the opposite of a direction before it", all[0].text), "leave one of them out")
	}
	if r.state[in] != 0 {
		r.set = all[0]
	}
}

// wait writes what was set, for as many frames as the wait lasts.
func (r *reader) wait(of word) {
	all, ok := r.arguments(of, 1)
	if !ok {
		return
	}
	ms, ok := r.number(all[0], 1, 1e9)
	if !ok {
		return
	}
	switch err := r.out.Hold(&r.state, time.Duration(ms*float64(time.Millisecond))); {
	case errors.Is(err, macro.ErrLong):
		r.add(all[0], fmt.Sprintf("the macro becomes longer than %d frames here", macro.MaxFrames), "play it in parts")
	case err != nil:
		r.add(all[0], fmt.Sprintf("%s ms are shorter than a frame", all[0].text),
			"a macro changes with frames: wait longer")
	}
	r.state, r.set = macro.State{}, word{}
}

// known are all names of inputs, in an order that stays the same.
func known() []string { return slices.Sorted(maps.Keys(inputs)) }
