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
// \. It looks at sixteen at a time, which have to be sliced first: with one check of the bounds the compiler makes one
// load of eight bytes.
func Ordinary[T string | []byte](data T) int {
	n := 0
	for ; n+16 <= len(data); n += 16 {
		b := data[n : n+16]
		one := special(uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56)
		other := special(uint64(b[8]) | uint64(b[9])<<8 | uint64(b[10])<<16 | uint64(b[11])<<24 |
			uint64(b[12])<<32 | uint64(b[13])<<40 | uint64(b[14])<<48 | uint64(b[15])<<56)
		switch {
		case one|other == 0:
		case one != 0:
			return n + bits.TrailingZeros64(one)/8
		default:
			return n + 8 + bits.TrailingZeros64(other)/8
		}
	}
	for ; n < len(data); n++ {
		if c := data[n]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return n
}

// special marks the first byte of a word, seen from the lowest, that is less than a space, a quote or a backslash: its
// top bit is set. Taking a space away from such a byte borrows, and so does taking one away from a difference of zero;
// a byte with its top bit set is none of them. A borrow can mark a byte behind a marked one, never one before.
func special(word uint64) uint64 {
	return ((word - spaces) | ((word ^ quotes) - each) | ((word ^ slashes) - each)) &^ word & tops
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
