package macro

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// tag reads a line like "<loop 3>" or "</loop>".
func (p *parser) tag(at int, text piece, remark string) {
	inner, closed := strings.CutSuffix(text.text[1:], ">")
	if !closed || strings.ContainsAny(inner, "<>") {
		p.add(at, text.column, text.length(), fmt.Sprintf("%q is not a tag", p.said(text)),
			"a tag stands alone on its line: <loop 3>, </loop>")
		return
	}
	inner, end := strings.CutPrefix(strings.ToLower(strings.TrimSpace(inner)), "/")
	fields := strings.Fields(inner)
	if len(fields) == 0 {
		p.add(at, text.column, text.length(), "this tag has no name", tagsThereAre)
		return
	}
	kind := fields[0]
	wants, known := map[string]int{loopBlock: 1, mirrorBlock: 0, playerBlock: 1, syncTag: 0}[kind]
	if !known || end && kind == syncTag {
		p.add(at, text.column, text.length(), "there is no tag "+p.said(text), p.guessTag(kind, end, fields[1:]))
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
			hint = fmt.Sprintf("write %s", tagForms[kind])
		}
		p.add(at, text.column, text.length(),
			fmt.Sprintf("<%s> wants %s", kind, [...]string{"no number", "one number"}[wants]), hint)
		p.stand(kind, kind == syncTag, at, text)
		return
	}
	b := &block{at: p.stands(at, text), kind: kind, remark: remark}
	switch kind {
	case syncTag:
		p.put(&meeting{b.at, remark})
		return
	case loopBlock:
		b.number, _ = p.number(at, argument(text, fields[1]), roundCount)
	case playerBlock:
		b.number, _ = p.number(at, argument(text, fields[1]), playerName)
		for _, around := range p.open {
			if around.kind == playerBlock {
				p.add(at, text.column, text.length(), fmt.Sprintf("a player's block stands in that of line %d",
					around.at.line), "close that one before")
				break
			}
		}
	}
	if len(p.open) > MaxNesting {
		p.add(at, text.column, text.length(), fmt.Sprintf("more than %d blocks stand in each other", MaxNesting),
			"write out what stands innermost")
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
	return piece{text: word, column: tag.column + utf8.RuneCountInString(before)}
}

// stand opens or closes a block in place of one whose tag was wrong, so that the other end of it is not a second
// mistake.
func (p *parser) stand(kind string, end bool, at int, text piece) {
	last := p.open[len(p.open)-1]
	switch {
	case !end && len(p.open) <= 2*MaxNesting:
		p.open = append(p.open, &block{at: p.stands(at, text), kind: kind, wrong: true})
	case end && len(p.open) > 1 && (last.kind == kind || last.wrong || p.guessEnd(kind) == last.kind):
		p.open = p.open[:len(p.open)-1]
	}
}

// within tells whether a block of a kind is open.
func (p *parser) within(kind string) bool {
	return slices.ContainsFunc(p.open[1:], func(b *block) bool { return b.kind == kind })
}

// close ends the block that was opened last.
func (p *parser) close(at int, text piece, kind string, rest []string, remark string) {
	last := p.open[len(p.open)-1]
	if len(rest) > 0 {
		p.add(at, text.column, text.length(), fmt.Sprintf("</%s> has no number", kind),
			fmt.Sprintf("write </%s> alone", kind))
	}
	switch {
	case len(p.open) == 1:
		p.add(at, text.column, text.length(), fmt.Sprintf("</%s> closes nothing", kind),
			fmt.Sprintf("a block begins with %s on a line before", tagForms[kind]))
		return
	case last.kind != kind && last.wrong && !p.within(kind):
		p.open = p.open[:len(p.open)-1] // what it was meant to be
		return
	case last.kind != kind:
		p.add(at, text.column, text.length(), fmt.Sprintf("</%s> comes before </%s>, which closes line %d", kind,
			last.kind, last.at.line), "blocks are closed in turn, the last one first")
		// The one that is meant is closed together with those in it, so that their ends are not taken for more
		// mistakes.
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
