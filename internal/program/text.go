package program

import "github.com/hikyaku/hikyaku/internal/message/jsontext"

// appendPlain appends what the inside of a read string means.
func appendPlain(dst, inside []byte) []byte {
	dst, _ = jsontext.Append(dst, inside) // its escapes are known
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
