package schema

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// About what a value takes while a message is looked at, and what each byte of a message takes beside that. A value
// inside of binary protobuf may be as short as two bytes.
const (
	valueBytes  = 128
	textCopies  = 4
	nestedBytes = 96
)

// About what compiling takes for each word and sign of a definition, or value in Avro, and for each byte.
const (
	tokenBytes   = 512
	textCompiled = 16
)

// CompileCost is about how many bytes of memory Compile takes with a definition, by what is in it: comments cost
// little.
func CompileCost(k Kind, definition string) int64 {
	definition = definition[:min(len(definition), MaxDefinitionBytes)] // what is longer is refused
	tokens := protobufTokens(definition)
	if k == Avro {
		tokens, _ = jsontext.Values(definition)
	}
	return tokenBytes*tokens + textCompiled*int64(len(definition))
}

// Cost is about how many bytes of memory Validate takes with data: many short values take many times their length.
func (s *Schema) Cost(data []byte, e Encoding) int64 {
	switch {
	case e == JSON:
		values, _ := jsontext.Values(data)
		return valueBytes*values + textCopies*int64(len(data))
	case s.kind == Protobuf:
		return s.protobuf.cost(data)
	}
	return int64(len(data)) // Avro's binary form is looked at as it is
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

// protobufTokens is about how many words, numbers and signs a definition in Protocol Buffers has, and texts and
// comments, each as one.
func protobufTokens(definition string) (n int64) {
	word := false
	for i := 0; i < len(definition); i++ {
		c := definition[i]
		was := word
		word = c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
		switch {
		case word:
			if !was {
				n++
			}
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case c == '"' || c == '\'':
			for i++; i < len(definition) && definition[i] != c && definition[i] != '\n'; i++ {
				if definition[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(definition) && definition[i+1] == '/':
			for i++; i+1 < len(definition) && definition[i+1] != '\n'; i++ {
			}
		case c == '/' && i+1 < len(definition) && definition[i+1] == '*':
			if end := strings.Index(definition[i+2:], "*/"); end >= 0 {
				i += end + 3
			} else {
				i = len(definition)
			}
		}
		n++
	}
	return n
}
