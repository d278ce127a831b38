package message

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// columnLiteral is a literal in a column definition.
type columnLiteral struct {
	text   string
	quoted bool
	bytes  bool
	null   bool
}

// value is the literal as a value to convert to a column of type t.
func (l columnLiteral) value(t ColumnType) Value {
	switch {
	case l.bytes, l.quoted && t.IsBytes():
		return Bytes([]byte(l.text))
	case l.quoted:
		return String(l.text)
	}
	if i, err := strconv.ParseInt(l.text, 10, 64); err == nil {
		return Int(i)
	}
	if u, err := strconv.ParseUint(l.text, 10, 64); err == nil {
		return Uint(u)
	}
	if isPlainDecimal(l.text) {
		return Decimal(l.text)
	}
	if f, err := strconv.ParseFloat(l.text, 64); err == nil {
		return Float(f)
	}
	return String(l.text)
}

// literal reads null, true, false, a number, a string in quotes or x'…'.
func (p *columnParser) literal() (columnLiteral, error) {
	p.skipBlanks()
	rest := p.text[p.pos:]
	switch {
	case rest == "":
		return columnLiteral{}, fmt.Errorf("a value is wanted")
	case rest[0] == '\'' || rest[0] == '"':
		s, n, ok := unquoteSQL(rest)
		if !ok {
			return columnLiteral{}, fmt.Errorf("the string has no closing quote")
		}
		if !utf8.ValidString(s) {
			return columnLiteral{}, fmt.Errorf("the string is not valid UTF-8; write bytes as x'…'")
		}
		p.pos += n
		return columnLiteral{text: s, quoted: true}, nil
	case len(rest) > 1 && rest[0]|0x20 == 'x' && rest[1] == '\'':
		digits, _, closed := strings.Cut(rest[2:], "'")
		b, err := hex.DecodeString(digits)
		if err != nil || !closed {
			return columnLiteral{}, fmt.Errorf("bytes are written with two hexadecimal digits each, as in x'00ff'")
		}
		p.pos += len(digits) + 3
		return columnLiteral{text: string(b), bytes: true}, nil
	}
	end := strings.IndexAny(rest, " \t\r\n,")
	if end < 0 {
		end = len(rest)
	}
	word := strings.ToLower(rest[:end])
	switch word {
	case "null":
		p.pos += end
		return columnLiteral{null: true}, nil
	case "true":
		p.pos += end
		return columnLiteral{text: "1"}, nil
	case "false":
		p.pos += end
		return columnLiteral{text: "0"}, nil
	}
	if !isNumberText(word) {
		return columnLiteral{}, fmt.Errorf("the value %q is not understood: a default is a number, a string in "+
			"quotes, x'…' or null", shorten(rest[:end]))
	}
	p.pos += end
	return columnLiteral{text: word}, nil
}

// unquoteSQL reads a string or name in quotes of the kind it begins with, and tells how long it is in the text. In
// names only the doubled quote is special.
func unquoteSQL(s string) (text string, n int, ok bool) {
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote && (i+1 == len(s) || s[i+1] != quote):
			return b.String(), i + 1, true
		case c == quote:
			i++
			b.WriteByte(c)
		case c == '\\' && quote != '`' && i+1 < len(s):
			i++
			if at := strings.IndexByte("0bnrtZ", s[i]); at >= 0 {
				b.WriteByte("\x00\b\n\r\t\x1a"[at])
			} else {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

var sqlEscapes = strings.NewReplacer(`\`, `\\`, "'", "''", "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`)

// SQL writes a value as a literal of SQL, as ParseColumn reads it.
func (v Value) SQL() string {
	switch v.Kind() {
	case KindNull:
		return "null"
	case KindBytes:
		return "x'" + hex.EncodeToString([]byte(v.AsString())) + "'"
	case KindString:
		return "'" + sqlEscapes.Replace(v.AsString()) + "'"
	case KindTime:
		return "'" + v.AsTime().Format("2006-01-02 15:04:05.999999") + "'"
	default:
		return v.Text()
	}
}

// isNumberText tells whether s is a number in decimal digits with at most a sign, a point and an exponent.
func isNumberText(s string) bool {
	mantissa, exponent, has := strings.Cut(strings.ToLower(s), "e")
	if has {
		exponent = strings.TrimLeft(exponent[:min(1, len(exponent))], "+-") + exponent[min(1, len(exponent)):]
		if exponent == "" || strings.Trim(exponent, "0123456789") != "" {
			return false
		}
	}
	return isPlainDecimal(strings.TrimPrefix(mantissa, "+"))
}

// isPlainDecimal tells whether s is a number as the values of KindDecimal are written: a sign only if negative, digits,
// and perhaps a point among or before them.
func isPlainDecimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, fraction, _ := strings.Cut(s, ".")
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	return whole+fraction != "" && digits(whole) && digits(fraction)
}
