package macro

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads a text. The error is Mistakes: all of them.
func Parse(text []byte) (*Text, error) {
	p := parser{open: []*block{{kind: "text"}}}
	if len(text) > MaxText {
		p.add(1, 1, 1, fmt.Sprintf("the macro has %d bytes; %d are the most", len(text), MaxText),
			"write what repeats as a <loop>")
		return nil, p.err()
	}
	lines := splitLines(text)
	for i, line := range lines {
		p.line(i+1, line)
	}
	for _, b := range p.open[1:] {
		if b.wrong {
			continue // its tag was told to be wrong
		}
		p.finder.add(b.at.line, b.at.column, b.at.length, fmt.Sprintf("<%s> is never closed", b.kind),
			fmt.Sprintf("write </%s> on a line of its own after the last line that belongs to it", b.kind))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return &Text{body: p.open[0].body, last: len(lines)}, nil
}

// parser reads a text line by line.
type parser struct {
	finder
	legible          // the line that is being read
	open    []*block // the blocks that the next line stands in; the first is the text itself
}

// piece is a part of a legible line, with its place in its characters from 1.
type piece struct {
	text   string
	column int
	plus   bool // it stands behind a +
}

func (p piece) length() int { return utf8.RuneCountInString(p.text) }

// add is a mistake in the line that is being read.
func (p *parser) add(line, column, length int, text, hint string) {
	column, length = p.place(column, length)
	p.finder.add(line, column, length, text, hint)
}

// stands is where a piece of the line stands in the text.
func (p *parser) stands(at int, it piece) place {
	column, length := p.place(it.column, it.length())
	return place{at, column, length}
}

func (p *parser) put(n node) {
	b := p.open[len(p.open)-1]
	b.body = append(b.body, n)
}

func (p *parser) line(at int, line string) {
	if !utf8.ValidString(line) {
		bad := strings.IndexFunc(line, func(r rune) bool { return r == utf8.RuneError })
		p.finder.add(at, utf8.RuneCountInString(line[:max(bad, 0)])+1, 1, "this is not text in UTF-8",
			"save the macro as UTF-8")
		return
	}
	p.legible = makeLegible(line)
	body, remark := p.cutRemark()
	trimmed := strings.TrimFunc(body, unicode.IsSpace)
	switch {
	case trimmed == "":
		p.put(&blank{remark})
	case strings.HasPrefix(trimmed, "<"):
		p.tag(at, piece{text: trimmed, column: columnOf(body, trimmed)}, remark)
	default:
		p.press(at, body, remark)
	}
}

// columnOf is where part, which is a part of line, begins.
func columnOf(line, part string) int {
	return utf8.RuneCountInString(line[:strings.Index(line, part)]) + 1
}

// press reads a line like "2,mk 8".
func (p *parser) press(at int, line, remark string) {
	items, numbers, ok := p.cut(at, line)
	if !ok || p.alone(at, items, numbers) || p.swapped(at, items, numbers) {
		return
	}
	w := writing{parser: p, at: at, line: &press{at: p.stands(at, items[0]), remark: remark}}
	fine := true
	for _, item := range items {
		fine = w.item(item) && fine
	}
	if !w.frames(items, numbers) || !fine {
		return
	}
	p.put(w.line)
}

// cut cuts a line into what is pressed, between commas or +, and the numbers behind it.
func (p *parser) cut(at int, line string) (items, numbers []piece, ok bool) {
	ok = true
	runes := []rune(line)
	join := 0    // the column of the last comma or +
	next := true // what comes next is pressed
	for i := 0; i < len(runes); {
		switch r := runes[i]; {
		case unicode.IsSpace(r):
			i++
		case joins(runes, i) && next:
			p.add(at, i+1, 1, "there is nothing before this "+joint(r), "write what is pressed, as in 2,mk 8")
			ok, join, i = false, i+1, i+1
		case joins(runes, i) && len(numbers) > 0 && p.isArrow(numbers[0]):
			n := numbers[0]
			p.add(at, n.column, n.length(), fmt.Sprintf("%q is not a number of frames", p.said(n)),
				p.guessFrames(items, n))
			return nil, nil, false
		case joins(runes, i) && len(numbers) > 0:
			p.add(at, i+1, 1, "a "+joint(r)+" stands behind the frames",
				"what is pressed comes first, the frames last: 2,mk 8")
			return nil, nil, false
		case joins(runes, i):
			next, join, i = true, i+1, i+1
		default:
			begin := i
			for i < len(runes) && !joins(runes, i) && !unicode.IsSpace(runes[i]) {
				i++
			}
			word := piece{text: string(runes[begin:i]), column: begin + 1}
			if next {
				word.plus = join > 0 && runes[join-1] == '+'
				items = append(items, word)
			} else {
				numbers = append(numbers, word)
			}
			next = false
		}
	}
	if next && ok {
		p.add(at, join, 1, "there is nothing behind this "+joint(runes[join-1]), "write what is pressed, as in 2,mk 8")
		ok = false
	}
	return items, numbers, ok
}

// joins tells whether a rune stands between what is pressed: a comma, or a + that is no sign of a value as in lx=+50.
func joins(runes []rune, i int) bool {
	return runes[i] == ',' || runes[i] == '+' && (i == 0 || runes[i-1] != '=')
}

func joint(r rune) string {
	if r == ',' {
		return "comma"
	}
	return string(r)
}

// counted is what a number counts.
type counted struct {
	what        string
	least, most int
	form        string // how it is written
	few, many   string // what to do when there are too few or too many
}

var (
	frameCount = counted{"frames", 1, MaxLine, "2,mk 8", "write 1 or more, or leave the line out",
		"write a second line, or a <loop> around this one"}
	roundCount = counted{"rounds", 1, MaxLine, "<loop 3>", "write 1 or more, or leave the block out",
		"write a loop in a loop"}
	playerName = counted{"as a player", 1, Players, "<player 2>", "there are players 1 and 2",
		"there are players 1 and 2"}
)

// number reads a whole number.
func (p *parser) number(at int, text piece, of counted) (int, bool) {
	n, err := strconv.Atoi(text.text)
	switch {
	case strings.HasPrefix(text.text, "+") || err != nil && !allDigits(strings.TrimPrefix(text.text, "-")):
		hint := "write a whole number, as in " + of.form
		if digits := leadingDigits(text.text); digits != "" && !strings.ContainsAny(text.text, ".,") {
			hint = "write the number alone: " + digits
		}
		p.add(at, text.column, text.length(), fmt.Sprintf("%q is not a number of %s", p.said(text), of.what), hint)
		return 0, false
	case strings.HasPrefix(text.text, "-") || err == nil && n < of.least:
		p.add(at, text.column, text.length(), fmt.Sprintf("%s %s is not from %d to %d", text.text, of.what, of.least,
			of.most), of.few)
		return 0, false
	case err != nil || n > of.most:
		p.add(at, text.column, text.length(), fmt.Sprintf("%s %s is not from %d to %d", text.text, of.what, of.least,
			of.most), of.many)
		return 0, false
	}
	return n, true
}

func allDigits(s string) bool { return s != "" && leadingDigits(s) == s }

// leadingDigits are the digits that s begins with.
func leadingDigits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }
