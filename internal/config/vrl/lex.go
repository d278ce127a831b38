package vrl

import (
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	end     kind = iota
	newline      // or ;
	ident        // also keywords
	number
	text    // its text is the string's meaning
	pattern // r'…'
	moment  // t'…'
	symbol  // operators and brackets
)

type token struct {
	kind   kind
	text   string
	spaced bool // white space stands before it
	at     int
}

// symbols, the long ones first.
var symbols = []string{"->", "|=", "??", "==", "!=", "<=", ">=", "&&", "||", ".", "[", "]", "(", ")", "{", "}", ",",
	":", "=", "<", ">", "+", "-", "*", "/", "!", "|", "@", "%"}

// lex takes a program apart. What it does not know becomes a symbol of its own, which the parser refuses.
func lex(src string) []token {
	var tokens []token
	spaced := false
	for i := 0; i < len(src); {
		add := func(k kind, text string, next int) {
			tokens = append(tokens, token{k, text, spaced, i})
			i, spaced = next, false
		}
		c := src[i]
		switch {
		case c == '\n' || c == ';':
			add(newline, "", i+1)
		case c == ' ' || c == '\t' || c == '\r' || c == '\\' && strings.HasPrefix(src[i+1:], "\n"):
			if c == '\\' {
				i++
			}
			i++
			spaced = true
		case c == '#':
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case c == '"':
			s, next := quoted(src, i+1)
			add(text, s, next)
		case (c == 'r' || c == 's' || c == 't') && strings.HasPrefix(src[i+1:], "'"):
			s, next := raw(src, i+2)
			add(map[byte]kind{'r': pattern, 's': text, 't': moment}[c], s, next)
		case c >= '0' && c <= '9':
			j := i
			for j < len(src) && (src[j] >= '0' && src[j] <= '9' || src[j] == '_' || src[j] == '.' && j+1 < len(src) &&
				src[j+1] >= '0' && src[j+1] <= '9') {
				j++
			}
			add(number, strings.ReplaceAll(src[i:j], "_", ""), j)
		case letter(c):
			j := i
			for j < len(src) && (letter(src[j]) || src[j] >= '0' && src[j] <= '9') {
				j++
			}
			add(ident, src[i:j], j)
		default:
			s := ""
			for _, known := range symbols {
				if strings.HasPrefix(src[i:], known) {
					s = known
					break
				}
			}
			if s == "" {
				_, size := utf8.DecodeRuneInString(src[i:])
				s = src[i : i+size]
			}
			add(symbol, s, i+len(s))
		}
	}
	return append(tokens, token{kind: end, at: len(src)})
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// quoted reads a string in double quotes; i is behind the first.
func quoted(src string, i int) (string, int) {
	var b strings.Builder
	for ; i < len(src) && src[i] != '"'; i++ {
		if src[i] != '\\' || i+1 == len(src) {
			b.WriteByte(src[i])
			continue
		}
		i++
		switch src[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case '0':
			b.WriteByte(0)
		case '\n': // the line goes on
			for i+1 < len(src) && (src[i+1] == ' ' || src[i+1] == '\t') {
				i++
			}
		default:
			b.WriteByte(src[i])
		}
	}
	return b.String(), min(i+1, len(src))
}

// raw reads a string in single quotes; only a single quote is escaped in it.
func raw(src string, i int) (string, int) {
	var b strings.Builder
	for ; i < len(src) && src[i] != '\''; i++ {
		if src[i] == '\\' && i+1 < len(src) && src[i+1] == '\'' {
			i++
		}
		b.WriteByte(src[i])
	}
	return b.String(), min(i+1, len(src))
}
