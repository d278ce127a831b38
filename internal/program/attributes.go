package program

import (
	"math"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Attributes appends a message's attributes as an object. It is an Append of a Variable.
func Attributes(dst []byte, m *message.Message) (_ []byte, ok bool) {
	dst = append(dst, '{')
	for i := range m.Attributes {
		a := &m.Attributes[i]
		if i > 0 {
			if a.Name <= m.Attributes[i-1].Name { // they are ordered
				return dst, false
			}
			dst = append(dst, ',')
		}
		if !utf8.ValidString(a.Name) {
			return dst, false
		}
		dst = append(appendQuoted(dst, a.Name), ':')
		if dst, ok = appendAttribute(dst, a.Value); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

// Attribute appends a message's attribute of that name. It is a Field of a Variable.
func Attribute(dst []byte, m *message.Message, name string) (_ []byte, ok bool) {
	if v, ok := m.Attributes.Get(name); ok {
		return appendAttribute(dst, v)
	}
	return append(dst, "null"...), true
}

// Quoted appends a string; ok is false when it is not valid UTF-8.
func Quoted(dst []byte, text string) (_ []byte, ok bool) {
	if !utf8.ValidString(text) {
		return dst, false
	}
	return appendQuoted(dst, text), true
}

// appendAttribute appends an attribute's value: numbers with all their digits, base64 of bytes, RFC 3339 of times.
func appendAttribute(dst []byte, v message.Value) (_ []byte, ok bool) {
	switch v.Kind() {
	case message.KindNull:
		return append(dst, "null"...), true
	case message.KindBool:
		if v.AsBool() {
			return append(dst, "true"...), true
		}
		return append(dst, "false"...), true
	case message.KindInt, message.KindUint, message.KindDecimal:
		text := v.Text()
		return append(dst, text...), isNumber(text)
	case message.KindFloat:
		return appendFloat(dst, v.AsFloat())
	default:
		return Quoted(dst, v.Text())
	}
}

// isNumber tells whether a text is a number of JSON.
func isNumber(text string) bool {
	r := reader{tape: &tape{text: []byte(text)}}
	return r.number() && r.pos == len(text)
}

// appendFloat appends a number whose digits, read again, are the same number for everything that jq does with it.
func appendFloat(dst []byte, f float64) (_ []byte, ok bool) {
	if a := math.Abs(f); math.Signbit(f) && f == 0 || f != 0 && a < 1e-6 || !(a < 1e15) {
		return dst, false
	}
	text, err := gojq.Marshal(f)
	return append(dst, text...), err == nil
}
