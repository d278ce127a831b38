package condition

import (
	"strings"
	"unicode/utf8"
)

// pattern is a like pattern: literal pieces between wildcards.
type pattern struct {
	parts []part
}

// part is one element of a pattern: any run of characters, one character, or a literal.
type part struct {
	kind    partKind
	literal string
}

type partKind uint8

const (
	literalPart partKind = iota
	onePart              // _
	anyPart              // %
)

// compilePattern reads a pattern. An escape character makes the character after it literal; at the very end it stands for itself.
func compilePattern(text, escape string) *pattern {
	p := &pattern{}
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			p.parts = append(p.parts, part{literal: literal.String()})
			literal.Reset()
		}
	}
	for len(text) > 0 {
		if escape != "" && strings.HasPrefix(text, escape) && len(text) > len(escape) {
			text = text[len(escape):]
			_, size := utf8.DecodeRuneInString(text)
			literal.WriteString(text[:size])
			text = text[size:]
			continue
		}
		switch text[0] {
		case '%':
			flush()
			if n := len(p.parts); n == 0 || p.parts[n-1].kind != anyPart {
				p.parts = append(p.parts, part{kind: anyPart})
			}
		case '_':
			flush()
			p.parts = append(p.parts, part{kind: onePart})
		default:
			literal.WriteByte(text[0])
		}
		text = text[1:]
	}
	flush()
	return p
}

// match tells whether the whole of s fits the pattern. It takes at most len(s) times the pattern's length steps: only the
// last % passed needs to be tried again, an earlier one could not do better.
func (p *pattern) match(s string) bool {
	i, at := 0, 0             // next part, next byte
	backPart, backAt := -1, 0 // the last % and how far it reaches
	for {
		if i < len(p.parts) {
			switch q := p.parts[i]; {
			case q.kind == anyPart:
				i++
				skip := p.skip(i, s[at:])
				if skip < 0 {
					return false
				}
				at += skip
				backPart, backAt = i, at
				continue
			case q.kind == onePart && at < len(s):
				_, size := utf8.DecodeRuneInString(s[at:])
				i, at = i+1, at+size
				continue
			case q.kind == literalPart && strings.HasPrefix(s[at:], q.literal):
				i, at = i+1, at+len(q.literal)
				continue
			}
		} else if at == len(s) {
			return true
		}
		if backPart < 0 || backAt >= len(s) {
			return false
		}
		_, size := utf8.DecodeRuneInString(s[backAt:])
		skip := p.skip(backPart, s[backAt+size:])
		if skip < 0 {
			return false
		}
		backAt += size + skip
		i, at = backPart, backAt
	}
}

// skip is how many bytes of s a % before part i has to take at least; negative when the part fits nowhere in s.
func (p *pattern) skip(i int, s string) int {
	if i < len(p.parts) && p.parts[i].kind == literalPart {
		return strings.Index(s, p.parts[i].literal)
	}
	return 0
}

// prefix is the literal text that every match begins with; rest tells what may follow it.
func (p *pattern) prefix() (text string, rest patternRest) {
	parts := p.parts
	if len(parts) > 0 && parts[0].kind == literalPart {
		text, parts = parts[0].literal, parts[1:]
	}
	switch {
	case len(parts) == 0:
		return text, restNothing
	case len(parts) == 1 && parts[0].kind == anyPart:
		return text, restAnything
	default:
		return text, restPattern
	}
}

type patternRest uint8

const (
	restNothing patternRest = iota
	restAnything
	restPattern
)
