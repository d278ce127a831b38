package schema

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// About what a value takes while a message is looked at, and what each byte of a message takes beside that. A value
// inside of binary protobuf may be as short as two bytes.
const (
	valueBytes  = 128
	textCopies  = 4
	nestedBytes = 96
)

// Cost is about how many bytes of memory Validate takes with data: many short values take many times their length.
func (s *Schema) Cost(data []byte, e Encoding) int64 {
	switch {
	case e == JSON:
		return valueBytes*jsonValues(data) + textCopies*int64(len(data))
	case s.kind == Protobuf:
		return s.protobuf.cost(data)
	}
	return int64(len(data)) // Avro's binary form is looked at as it is
}

// jsonValues is how many values, names among them, a text in JSON has at most.
func jsonValues(data []byte) (n int64) {
	n = 1
	text := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			text = !text
		case text && c == '\\':
			i++
		case !text && (c == ',' || c == ':' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// cost counts the values of the message's own fields, and takes what is within others to be as short as it can be.
func (t *protobufType) cost(data []byte) (bytes int64) {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeField(data)
		if n < 0 {
			return bytes + nestedBytes*int64(len(data)) // Validate says what is wrong with it
		}
		bytes += valueBytes + textCopies*int64(n)
		field := t.message.Fields().ByNumber(number)
		if field != nil && (kind == protowire.BytesType || kind == protowire.StartGroupType) &&
			field.Kind() != protoreflect.StringKind && field.Kind() != protoreflect.BytesKind {
			bytes += nestedBytes * int64(n)
		}
		data = data[n:]
	}
	return bytes
}
