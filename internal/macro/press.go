package macro

import (
	"fmt"
	"strconv"
	"strings"
)

// writing is a line that is being read.
type writing struct {
	*parser
	at    int
	line  *press
	used  State // not 0 where an input was named already
	arms  []piece
	point piece // the item that gave the direction or the motion
}

// item reads one of the things that are pressed.
func (w *writing) item(item piece) bool {
	name := neutral(strings.ToLower(item.text))
	joined := w.join(item, name)
	if !joined {
		w.line.words = append(w.line.words, name)
	}
	if strings.Contains(name, "=") {
		return w.axis(item, name)
	}
	if hint := w.player(name); hint != "" {
		w.bad(item, fmt.Sprintf("there is no button %q", w.said(item)), hint)
		return false
	}
	if digits := leadingDigits(name); digits != "" {
		return w.motion(item, digits, name[len(digits):])
	}
	if inputs, ok := presses(name); ok {
		return w.press(item, inputs)
	}
	if known, ok := wordOf(name); ok && known.axis {
		w.bad(item, fmt.Sprintf("%s is an axis and needs a value", w.said(item)),
			fmt.Sprintf("write %s=-100 to %s=100", name, name))
		return false
	}
	w.bad(item, fmt.Sprintf("there is no button %q", w.said(item)), w.guessButton(name))
	return false
}

// join writes a button that stands behind a motion and a + as the motion's: 236+hp is 236hp.
func (w *writing) join(item piece, name string) bool {
	inputs, ok := presses(name)
	if !item.plus || !ok || inputs[0] >= Up && inputs[0] <= Right || len(w.line.words) == 0 {
		return false
	}
	last := &w.line.words[len(w.line.words)-1]
	if len(*last) < 2 || !allDigits(*last) {
		return false
	}
	*last += name
	return true
}

// neutral writes n, which stands for no direction, as 5: alone, or among the digits of a motion.
func neutral(name string) string {
	if name == "n" {
		return "5"
	}
	begin := name[:len(name)-len(strings.TrimLeft(name, "0123456789n"))]
	if begin == "" || strings.Trim(begin, "n") == "" {
		return name
	}
	return strings.ReplaceAll(begin, "n", "5") + name[len(begin):]
}

func (w *writing) bad(item piece, text, hint string) {
	w.add(w.at, item.column, item.length(), text, hint)
}

const maxMotion = 16 // directions

// motion reads digits of the number pad, and the button at their end if there is one.
func (w *writing) motion(item piece, digits, button string) bool {
	if i := strings.IndexByte(digits, '0'); i >= 0 {
		w.bad(piece{text: "0", column: item.column + i}, "0 is no direction",
			"directions are 1 to 9, as on a number pad; 5 is none")
		return false
	}
	if len(digits) > maxMotion {
		w.bad(item, "a motion has at most 16 directions", "write the rest on a second line")
		return false
	}
	if w.point.text != "" {
		w.second(item, w.point, between(neutral(strings.ToLower(w.point.text)), digits))
		return false
	}
	if len(w.arms) > 0 {
		w.second(item, w.arms[0], usePad)
		return false
	}
	w.point = item
	for _, d := range digits {
		w.line.motion = append(w.line.motion, int(d-'0'))
	}
	if button == "" {
		return true
	}
	inputs, ok := presses(button)
	if !ok || inputs[0] >= Up && inputs[0] <= Right {
		at := piece{text: button, column: item.column + len(digits)}
		w.bad(at, fmt.Sprintf("there is no button %q", w.said(at)), w.guessBehind(digits, button))
		return false
	}
	return w.press(item, inputs)
}

// usePad is what to do about directions in words.
const usePad = "use the number pad's directions: 1 is down and left, 9 up and right"

// second refuses a direction behind another one.
func (w *writing) second(item, first piece, hint string) {
	w.bad(item, fmt.Sprintf("%s comes after the direction %s, and a line has one", w.said(item), w.said(first)), hint)
}

// between is what to do about two directions on a line.
func between(first, second string) string {
	if !allDigits(first) || len(first) > 1 || len(second) > 1 {
		return "write directions that follow each other as one motion, as in 236p 2, or as two lines"
	}
	if first == second {
		return "leave one of the two out"
	}
	var s State
	s.point(int(first[0] - '0'))
	s.point(int(second[0] - '0'))
	if d, ok := s.Direction(); ok {
		return fmt.Sprintf("write %d, which is both, or two lines", d)
	}
	return "write two lines"
}

// press presses inputs wholly.
func (w *writing) press(item piece, inputs []Input) bool {
	for _, in := range inputs {
		if in >= Up && in <= Right && !w.arm(item, in) {
			return false
		}
		if !w.once(item, in) {
			return false
		}
		w.line.with[in] = pressed
	}
	return true
}

// opposites are the arms of the direction pad across from each other.
var opposites = map[Input]Input{Up: Down, Down: Up, Left: Right, Right: Left}

// arm checks an arm of the direction pad that is named by itself.
func (w *writing) arm(item piece, in Input) bool {
	if w.point.text != "" {
		w.second(item, w.point, usePad)
		return false
	}
	if w.line.with[opposites[in]] != 0 {
		w.bad(item, fmt.Sprintf("%s is the opposite of a direction before it", w.said(item)),
			"leave one of them out, or write two lines")
		return false
	}
	w.arms = append(w.arms, item)
	return true
}

// once refuses an input that was named before.
func (w *writing) once(item piece, in Input) bool {
	if w.used[in] != 0 {
		w.bad(item, fmt.Sprintf("%s is pressed twice on this line", w.said(item)), sameInput(in))
		return false
	}
	w.used[in] = 1
	return true
}

// sameInput names the names that an input has, if there are several.
func sameInput(in Input) string {
	var all []string
	for _, w := range words() {
		if w.input == in {
			all = append(all, w.name)
		}
	}
	if len(all) < 2 {
		return "leave one of the two out"
	}
	return strings.Join(all, ", ") + " are one button: leave one of the two out"
}

// axis reads something like "lx=-50".
func (w *writing) axis(item piece, name string) bool {
	name, value, _ := strings.Cut(name, "=")
	known, ok := wordOf(name)
	if !ok {
		before := piece{text: item.text[:strings.Index(item.text, "=")], column: item.column}
		w.bad(before, fmt.Sprintf("there is no axis %q", w.said(before)), w.guessAxis(name))
		return false
	}
	at := piece{text: value, column: item.column + len(name) + 1}
	least := -pressed
	if !known.axis {
		least = 0
	}
	if value == "" {
		w.bad(item, fmt.Sprintf("the value of %s is missing", name),
			fmt.Sprintf("write it without blanks, as in %s=50", name))
		return false
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > pressed {
		w.bad(at, fmt.Sprintf("%s=%s: %s goes from %d to %d", name, value, name, least, pressed),
			"write a whole number: the share of the way in percent")
		return false
	}
	arm := known.input >= Up && known.input <= Right
	if arm && !w.arm(item, known.input) || !w.once(item, known.input) {
		return false
	}
	w.line.with[known.input] = int8(n)
	w.line.words[len(w.line.words)-1] = name + "=" + strconv.Itoa(n)
	return true
}

// alone tells whether the line has a number and nothing else, and complains.
func (p *parser) alone(at int, items, numbers []piece) bool {
	if len(numbers) > 0 || len(items) != 1 || !allDigits(items[0].text) {
		return false
	}
	it := items[0]
	hint := "write what is pressed and for how many frames, as in 2,mk 8"
	n, err := strconv.Atoi(it.text)
	frames := err == nil && n >= 1 && n <= MaxLine
	motion := !strings.Contains(it.text, "0") && len(it.text) <= maxMotion && it.text != "5"
	letGo := fmt.Sprintf("5 %d to let go for %s", n, many(n))
	switch {
	case motion && frames && n < 10:
		hint = fmt.Sprintf("write %s 2 to point there for 2 frames, or %s", it.text, letGo)
	case motion && frames:
		hint = fmt.Sprintf("write %s 2 for a motion with 2 frames each, or %s", it.text, letGo)
	case motion:
		hint = fmt.Sprintf("write %s 2 for a motion with 2 frames each", it.text)
	case frames:
		hint = "write " + letGo
	}
	p.add(at, it.column, it.length(), fmt.Sprintf("%s is alone on its line", p.said(it)), hint)
	return true
}

// many are so many frames.
func many(n int) string {
	if n == 1 {
		return "1 frame"
	}
	return fmt.Sprintf("%d frames", n)
}

// frames reads the numbers at the end of the line.
func (w *writing) frames(items, numbers []piece) bool {
	if len(numbers) == 0 {
		last := items[len(items)-1]
		if behind.MatchString(last.text) {
			return false // they stand behind the button without a blank, which was told
		}
		hint := "write it behind what is pressed, as in 2,mk 8"
		if n, err := strconv.Atoi(last.text); err == nil && len(items) > 1 && n >= 1 && n <= MaxLine {
			hint = fmt.Sprintf(
				"%s stands with what is pressed; if it is the frames, put a blank before it and no comma", w.said(last))
		}
		w.bad(last, "the number of frames is missing", hint)
		return false
	}
	for _, n := range numbers {
		if hint := w.guessFrames(items, n); hint != "" {
			w.bad(n, fmt.Sprintf("%q is not a number of frames", w.said(n)), hint)
			return false
		}
	}
	n, ok := w.number(w.at, numbers[0], frameCount)
	if !ok {
		return false
	}
	w.line.frames = n
	if len(numbers) == 1 {
		return true
	}
	if len(w.line.motion) < 2 {
		w.bad(numbers[1], fmt.Sprintf("%q stands behind the frames", w.said(numbers[1])), "a line has one number; "+
			"only a motion like 236hp may have a second one, for its last step")
		return false
	}
	if len(numbers) > 2 {
		w.bad(numbers[2], fmt.Sprintf("%q stands behind the frames", w.said(numbers[2])), "a motion has at most two "+
			"numbers: the frames of each step, and those of the last one")
		return false
	}
	w.line.final, ok = w.number(w.at, numbers[1], frameCount)
	return ok
}
