package macro

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/nearest"
)

// tag reads a line like "<loop 3>" or "</loop>".
func (p *parser) tag(at int, text piece, remark string) {
	inner, closed := strings.CutSuffix(text.text[1:], ">")
	if !closed || strings.ContainsAny(inner, "<>") {
		p.add(at, text.column, text.length(), fmt.Sprintf("%q is not a tag", text.text), "a tag stands alone on its line: <loop 3>, </loop>")
		return
	}
	inner, end := strings.CutPrefix(strings.ToLower(strings.TrimSpace(inner)), "/")
	fields := strings.Fields(inner)
	if len(fields) == 0 {
		p.add(at, text.column, text.length(), "this tag has no name", "there are <loop 3>, <mirror>, <player 2> and <sync>")
		return
	}
	kind := fields[0]
	wants, known := map[string]int{loopBlock: 1, mirrorBlock: 0, playerBlock: 1, syncTag: 0}[kind]
	if !known || end && kind == syncTag {
		hint := "there are <loop 3>, <mirror>, <player 2> and <sync>"
		if n := nearest.Name(kind, []string{loopBlock, mirrorBlock, playerBlock, syncTag}); n != "" && !known {
			hint = fmt.Sprintf("did you mean %s?", n)
		}
		p.add(at, text.column, text.length(), fmt.Sprintf("there is no tag %s", text.text), hint)
		p.stand(kind, end, at, text)
		return
	}
	if end {
		p.close(at, text, kind, fields[1:], remark)
		return
	}
	if len(fields)-1 != wants {
		hint := fmt.Sprintf("write <%s> alone", kind)
		if wants == 1 {
			hint = fmt.Sprintf("write <%s 2>", kind)
		}
		p.add(at, text.column, text.length(), fmt.Sprintf("<%s> wants %s", kind, [...]string{"no number", "one number"}[wants]), hint)
		p.stand(kind, kind == syncTag, at, text)
		return
	}
	b := &block{at: place{at, text.column, text.length()}, kind: kind, remark: remark}
	switch kind {
	case syncTag:
		p.put(&meeting{b.at, remark})
		return
	case loopBlock:
		b.number, _ = p.number(at, argument(text, fields[1]), "rounds", 1, MaxLine)
	case playerBlock:
		b.number, _ = p.number(at, argument(text, fields[1]), "as a player", 1, Players)
		for _, around := range p.open {
			if around.kind == playerBlock {
				p.add(at, text.column, text.length(), fmt.Sprintf("a player's block stands in that of line %d", around.at.line), "close that one before")
				break
			}
		}
	}
	if len(p.open) > MaxNesting {
		p.add(at, text.column, text.length(), fmt.Sprintf("more than %d blocks stand in each other", MaxNesting), "")
		b.number = 1
	}
	p.open = append(p.open, b)
}

// argument is the last word of a tag.
func argument(tag piece, word string) piece {
	before := tag.text
	if i := strings.LastIndex(strings.ToLower(before), word); i >= 0 && i <= len(before) {
		before = before[:i]
	}
	return piece{word, tag.column + utf8.RuneCountInString(before)}
}

// stand opens a block in place of one whose tag was wrong, so that its end is not a second mistake.
func (p *parser) stand(kind string, end bool, at int, text piece) {
	if !end && len(p.open) <= 2*MaxNesting {
		p.open = append(p.open, &block{at: place{at, text.column, text.length()}, kind: kind})
	} else if last := p.open[len(p.open)-1]; end && len(p.open) > 1 && last.kind == kind {
		p.open = p.open[:len(p.open)-1]
	}
}

// close ends the block that was opened last.
func (p *parser) close(at int, text piece, kind string, rest []string, remark string) {
	last := p.open[len(p.open)-1]
	if len(rest) > 0 {
		p.add(at, text.column, text.length(), fmt.Sprintf("</%s> has no number", kind), fmt.Sprintf("write </%s> alone", kind))
	}
	switch {
	case len(p.open) == 1:
		p.add(at, text.column, text.length(), fmt.Sprintf("</%s> closes nothing", kind), fmt.Sprintf("a block begins with <%s> on a line before", kind))
		return
	case last.kind != kind:
		p.add(at, text.column, text.length(), fmt.Sprintf("</%s> comes before </%s>, which closes line %d", kind, last.kind, last.at.line), "blocks are closed in turn, the last one first")
		// The one that is meant is closed together with those in it, so that their ends are not taken for more mistakes.
		for i := len(p.open) - 1; i > 0; i-- {
			if p.open[i].kind == kind {
				p.open = p.open[:i]
				return
			}
		}
		return
	}
	last.lastRemark = remark
	p.open = p.open[:len(p.open)-1]
	p.put(last)
}
