// Package jsontext replaces the escapes of JSON strings, for readers of JSON of our own. Half of a surrogate pair is an
// error: who shall take it for U+FFFD has encoding/json.
package jsontext

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// Why a string has no text.
var (
	ErrEscape    = errors.New("has an escape that JSON does not know")
	ErrSurrogate = errors.New("has half of a surrogate pair, which is no character")
)

// Append appends the text of what stands between a string's quotes to dst. dst may be the beginning of raw: no text is
// longer than what it is written as. With an error it returns what came before.
func Append(dst, raw []byte) ([]byte, error) {
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			return append(dst, raw...), nil
		}
		dst = append(dst, raw[:n]...)
		raw = raw[n+1:]
		if len(raw) == 0 {
			return dst, ErrEscape
		}
		c := raw[0]
		raw = raw[1:]
		switch c {
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, ok := Hex(raw)
			if !ok {
				return dst, ErrEscape
			}
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					low, ok = Hex(raw[2:])
				}
				if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
					return dst, ErrSurrogate
				}
				raw = raw[6:]
			}
			dst = utf8.AppendRune(dst, r)
		default:
			return dst, ErrEscape
		}
	}
}

// Hex reads the four digits behind \u.
func Hex[T string | []byte](s T) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		c := s[i]
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
