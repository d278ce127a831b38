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
	name := strings.ToLower(item.text)
	w.line.words = append(w.line.words, name)
	if strings.Contains(name, "=") {
		return w.axis(item, name)
	}
	digits := len(name) - len(strings.TrimLeft(name, "0123456789"))
	if digits > 0 {
		return w.motion(item, name[:digits], name[digits:])
	}
	if inputs, ok := presses(name); ok {
		return w.press(item, inputs)
	}
	if known, ok := wordOf(name); ok && known.axis {
		w.bad(item, fmt.Sprintf("%s is an axis and needs a value", name), fmt.Sprintf("write %s=-100 to %s=100", name, name))
		return false
	}
	hint := unknown(name, names())
	if strings.ContainsAny(name, "+&") {
		hint = "put commas between what is pressed together: " + strings.NewReplacer("+", ",", "&", ",").Replace(name)
	}
	if hint == "" {
		hint = "there are the directions 1 to 9, lp mp hp lk mk hk, start select share options save ps touch, l1 to l3 and r1 to r3, and axes like lx=-100"
	}
	w.bad(item, fmt.Sprintf("there is no button %q", item.text), hint)
	return false
}

func (w *writing) bad(item piece, text, hint string) {
	w.add(w.at, item.column, item.length(), text, hint)
}

// motion reads digits of the number pad, and the button at their end if there is one.
func (w *writing) motion(item piece, digits, button string) bool {
	if i := strings.IndexByte(digits, '0'); i >= 0 {
		w.bad(piece{"0", item.column + i}, "0 is no direction", "directions are 1 to 9, as on a number pad; 5 is none")
		return false
	}
	if len(digits) > 16 {
		w.bad(item, "a motion has at most 16 directions", "")
		return false
	}
	if w.point.text != "" {
		w.bad(item, fmt.Sprintf("%s comes after the direction %s, and a line has one", item.text, w.point.text), "write a direction between the two, or two lines")
		return false
	}
	if len(w.arms) > 0 {
		w.bad(item, fmt.Sprintf("%s comes after the direction %s, and a line has one", item.text, w.arms[0].text), "use the number pad's directions: 1 is down and left, 9 up and right")
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
		hint := unknown(button, []string{"p", "k", "pp", "kk", "lp", "mp", "hp", "lk", "mk", "hk"})
		if hint == "" {
			hint = "behind a motion stand p, k, pp, kk, ppp, kkk or a button, as in 236hp"
		}
		w.bad(piece{button, item.column + len(digits)}, fmt.Sprintf("there is no button %q", button), hint)
		return false
	}
	return w.press(item, inputs)
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

// arm checks an arm of the direction pad that is named by itself.
func (w *writing) arm(item piece, in Input) bool {
	if w.point.text != "" {
		w.bad(item, fmt.Sprintf("%s comes after the direction %s, and a line has one", item.text, w.point.text), "use the number pad's directions: 1 is down and left, 9 up and right")
		return false
	}
	opposite := map[Input]Input{Up: Down, Down: Up, Left: Right, Right: Left}[in]
	if w.line.with[opposite] != 0 {
		w.bad(item, fmt.Sprintf("%s is the opposite of a direction before it", item.text), "")
		return false
	}
	w.arms = append(w.arms, item)
	return true
}

// once refuses an input that was named before.
func (w *writing) once(item piece, in Input) bool {
	if w.used[in] != 0 {
		w.bad(item, fmt.Sprintf("%s is pressed twice on this line", item.text), sameInput(in))
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
		return ""
	}
	return strings.Join(all, ", ") + " are one button"
}

// axis reads something like "lx=-50".
func (w *writing) axis(item piece, name string) bool {
	name, value, _ := strings.Cut(name, "=")
	known, ok := wordOf(name)
	if !ok {
		hint := unknown(name, names())
		if hint == "" {
			hint = "axes are lx, ly, rx, ry, accx to accz, gyrox to gyroz, touchx and touchy; a button may have a value too, as in l2=40"
		}
		w.bad(piece{item.text[:strings.Index(item.text, "=")], item.column}, fmt.Sprintf("there is no axis %q", name), hint)
		return false
	}
	at := piece{value, item.column + len(name) + 1}
	least := -pressed
	if !known.axis {
		least = 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > pressed {
		w.bad(at, fmt.Sprintf("%s=%s: %s goes from %d to %d", name, value, name, least, pressed), "write a whole number: the share of the way in percent")
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
	hint := fmt.Sprintf("write 5 %s to let go for %s frames", it.text, it.text)
	if len(it.text) == 1 {
		hint = fmt.Sprintf("write %s 2 to point there for 2 frames, or 5 %s to let go for %s", it.text, it.text, it.text)
	}
	p.add(at, it.column, it.length(), fmt.Sprintf("%s is alone on its line", it.text), hint)
	return true
}

// frames reads the numbers at the end of the line.
func (w *writing) frames(items, numbers []piece) bool {
	if len(numbers) == 0 {
		last := items[len(items)-1]
		w.bad(last, "the number of frames is missing", "write it behind what is pressed, as in 2,mk 8")
		return false
	}
	n, ok := w.number(w.at, numbers[0], "frames", 1, MaxLine)
	if !ok {
		return false
	}
	w.line.frames = n
	if len(numbers) == 1 {
		return true
	}
	if len(w.line.motion) < 2 {
		w.bad(numbers[1], fmt.Sprintf("%q stands behind the frames", numbers[1].text), "a line has one number; only a motion like 236hp may have a second one, for its last step")
		return false
	}
	if len(numbers) > 2 {
		w.bad(numbers[2], fmt.Sprintf("%q stands behind the frames", numbers[2].text), "a motion has at most two numbers: the frames of each step, and those of the last one")
		return false
	}
	w.line.final, ok = w.number(w.at, numbers[1], "frames", 1, MaxLine)
	return ok
}
