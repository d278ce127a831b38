package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// A Field is one field of a protocol buffer.
type Field struct {
	Num   protowire.Number
	Type  protowire.Type
	Int   uint64 // of varints and of fixed-size numbers
	Bytes []byte // of what has a length; it points into what was read
}

// Fields calls each for the fields of a message, in their order, and ends early with its error. Groups, which no
// service uses, are malformed.
func Fields(b []byte, each func(Field) error) error {
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			return malformed("a broken field of a message: %v", protowire.ParseError(n))
		}
		b = b[n:]
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// next reads the first field and returns how long it is; less than 0 is protowire's error.
func next(b []byte) (Field, int) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return Field{}, n
	}
	f := Field{Num: num, Type: typ}
	var m int
	switch typ {
	case protowire.VarintType:
		f.Int, m = protowire.ConsumeVarint(b[n:])
	case protowire.Fixed32Type:
		var v uint32
		v, m = protowire.ConsumeFixed32(b[n:])
		f.Int = uint64(v)
	case protowire.Fixed64Type:
		f.Int, m = protowire.ConsumeFixed64(b[n:])
	case protowire.BytesType:
		f.Bytes, m = protowire.ConsumeBytes(b[n:])
	default:
		m = protowire.ConsumeFieldValue(num, typ, b[n:])
		if m >= 0 {
			return Field{}, -1
		}
	}
	if m < 0 {
		return Field{}, m
	}
	return f, n + m
}

// String is the field's text.
func (f Field) String() string { return string(f.Bytes) }

// Message is the bytes of a message in the field; another kind of field is malformed.
func (f Field) Message() ([]byte, error) {
	if f.Type != protowire.BytesType {
		return nil, malformed("field %d is no message", f.Num)
	}
	return f.Bytes, nil
}

// Text appends a field of bytes or text, unless it is empty.
func Text[T string | []byte](b []byte, num protowire.Number, v T) []byte {
	if len(v) == 0 {
		return b
	}
	return Always(b, num, v)
}

// Always appends a field of bytes, text or an encoded message, even an empty one.
func Always[T string | []byte](b []byte, num protowire.Number, v T) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(v)))
	return append(b, v...)
}

// Uint appends a field with a whole number, unless it is 0.
func Uint(b []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = protowire.AppendTag(b, num, protowire.VarintType)
	return protowire.AppendVarint(b, v)
}

// Bool appends a field with a truth value, unless it is false.
func Bool(b []byte, num protowire.Number, v bool) []byte {
	if !v {
		return b
	}
	return Uint(b, num, 1)
}

// Nested appends a field with a message that fill appends. It needs no second buffer: the length is written before the
// message when that is known.
func Nested(b []byte, num protowire.Number, fill func([]byte) []byte) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return Delimited(b, fill)
}

// Delimited appends a message after its length.
func Delimited(b []byte, fill func([]byte) []byte) []byte {
	start := len(b)
	b = append(b, 0)
	return EndDelimited(fill(b), start+1)
}

// EndDelimited writes the length of a message that begins at start, after a byte for that length. Nearly all messages
// are shorter than 128 bytes; a longer one is moved.
func EndDelimited(b []byte, start int) []byte {
	if n := len(b) - start; n < 0x80 {
		b[start-1] = byte(n)
		return b
	}
	return endLong(b, start)
}

func endLong(b []byte, start int) []byte {
	n := len(b) - start
	more := protowire.SizeVarint(uint64(n)) - 1
	b = append(b, make([]byte, more)...)
	copy(b[start+more:], b[start:start+n])
	protowire.AppendVarint(b[:start-1], uint64(n))
	return b
}

// CutDelimited takes a message that stands after its length from the front of b.
func CutDelimited(b []byte) (message, rest []byte, err error) {
	message, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return nil, nil, malformed("a message without its length: %v", protowire.ParseError(n))
	}
	return message, b[n:], nil
}
