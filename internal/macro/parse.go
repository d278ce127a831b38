package macro

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/nearest"
)

// Parse reads a text. The error is Mistakes: all of them.
func Parse(text []byte) (*Text, error) {
	p := parser{open: []*block{{kind: "text"}}}
	if len(text) > MaxText {
		p.add(1, 1, 1, fmt.Sprintf("the macro has %d bytes; %d are the most", len(text), MaxText), "write what repeats as a <loop>")
		return nil, p.err()
	}
	lines := splitLines(text)
	for i, line := range lines {
		p.line(i+1, line)
	}
	for _, b := range p.open[1:] {
		p.add(b.at.line, b.at.column, b.at.length, fmt.Sprintf("<%s> is never closed", b.kind), fmt.Sprintf("write </%s> on a line of its own after the last line that belongs to it", b.kind))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return &Text{body: p.open[0].body, last: len(lines)}, nil
}

// parser reads a text line by line.
type parser struct {
	finder
	open []*block // the blocks that the next line stands in; the first is the text itself
}

// piece is a part of a line, with its place in characters from 1.
type piece struct {
	text   string
	column int
}

func (p piece) length() int { return utf8.RuneCountInString(p.text) }

func (p *parser) put(n node) {
	b := p.open[len(p.open)-1]
	b.body = append(b.body, n)
}

func (p *parser) line(at int, line string) {
	if !utf8.ValidString(line) {
		bad := strings.IndexFunc(line, func(r rune) bool { return r == utf8.RuneError })
		p.add(at, utf8.RuneCountInString(line[:max(bad, 0)])+1, 1, "this is not text in UTF-8", "save the macro as UTF-8")
		return
	}
	body, remark := cutRemark(line)
	trimmed := strings.TrimFunc(body, unicode.IsSpace)
	switch {
	case trimmed == "":
		p.put(&blank{remark})
	case strings.HasPrefix(trimmed, "<"):
		p.tag(at, piece{trimmed, columnOf(body, trimmed)}, remark)
	default:
		p.press(at, body, remark)
	}
}

// columnOf is where part, which is a part of line, begins.
func columnOf(line, part string) int {
	return utf8.RuneCountInString(line[:strings.Index(line, part)]) + 1
}

// cutRemark cuts off what stands behind # or //.
func cutRemark(line string) (body, remark string) {
	end := len(line)
	if i := strings.IndexByte(line, '#'); i >= 0 {
		end = i
	}
	if i := strings.Index(line[:end], "//"); i >= 0 {
		end = i
	}
	return line[:end], strings.TrimFunc(strings.TrimLeft(strings.TrimPrefix(line[end:], "//"), "#"), unicode.IsSpace)
}

// press reads a line like "2,mk 8".
func (p *parser) press(at int, line, remark string) {
	items, numbers, ok := p.cut(at, line)
	if !ok || p.alone(at, items, numbers) {
		return
	}
	w := writing{parser: p, at: at, line: &press{at: place{at, items[0].column, items[0].length()}, remark: remark}}
	fine := true
	for _, item := range items {
		fine = w.item(item) && fine
	}
	if !w.frames(items, numbers) || !fine {
		return
	}
	p.put(w.line)
}

// cut cuts a line into what is pressed, between commas, and the numbers behind it.
func (p *parser) cut(at int, line string) (items, numbers []piece, ok bool) {
	ok = true
	runes := []rune(line)
	comma := true // what comes next is pressed
	for i := 0; i < len(runes); {
		switch r := runes[i]; {
		case unicode.IsSpace(r):
			i++
		case r == ',' && comma:
			p.add(at, i+1, 1, "there is nothing before this comma", "write what is pressed, as in 2,mk 8")
			ok, i = false, i+1
		case r == ',' && len(numbers) > 0:
			p.add(at, i+1, 1, "a comma stands behind the frames", "what is pressed comes first, the frames last: 2,mk 8")
			return nil, nil, false
		case r == ',':
			comma, i = true, i+1
		default:
			begin := i
			for i < len(runes) && runes[i] != ',' && !unicode.IsSpace(runes[i]) {
				i++
			}
			word := piece{string(runes[begin:i]), begin + 1}
			if comma {
				items = append(items, word)
			} else {
				numbers = append(numbers, word)
			}
			comma = false
		}
	}
	if comma && ok {
		p.add(at, len(runes), 1, "there is nothing behind the comma", "write what is pressed, as in 2,mk 8")
		ok = false
	}
	return items, numbers, ok
}

// number reads a whole number from least to most.
func (p *parser) number(at int, text piece, what string, least, most int) (int, bool) {
	n, err := strconv.Atoi(text.text)
	switch {
	case strings.HasPrefix(text.text, "+") || err != nil && !allDigits(text.text):
		hint := "write a whole number, as in 2,mk 8"
		if half := halfWidth(text.text); half != text.text {
			hint = fmt.Sprintf("write it in half-width letters: %s", half)
		}
		p.add(at, text.column, text.length(), fmt.Sprintf("%q is not a number of %s", text.text, what), hint)
		return 0, false
	case err != nil || n < least || n > most:
		p.add(at, text.column, text.length(), fmt.Sprintf("%s %s is not from %d to %d", text.text, what, least, most), "")
		return 0, false
	}
	return n, true
}

func allDigits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// halfWidth turns the wide letters of an East Asian keyboard into those of ASCII.
func halfWidth(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '！' && r <= '～':
			return r - '！' + '!'
		case r == '、' || r == '，':
			return ','
		}
		return r
	}, s)
}

// unknown is a hint for a name that is none.
func unknown(name string, known []string) string {
	if half := halfWidth(name); half != name {
		return fmt.Sprintf("write it in half-width letters: %s", half)
	}
	if n := nearest.Name(name, known); n != "" {
		return fmt.Sprintf("did you mean %s?", n)
	}
	return ""
}
