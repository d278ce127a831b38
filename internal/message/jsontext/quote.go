package jsontext

import "math/bits"

const (
	each    = 0x0101010101010101
	tops    = 0x8080808080808080
	quotes  = each * '"'
	slashes = each * '\\'
	spaces  = each * ' '
)

// Ordinary counts the bytes at the beginning that stand in a JSON string as they are: all but control characters, " and
// \. It looks at eight at a time.
func Ordinary[T string | []byte](data T) int {
	n := 0
	for ; n+8 <= len(data); n += 8 {
		word := uint64(data[n]) | uint64(data[n+1])<<8 | uint64(data[n+2])<<16 | uint64(data[n+3])<<24 |
			uint64(data[n+4])<<32 | uint64(data[n+5])<<40 | uint64(data[n+6])<<48 | uint64(data[n+7])<<56
		// The top bit of a byte becomes set where the byte is special: less than a space, because taking a space away
		// borrows; a quote or a backslash, because the difference is zero. A borrow can mark a byte behind a marked
		// one, never one before.
		q, b := word^quotes, word^slashes
		if marked := ((word-spaces)&^word | (q-each)&^q | (b-each)&^b) & tops; marked != 0 {
			return n + bits.TrailingZeros64(marked)/8
		}
	}
	for ; n < len(data); n++ {
		if c := data[n]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return n
}

// AppendQuoted appends a text as a JSON string. The text has to be valid UTF-8.
func AppendQuoted[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	for {
		n := Ordinary(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return append(dst, '"')
		}
		dst = AppendEscape(dst, text[n])
		text = text[n+1:]
	}
}

// AppendEscape appends what stands in a JSON string for a quote, a backslash or a control character.
func AppendEscape(dst []byte, c byte) []byte {
	const hexadecimal = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexadecimal[c>>4], hexadecimal[c&15])
}
