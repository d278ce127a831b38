package macro

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// legible is a line in the letters that the parser reads: full-width letters are made half-width, arrows directions of
// the number pad, and 小P, 中P, 大P or 弱P, 強P are made lp, mp, hp. It remembers where each letter stood.
type legible struct {
	source []rune // the line as it was written
	read   []rune
	from   []int // for each rune of read, and for its end, the index in source; nil: they are the same
}

// arrowKinds are the kinds of arrows that fonts and input methods offer, each in the order of the number pad from 1.
var arrowKinds = [...]string{"↙↓↘←·→↖↑↗", "⇙⇓⇘⇐·⇒⇖⇑⇗", "⬋⬇⬊⬅·➡⬉⬆⬈", "🡗🡓🡖🡐·🡒🡔🡑🡕"}

// arrows are the digits of arrows.
var arrows = func() map[rune]rune {
	all := map[rune]rune{'⮕': '6'}
	for _, kind := range arrowKinds {
		for i, r := range []rune(kind) {
			if r != '·' {
				all[r] = rune('1' + i)
			}
		}
	}
	return all
}()

// strengths are what Japanese players call the three punches and kicks.
var strengths = map[rune]rune{'小': 'l', '弱': 'l', '中': 'm', '大': 'h', '強': 'h'}

// attacks are what those are the strengths of.
var attacks = []struct {
	name   []rune
	letter rune
}{
	{[]rune("パンチ"), 'p'}, {[]rune("p"), 'p'}, {[]rune("P"), 'p'},
	{[]rune("キック"), 'k'}, {[]rune("k"), 'k'}, {[]rune("K"), 'k'},
}

// makeLegible reads a line of UTF-8.
func makeLegible(line string) legible {
	l := legible{source: []rune(line)}
	if len(l.source) == len(line) { // ASCII alone
		l.read = l.source
		return l
	}
	l.fold(line)
	l.name()
	return l
}

// fold writes every letter in its usual form (Unicode's NFKC), and arrows as digits.
func (l *legible) fold(line string) {
	at := 0
	for line != "" {
		n := norm.NFKC.NextBoundaryInString(line, true)
		part := line[:n]
		line = line[n:]
		length := utf8.RuneCountInString(part)
		usual := []rune(norm.NFKC.String(part))
		for i, r := range usual {
			from := at
			if len(usual) == length {
				from += i
			}
			switch digit := arrows[r]; {
			case digit != 0:
				r = digit
			case r == '、':
				r = ','
			case r == '\ufe0e' || r == '\ufe0f':
				continue // says whether the arrow before it is drawn as a letter or as a picture
			}
			l.read, l.from = append(l.read, r), append(l.from, from)
		}
		at += length
	}
	l.from = append(l.from, at)
}

// name writes the names of punches and kicks in ASCII.
func (l *legible) name() {
	put := 0
	for i := 0; i < len(l.read); put++ {
		r, from, next := l.read[i], l.from[i], i+1
		if letter, length := attackAt(l.read[i:]); length > 1 {
			r, next = letter, i+length
		} else if strength := strengths[r]; strength != 0 {
			if _, length := attackAt(l.read[next:]); length > 0 {
				r = strength
			}
		}
		l.read[put], l.from[put] = r, from
		i = next
	}
	l.from[put] = l.from[len(l.read)]
	l.read, l.from = l.read[:put], l.from[:put+1]
}

// attackAt is the letter and the length of the attack that runes begin with; 0 if there is none.
func attackAt(runes []rune) (letter rune, length int) {
	for _, a := range attacks {
		if len(runes) >= len(a.name) && slices.Equal(runes[:len(a.name)], a.name) {
			return a.letter, len(a.name)
		}
	}
	return 0, 0
}

// place is where what is read at a column, from 1, stood in the source, and how long it was.
func (l *legible) place(column, length int) (int, int) {
	if l.from == nil {
		return column, length
	}
	begin, end := min(max(column-1, 0), len(l.read)), min(max(column-1+length, 0), len(l.read))
	return l.from[begin] + 1, max(l.from[end]-l.from[begin], 1)
}

// said is what stood in the source for a piece of what is read.
func (l *legible) said(it piece) string {
	column, length := l.place(it.column, it.length())
	begin := min(column-1, len(l.source))
	return string(l.source[begin:min(begin+length, len(l.source))])
}

// cutRemark cuts off what stands behind # or //. The remark stays as it was written.
func (l *legible) cutRemark() (body, remark string) {
	end := len(l.read)
	for i, r := range l.read {
		if r == '#' || r == '/' && i+1 < len(l.read) && l.read[i+1] == '/' {
			end = i
			break
		}
	}
	body = string(l.read[:end])
	if end == len(l.read) {
		return body, ""
	}
	column, _ := l.place(end+1, 1)
	remark = string(l.source[column-1:])
	if l.read[end] == '/' {
		remark = trimOnce(trimOnce(remark))
	}
	return body, strings.TrimFunc(strings.TrimLeft(remark, "#＃"), unicode.IsSpace)
}

// trimOnce leaves out the first letter.
func trimOnce(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[n:]
}
