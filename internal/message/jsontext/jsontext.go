// Package jsontext replaces the escapes of JSON strings, and writes them, for readers and writers of JSON of our own.
// It reads them as encoding/json does: half of a surrogate pair is U+FFFD. jsontexttest holds all readers to that.
package jsontext

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrEscape is why a string has no text.
var ErrEscape = errors.New("has an escape that JSON does not know")

// Escape is the length of the escape that s begins with, of one half of a surrogate pair alone; 0: it begins with none.
func Escape[T string | []byte](s T) int {
	if len(s) < 2 || s[0] != '\\' {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := Hex(s[2:]); ok {
			return 6
		}
	}
	return 0
}

// Append appends the text of what stands between a string's quotes to dst. dst may be the beginning of raw: no text is
// longer than what it is written as. The error is ErrEscape or nil; with it Append returns what came before.
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
				low := rune(0)
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					low, _ = Hex(raw[2:]) // what is no number is met in the next round
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					raw = raw[6:]
				}
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
