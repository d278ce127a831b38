package macro

import (
	"strconv"
	"strings"
)

// Format writes a text in the one form that all macros have: small letters, one space before the frames, blocks
// indented, at most one empty line in a row, none at the beginning and the end. It means what it meant, and formatted
// once more it stays as it is. The error is Mistakes.
func Format(text []byte) ([]byte, error) {
	t, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return t.Format(), nil
}

// Format writes the text as the function Format does.
func (t *Text) Format() []byte {
	f := formatter{first: true}
	f.all(t.body, 0)
	return []byte(f.String())
}

// formatter writes lines.
type formatter struct {
	strings.Builder
	first bool // nothing that an empty line could stand behind
	empty bool // an empty line is due before the next one
}

// line writes one line; body or remark may be empty.
func (f *formatter) line(depth int, body, remark string) {
	if f.empty {
		f.WriteByte('\n')
	}
	f.first, f.empty = false, false
	f.WriteString(strings.Repeat("  ", depth))
	f.WriteString(body)
	if remark != "" {
		if body != "" {
			f.WriteString("  ")
		}
		f.WriteString("# " + remark)
	}
	f.WriteByte('\n')
}

func (f *formatter) all(nodes []node, depth int) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *blank:
			if n.remark == "" {
				f.empty = !f.first
				continue
			}
			f.line(depth, "", n.remark)
		case *press:
			f.line(depth, n.text(), n.remark)
		case *meeting:
			f.line(depth, "<"+syncTag+">", n.remark)
		case *block:
			f.line(depth, n.text(), n.remark)
			f.first = true // no empty line behind a tag
			f.all(n.body, depth+1)
			f.empty = false // nor before its end
			f.line(depth, "</"+n.kind+">", n.lastRemark)
		}
	}
}

// text is the line as it is written, without its remark.
func (p *press) text() string {
	s := strings.Join(p.words, ",") + " " + strconv.Itoa(p.frames)
	if p.final > 0 {
		s += " " + strconv.Itoa(p.final)
	}
	return s
}

func (b *block) text() string {
	if b.kind == mirrorBlock {
		return "<" + b.kind + ">"
	}
	return "<" + b.kind + " " + strconv.Itoa(b.number) + ">"
}
