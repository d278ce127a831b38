package sql

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A SyntaxError tells what the text is not.
type SyntaxError struct {
	Offset int // bytes
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("syntax error at offset %d: %s", e.Offset, e.Reason)
}

type kind uint8

const (
	end kind = iota
	word
	quoted // a name in quotes
	number
	text
	param
	sign
)

type token struct {
	kind   kind
	text   string // of words as they stand; of names and texts without their quotes
	offset int
}

// is tells whether the token is a word or a sign.
func (t token) is(s string) bool {
	return t.kind == word && strings.EqualFold(t.text, s) || t.kind == sign && t.text == s
}

// lex cuts the text into tokens; the last is an end.
func lex(src string) ([]token, error) {
	var tokens []token
	for i := 0; ; {
		i += blank(src[i:])
		if i >= len(src) {
			return append(tokens, token{end, "", len(src)}), nil
		}
		t, n, err := next(src[i:])
		if err != nil {
			return nil, &SyntaxError{i, err.Error()}
		}
		t.offset = i
		tokens = append(tokens, t)
		i += n
	}
}

// blank is the length of what stands before the next token.
func blank(s string) int {
	i := 0
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], "--"):
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 {
				return len(s)
			}
			i += n + 1
		case strings.HasPrefix(s[i:], "/*"):
			n := strings.Index(s[i+2:], "*/")
			if n < 0 {
				return len(s)
			}
			i += n + 4
		case strings.IndexByte(" \t\r\n", s[i]) >= 0:
			i++
		default:
			return i
		}
	}
	return i
}

func next(s string) (token, int, error) {
	c, size := utf8.DecodeRuneInString(s)
	switch {
	case c == '\'':
		body, n, err := inQuotes(s, '\'')
		return token{kind: text, text: body}, n, err
	case c == '"':
		body, n, err := inQuotes(s, '"')
		return token{kind: quoted, text: body}, n, err
	case c >= '0' && c <= '9' || c == '.' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
		n := numberLength(s)
		return token{kind: number, text: s[:n]}, n, nil
	case letter(c):
		n := nameLength(s)
		return token{kind: word, text: s[:n]}, n, nil
	case c == ':':
		n := nameLength(s[1:])
		if n == 0 {
			return token{}, 0, fmt.Errorf("a placeholder has a name behind its colon")
		}
		return token{kind: param, text: s[1 : 1+n]}, n + 1, nil
	}
	for _, op := range []string{"<=", ">=", "<>", "!=", "||"} {
		if strings.HasPrefix(s, op) {
			return token{kind: sign, text: op}, 2, nil
		}
	}
	if strings.ContainsRune("(),;=<>+-*/.", c) {
		return token{kind: sign, text: s[:size]}, size, nil
	}
	return token{}, 0, fmt.Errorf("%q is unexpected", c)
}

func letter(c rune) bool { return c == '_' || unicode.IsLetter(c) && c != utf8.RuneError }

func nameLength(s string) int {
	for i, c := range s {
		if !letter(c) && (i == 0 && !unicode.IsDigit(c) || !unicode.IsDigit(c) && c != '$') {
			return i
		}
	}
	return len(s)
}

func numberLength(s string) int {
	i := 0
	digits := func() {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
	}
	digits()
	if i < len(s) && s[i] == '.' {
		i++
		digits()
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		mark := i
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		from := i
		digits()
		if i == from {
			return mark
		}
	}
	return i
}

// inQuotes reads what stands in quotes, where two of them mean one.
func inQuotes(s string, quote byte) (string, int, error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			b.WriteByte(quote)
			i++
			continue
		}
		return b.String(), i + 1, nil
	}
	return "", 0, fmt.Errorf("%c has no end", quote)
}
