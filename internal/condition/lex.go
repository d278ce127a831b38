package condition

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenName             // backquoted, or bare and no keyword
	tokenWord             // a keyword, in lower case
	tokenValue            // a literal
	tokenSymbol           // an operator or punctuation
)

type token struct {
	kind   tokenKind
	offset int
	end    int
	text   string        // the name, keyword or symbol
	quoted bool          // a name that stood between backquotes
	value  message.Value // of a literal
}

// keywords cannot be names unless backquoted. The words that only mean something in one place (date, timestamp, escape,
// unknown, and the functions) can.
var keywords = map[string]bool{
	"and": true, "or": true, "xor": true, "not": true, "is": true, "in": true, "between": true, "like": true,
	"div": true, "mod": true, "null": true, "true": true, "false": true,
}

// symbols by length: the longest that fits is taken.
var symbols = [...]string{"<=>", "<<", ">>", "<=", ">=", "<>", "!=", "==", "&&", "||",
	"=", "<", ">", "!", "+", "-", "*", "/", "%", "&", "|", "^", "~", "(", ")", ","}

type lexer struct {
	text string
	pos  int
}

func (l *lexer) errorf(offset int, hint, format string, args ...any) *Error {
	return newError(l.text, offset, hint, format, args...)
}

func (l *lexer) next() (token, *Error) {
	for l.pos < len(l.text) && strings.IndexByte(" \t\r\n\f\v", l.text[l.pos]) >= 0 {
		l.pos++
	}
	start := l.pos
	t, err := l.scan()
	t.offset, t.end = start, l.pos
	return t, err
}

func (l *lexer) scan() (token, *Error) {
	if l.pos == len(l.text) {
		return token{kind: tokenEnd}, nil
	}
	c := l.text[l.pos]
	switch {
	case isDigit(c), c == '.' && l.pos+1 < len(l.text) && isDigit(l.text[l.pos+1]):
		return l.number()
	case c == '\'' || c == '"':
		return l.quotedString()
	case c == '`':
		return l.quotedName()
	case (c == 'x' || c == 'X') && strings.HasPrefix(l.text[l.pos+1:], "'"):
		return l.hexBytes()
	}
	if n := nameLength(l.text[l.pos:]); n > 0 {
		word := l.text[l.pos : l.pos+n]
		l.pos += n
		if lower := strings.ToLower(word); keywords[lower] {
			return token{kind: tokenWord, text: lower}, nil
		}
		return token{kind: tokenName, text: word}, nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.text[l.pos:], s) {
			l.pos += len(s)
			return token{kind: tokenSymbol, text: s}, nil
		}
	}
	r, _ := utf8.DecodeRuneInString(l.text[l.pos:])
	hint := ""
	switch r {
	case '‘', '’', '“', '”':
		hint = "strings stand between straight quotes: '…'"
	case ';':
		hint = "a condition is one expression and ends without a semicolon"
	}
	return token{}, l.errorf(l.pos, hint, "unexpected character %q", r)
}

// nameLength tells how many bytes of s are a bare name.
func nameLength(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case r == '_' || r == '$' || unicode.IsLetter(r) && r != utf8.RuneError:
		case n > 0 && (unicode.IsDigit(r) || unicode.IsMark(r)):
		case n > 0 && r == '.' && nameContinues(s[n+1:]):
		default:
			return n
		}
		n += size
	}
	return n
}

// nameContinues tells whether a dot before s is inside a name, rather than after it.
func nameContinues(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || r == '$' || unicode.IsDigit(r) || unicode.IsLetter(r) && r != utf8.RuneError
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (l *lexer) digits() int {
	start := l.pos
	for l.pos < len(l.text) && isDigit(l.text[l.pos]) {
		l.pos++
	}
	return l.pos - start
}

func (l *lexer) number() (token, *Error) {
	start := l.pos
	rest := l.text[start:]
	if len(rest) > 1 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X') {
		return l.hexInteger()
	}
	l.digits()
	exact, whole := true, true
	if l.pos < len(l.text) && l.text[l.pos] == '.' {
		whole = false
		l.pos++
		if l.digits() == 0 {
			return token{}, l.errorf(l.pos, "write 1.0 or 1", "digits are missing after the decimal point")
		}
	}
	if l.pos < len(l.text) && (l.text[l.pos] == 'e' || l.text[l.pos] == 'E') {
		exact, whole = false, false
		l.pos++
		if l.pos < len(l.text) && (l.text[l.pos] == '+' || l.text[l.pos] == '-') {
			l.pos++
		}
		if l.digits() == 0 {
			return token{}, l.errorf(l.pos, "", "digits are missing in the exponent")
		}
	}
	if nameContinues(l.text[l.pos:]) {
		return token{}, l.errorf(start, "a name that begins with a digit stands between backquotes",
			"a number runs into a name")
	}
	text := l.text[start:l.pos]
	switch {
	case !exact:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(f, 0) {
			return token{}, l.errorf(start, "", "the number %s is too large for a float", shorten(text))
		}
		return token{kind: tokenValue, value: message.Float(f)}, nil
	case whole && len(text) > 1 && text[0] == '0':
		u, err := strconv.ParseUint(text, 8, 64)
		if err != nil {
			return token{}, l.errorf(start, "a leading 0 makes a number octal", "%s is no octal number of 64 bits",
				shorten(text))
		}
		return token{kind: tokenValue, value: message.Uint(u)}, nil
	case whole:
		if u, err := strconv.ParseUint(text, 10, 64); err == nil {
			return token{kind: tokenValue, value: message.Uint(u)}, nil
		}
	}
	text = tidyDecimal(text)
	if len(text)-strings.Count(text, ".") > maxDigits {
		return token{}, l.errorf(start, "", "the number %s has more than %d digits", shorten(text), maxDigits)
	}
	return token{kind: tokenValue, value: message.Decimal(text)}, nil
}

// tidyDecimal gives an unsigned decimal text exactly the leading zeros it needs: 00.5 and .5 become 0.5.
func tidyDecimal(text string) string {
	text = strings.TrimLeft(text, "0")
	if text == "" || text[0] == '.' {
		return "0" + text
	}
	return text
}

func (l *lexer) hexInteger() (token, *Error) {
	start := l.pos
	l.pos += 2
	for l.pos < len(l.text) && strings.IndexByte("0123456789abcdefABCDEF", l.text[l.pos]) >= 0 {
		l.pos++
	}
	u, err := strconv.ParseUint(l.text[start+2:l.pos], 16, 64)
	if err != nil || nameContinues(l.text[l.pos:]) {
		return token{}, l.errorf(start, "bytes are written x'00ff'", "this is no hexadecimal number of 64 bits")
	}
	return token{kind: tokenValue, value: message.Uint(u)}, nil
}

func (l *lexer) hexBytes() (token, *Error) {
	start := l.pos
	body, _, closed := strings.Cut(l.text[l.pos+2:], "'")
	if !closed {
		return token{}, l.errorf(start, "", "the bytes that begin here have no closing quote")
	}
	b, err := hex.DecodeString(body)
	if err != nil {
		return token{}, l.errorf(start, "two hexadecimal digits a byte, as in x'00ff'",
			"these are no hexadecimal bytes")
	}
	l.pos += 2 + len(body) + 1
	return token{kind: tokenValue, value: message.Bytes(b)}, nil
}

func (l *lexer) quotedName() (token, *Error) {
	start := l.pos
	var b strings.Builder
	for l.pos++; l.pos < len(l.text); l.pos++ {
		c := l.text[l.pos]
		if c == '`' {
			if !strings.HasPrefix(l.text[l.pos+1:], "`") {
				l.pos++
				if b.Len() == 0 {
					return token{}, l.errorf(start, "", "a name is empty")
				}
				return token{kind: tokenName, text: b.String(), quoted: true}, nil
			}
			l.pos++
		}
		b.WriteByte(c)
	}
	return token{}, l.errorf(start, "", "the name that begins here has no closing backquote")
}

// quotedString reads a string with MySQL's escapes: a doubled quote, and backslash with 0 b n r t Z; \% and \_ keep
// their backslash (they mean something to like), any other character after a backslash is itself.
func (l *lexer) quotedString() (token, *Error) {
	start, quote := l.pos, l.text[l.pos]
	var b strings.Builder
	for l.pos++; l.pos < len(l.text); l.pos++ {
		switch c := l.text[l.pos]; {
		case c == quote:
			if l.pos+1 == len(l.text) || l.text[l.pos+1] != quote {
				l.pos++
				return token{kind: tokenValue, value: message.String(b.String())}, nil
			}
			l.pos++
			b.WriteByte(c)
		case c == '\\' && l.pos+1 < len(l.text):
			l.pos++
			b.WriteString(unescape(l.text[l.pos : l.pos+1]))
		default:
			b.WriteByte(c)
		}
	}
	return token{}, l.errorf(start, "", "the string that begins here has no closing %c", quote)
}

func unescape(c string) string {
	switch c {
	case "0":
		return "\x00"
	case "b":
		return "\b"
	case "n":
		return "\n"
	case "r":
		return "\r"
	case "t":
		return "\t"
	case "Z":
		return "\x1a"
	case "%", "_":
		return `\` + c
	default:
		return c
	}
}

// shorten cuts a text to what fits an error message.
func shorten(s string) string { return message.Shorten(s, 40) }
