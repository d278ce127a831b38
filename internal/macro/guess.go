package macro

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/nearest"
)

// A hint names only what is allowed at its place: a guess is one of the names that could stand there.

// buttonsThereAre is told when no guess is near.
const buttonsThereAre = "there are the directions 1 to 9, lp mp hp lk mk hk, " +
	"start select share options save ps touch, l1 to l3 and r1 to r3, and axes like lx=-100"

// behindMotions is told when no guess is near behind the digits of a motion.
const behindMotions = "behind a motion stand p, k, pp, kk, ppp, kkk or a button, as in 236hp"

// weak are the names of any punch or kick.
var weak = []string{"p", "k", "pp", "kk", "ppp", "kkk"}

// guessButton is a hint for something that is no button.
func (w *writing) guessButton(name string) string {
	if strings.Contains(name, "&") {
		return "put commas between what is pressed together: " + strings.ReplaceAll(name, "&", ",")
	}
	if hint := w.player(name); hint != "" {
		return hint
	}
	if guess := nearestLong(name, w.allowed(append(names(), weak...))); guess != "" {
		return fmt.Sprintf("did you mean %s?", guess)
	}
	if axis := nearestLong(name, w.axes()); axis != "" {
		return fmt.Sprintf("did you mean %s, with a value as in %s=50?", axis, axis)
	}
	return buttonsThereAre
}

// guessBehind is a hint for something that is no button behind the digits of a motion.
func (w *writing) guessBehind(digits, name string) string {
	if button, frames := splitFrames(name); button != "" {
		return fmt.Sprintf("put a blank before the frames: %s%s %s", digits, button, frames)
	}
	if strings.ContainsAny(name, "&") {
		return "put a comma between what is pressed together: 236lp,lk"
	}
	known := slices.DeleteFunc(w.allowed(append(slices.Clone(weak), names()...)), func(name string) bool {
		word, ok := wordOf(name)
		return ok && word.input >= Up && word.input <= Right
	})
	if guess := nearestLong(name, known); guess != "" {
		return fmt.Sprintf("did you mean %s?", guess)
	}
	return behindMotions
}

// guessAxis is a hint for something before a = that can have no value.
func (w *writing) guessAxis(name string) string {
	known := append(w.axes(), w.allowed(names())...)
	if guess := nearestLong(name, known); guess != "" {
		return fmt.Sprintf("did you mean %s?", guess)
	}
	return "axes are lx, ly, rx, ry, accx to accz, gyrox to gyroz, touchx and touchy; " +
		"a button may have a value too, as in l2=40"
}

// nearestLong is the name that is nearest to one of two letters or more: to a single letter everything is near.
func nearestLong(name string, known []string) string {
	if len([]rune(name)) < 2 {
		return ""
	}
	return nearest.Name(name, known)
}

// allowed are those of the names of buttons that nothing on the line forbids.
func (w *writing) allowed(all []string) []string {
	return slices.DeleteFunc(all, func(name string) bool {
		inputs, ok := presses(name)
		return !ok || slices.ContainsFunc(inputs, func(in Input) bool {
			arm := in >= Up && in <= Right
			return w.used[in] != 0 || arm && (w.point.text != "" || w.line.with[opposites[in]] != 0)
		})
	})
}

// axes are the names that need a value and that the line has not named yet.
func (w *writing) axes() (all []string) {
	for _, word := range words() {
		if word.axis && w.used[word.input] == 0 {
			all = append(all, word.name)
		}
	}
	return all
}

var (
	behind  = regexp.MustCompile(`[A-Za-z][0-9]+$`)
	stuck   = regexp.MustCompile(`^([a-z]+)([0-9]+)$`)
	charged = regexp.MustCompile(`^(?:[^0-9]*[\[(]([1-9])[\])]|([1-9])(?:タメ|ため|溜め?))`)
	stances = map[string]string{"しゃがみ": "2,", "屈": "2,", "立ち": "", "立": "", "遠": "", "近": ""}
)

// splitFrames cuts a button from the frames that stand behind it without a blank.
func splitFrames(name string) (button, frames string) {
	if m := stuck.FindStringSubmatch(name); m != nil {
		if _, ok := presses(m[1]); ok {
			if n, err := strconv.Atoi(m[2]); err == nil && n >= 1 && n <= MaxLine {
				return m[1], m[2]
			}
		}
	}
	return "", ""
}

// player is a hint for what players write and this language says otherwise.
func (w *writing) player(name string) string {
	if m := charged.FindStringSubmatch(name); m != nil {
		return fmt.Sprintf("a charge needs its frames: hold it on a line of its own, as in %s 60, "+
			"and write what follows on the next", m[1]+m[2])
	}
	if button, frames := splitFrames(name); button != "" {
		return fmt.Sprintf("put a blank before the frames: %s %s", button, frames)
	}
	if strings.ContainsAny(name, ">~") {
		return "what is pressed next stands on a line of its own"
	}
	if _, ok := strengths[[]rune(name)[0]]; ok && len([]rune(name)) == 1 {
		return fmt.Sprintf("write %sP or %sK", name, name)
	}
	if strings.HasPrefix(name, "○") || strings.HasPrefix(name, "〇") {
		return "write circle for the button, 5 for no direction"
	}
	for stance, direction := range stances {
		if button, ok := strings.CutPrefix(name, stance); ok {
			if _, ok := presses(button); ok {
				return "write the direction: " + direction + button
			}
		}
	}
	return ""
}

// guessFrames is a hint for something that stands where the frames do and is no number; "" if nothing is known of it.
func (p *parser) guessFrames(items []piece, number piece) string {
	if p.isArrow(number) {
		return "write a motion without blanks, and its frames behind it: ↓↘→+P 2"
	}
	name := strings.ToLower(number.text)
	if strings.HasPrefix(name, "<") {
		return "a tag stands alone on its line: <loop 3>, </loop>"
	}
	if _, ok := presses(name); !ok {
		return ""
	}
	last := items[len(items)-1]
	return fmt.Sprintf("put a comma or a + between what is pressed together: %s,%s", strings.ToLower(last.text), name)
}

// isArrow tells whether a piece of the line began with an arrow.
func (p *parser) isArrow(it piece) bool { return arrows[[]rune(p.said(it))[0]] != 0 }

// swapped refuses a line whose frames stand before what is pressed: 20 hp.
func (p *parser) swapped(at int, items, numbers []piece) bool {
	if len(items) != 1 || len(numbers) != 1 || p.isArrow(items[0]) {
		return false
	}
	n, err := strconv.Atoi(items[0].text)
	name := strings.ToLower(numbers[0].text)
	if _, ok := presses(name); !ok || err != nil || n < 1 || n > MaxLine {
		return false
	}
	p.add(at, numbers[0].column, numbers[0].length(),
		fmt.Sprintf("%q is not a number of frames", p.said(numbers[0])),
		fmt.Sprintf("what is pressed comes first, the frames last: %s %d", name, n))
	return true
}

// tagsThereAre is told when no tag is near.
const tagsThereAre = "there are <loop 3>, <mirror>, <player 2> and <sync>"

// tagForms are tags as they are written.
var tagForms = map[string]string{
	loopBlock: "<loop 3>", mirrorBlock: "<mirror>", playerBlock: "<player 2>", syncTag: "<sync>",
}

// guessTag is a hint for a tag that there is not.
func (p *parser) guessTag(kind string, end bool, rest []string) string {
	if end {
		if kind == syncTag {
			return "<sync> is no block: leave this line out"
		}
		if guess := p.guessEnd(kind); guess != "" {
			return fmt.Sprintf("did you mean </%s>?", guess)
		}
		return "blocks end with </loop>, </mirror> and </player>"
	}
	known := []string{loopBlock, mirrorBlock, syncTag}
	if !slices.ContainsFunc(p.open, func(b *block) bool { return b.kind == playerBlock }) {
		known = append(known, playerBlock)
	}
	name := strings.TrimRight(kind, "0123456789")
	guess := nearestLong(name, known)
	if guess == "" {
		return tagsThereAre
	}
	number := kind[len(name):]
	if number == "" && len(rest) > 0 {
		number = rest[0]
	}
	form := tagForms[guess]
	most := map[string]int{loopBlock: MaxLine, playerBlock: Players}[guess]
	if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= most {
		form = fmt.Sprintf("<%s %d>", guess, n)
	}
	return fmt.Sprintf("did you mean %s?", form)
}

// guessEnd is the block that a wrong end was most likely meant for.
func (p *parser) guessEnd(kind string) string {
	known := []string{loopBlock, mirrorBlock, playerBlock}
	if last := p.open[len(p.open)-1]; slices.Contains(known, last.kind) {
		known = []string{last.kind} // no other block can end here
	}
	return nearestLong(kind, known)
}
