package program

import (
	"unicode/utf16"
	"unicode/utf8"
)

// escapeLength is the length of the escape at the beginning of b, of both halves of a surrogate pair together. 0: it is
// none, or half a pair, which readers take in different ways.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		r, ok := hexRune(b)
		switch {
		case !ok:
			return 0
		case !utf16.IsSurrogate(r):
			return 6
		}
		if low, ok := hexRune(b[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return 12
		}
	}
	return 0
}

// hexRune reads an escape with four hexadecimal digits.
func hexRune(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendPlain appends what the inside of a read string means.
func appendPlain(dst, inside []byte) []byte {
	for i := 0; i < len(inside); {
		c := inside[i]
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		n := escapeLength(inside[i:])
		switch e := inside[i+1]; e {
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
			r, _ := hexRune(inside[i:])
			if n == 12 {
				low, _ := hexRune(inside[i+6:])
				r = utf16.DecodeRune(r, low)
			}
			dst = utf8.AppendRune(dst, r)
		default: // " \ /
			dst = append(dst, e)
		}
		i += n
	}
	return dst
}

// appendEscaped appends valid UTF-8 as jq writes it between quotes.
func appendEscaped[T string | []byte](dst []byte, text T) []byte {
	start := 0
	for i := range len(text) {
		c := text[i]
		if classes[c] != special {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, text[start:]...)
}

// appendQuoted appends valid UTF-8 as a string.
func appendQuoted[T string | []byte](dst []byte, text T) []byte {
	return append(appendEscaped(append(dst, '"'), text), '"')
}
