package filter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// simpleEscapes are those of one character.
var simpleEscapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
	'"': '"', '\'': '\'', '\\': '\\', '?': '?'}

const wantEscape = `one of \" \' \\ \? \a \b \f \n \r \t \v, or \ooo, \xhh, \uhhhh, \Uhhhhhhhh`

// quoted reads a string, the parser being at its opening quote.
func (p *parser) quoted() (string, *Error) {
	start := p.pos
	var b strings.Builder
	for p.pos++; p.pos < len(p.text); {
		switch c := p.text[p.pos]; c {
		case '"':
			p.pos++
			if !utf8.ValidString(b.String()) {
				return "", p.wrong(start, "the bytes of this string are not valid UTF-8", "",
					`a character is written \uhhhh`)
			}
			return b.String(), nil
		case '\\':
			if err := p.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	return "", p.wrong(start, "the string that begins here has no end", `a closing "`, "")
}

// escape reads one escape sequence, the parser being at its backslash.
func (p *parser) escape(b *strings.Builder) *Error {
	rest := p.text[p.pos+1:]
	if rest == "" {
		p.pos++
		return p.unexpected(wantEscape, "")
	}
	if c, ok := simpleEscapes[rest[0]]; ok {
		b.WriteByte(c)
		p.pos += 2
		return nil
	}
	switch rest[0] {
	case 'x', 'X':
		return p.number(b, 2, 2, 16)
	case 'u':
		return p.number(b, 2, 4, 16)
	case 'U':
		return p.number(b, 2, 8, 16)
	case '0', '1', '2', '3':
		return p.number(b, 1, 3, 8)
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return p.wrong(p.pos, fmt.Sprintf("unknown escape sequence \\%c", r), wantEscape, `a backslash is written \\`)
}

// number reads an escape sequence of so many digits, which begin skip bytes behind the backslash. Two or three digits
// are a byte, more are a character.
func (p *parser) number(b *strings.Builder, skip, digits, base int) *Error {
	name := map[int]string{8: "octal", 16: "hexadecimal"}[base]
	end := p.pos + skip
	for end < len(p.text) && end < p.pos+skip+digits && isDigit(p.text[end], base) {
		end++
	}
	if end < p.pos+skip+digits {
		p.pos = end
		return p.unexpected(fmt.Sprintf("%s digits, %d in all", name, digits), "")
	}
	n, err := strconv.ParseUint(p.text[p.pos+skip:end], base, 32)
	if digits <= 3 && err == nil {
		b.WriteByte(byte(n)) // \377 at most: the first octal digit is 0 to 3
		p.pos = end
		return nil
	}
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return p.wrong(p.pos, fmt.Sprintf("%s is no character", p.text[p.pos:end]), "", "")
	}
	b.WriteRune(rune(n))
	p.pos = end
	return nil
}

func isDigit(c byte, base int) bool {
	if base == 8 {
		return c >= '0' && c <= '7'
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
