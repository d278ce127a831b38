package short

import (
	"strconv"
	"strings"
)

// A Kind says what a literal was written as.
type Kind uint8

const (
	Null        Kind = iota // NULL
	String                  // '…' or "…"
	Integer                 // 12, -12: at most 20 digits, so it may exceed every integer type
	Decimal                 // 1.50, -0.5: at most 65 digits
	Hex                     // x'4A', 0x4A: bytes, which MySQL takes for a number where one is wanted
	Placeholder             // ?
)

// String is the kind's name, for messages and tests.
func (k Kind) String() string {
	switch k {
	case Null:
		return "NULL"
	case String:
		return "string"
	case Integer:
		return "integer"
	case Decimal:
		return "decimal"
	case Hex:
		return "hex"
	case Placeholder:
		return "placeholder"
	}
	return "no kind"
}

// A Value is one literal or placeholder. The zero Value is NULL.
type Value struct {
	raw   string // what stands between the quotes; digits with their sign; hex digits
	index uint16 // of a placeholder
	Kind  Kind
	quote byte // of a string that holds escapes or doubled quotes; 0: raw is the string
}

// Text is the value's text. A String: its bytes, decoded, which need not be valid UTF-8. An Integer or a Decimal: its
// digits as they were written, with a leading - and with leading zeros. Hex: the bytes that the digits stand for. Null
// and Placeholder: "".
//
// It allocates only for a String that holds escapes and for Hex; each call does so again.
func (v Value) Text() string {
	switch {
	case v.Kind == Hex:
		return string(v.Append(make([]byte, 0, (len(v.raw)+1)/2)))
	case v.quote != 0:
		return string(v.Append(make([]byte, 0, len(v.raw))))
	}
	return v.raw
}

// Append adds the bytes of Text to dst and returns the longer slice. It allocates only where dst has too little room.
func (v Value) Append(dst []byte) []byte {
	switch {
	case v.Kind == Hex:
		return appendHex(dst, v.raw)
	case v.quote != 0:
		return appendEscaped(dst, v.raw, v.quote)
	}
	return append(dst, v.raw...)
}

// Size is an upper bound of the bytes that Append adds.
func (v Value) Size() int {
	if v.Kind == Hex {
		return (len(v.raw) + 1) / 2
	}
	return len(v.raw)
}

// Int is an Integer's value. It is false for other kinds and for an integer beyond 64 bits with sign.
func (v Value) Int() (int64, bool) {
	if v.Kind != Integer {
		return 0, false
	}
	n, err := strconv.ParseInt(v.raw, 10, 64)
	return n, err == nil
}

// Index is which of the statement's placeholders this is, counted from 0 in the order of the text. It is 0 for other
// kinds.
func (v Value) Index() int { return int(v.index) }

// appendEscaped decodes what stood between two quotes. A backslash there is always followed by a byte, and a quote of
// the same sort by another one: the literal has been read already.
func appendEscaped(dst []byte, raw string, quote byte) []byte {
	stops := `\'`
	if quote == '"' {
		stops = `\"`
	}
	for {
		i := strings.IndexAny(raw, stops)
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		if raw[i] == '\\' {
			dst = append(dst, escaped(raw[i+1]))
		} else {
			dst = append(dst, quote)
		}
		raw = raw[i+2:]
	}
}

// escaped is what a backslash and b stand for.
func escaped(b byte) byte {
	switch b {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26 // Windows takes it for the end of a file, so MySQL has an escape for it
	}
	return b
}

// appendHex decodes hex digits. An odd number of them is read as if a 0 stood before.
func appendHex(dst []byte, digits string) []byte {
	if len(digits)%2 == 1 {
		dst = append(dst, hexDigit(digits[0]))
		digits = digits[1:]
	}
	for i := 0; i < len(digits); i += 2 {
		dst = append(dst, hexDigit(digits[i])<<4|hexDigit(digits[i+1]))
	}
	return dst
}

// hexDigit is a hex digit's value, and 16 for another byte.
func hexDigit(b byte) byte {
	switch {
	case '0' <= b && b <= '9':
		return b - '0'
	case 'a' <= b && b <= 'f':
		return b - 'a' + 10
	case 'A' <= b && b <= 'F':
		return b - 'A' + 10
	}
	return 16
}
