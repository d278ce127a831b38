package schema

import (
	"fmt"
	"unicode/utf8"
)

// Kind is the language of a definition.
type Kind uint8

// The kinds.
const (
	Avro Kind = iota + 1
	Protobuf
)

func (k Kind) String() string {
	switch k {
	case Avro:
		return "Avro"
	case Protobuf:
		return "Protocol Buffers"
	default:
		return fmt.Sprintf("kind %d", uint8(k))
	}
}

// Encoding is the form of a message.
type Encoding uint8

// The encodings.
const (
	JSON Encoding = iota + 1
	Binary
)

func (e Encoding) String() string {
	switch e {
	case JSON:
		return "JSON"
	case Binary:
		return "binary"
	default:
		return fmt.Sprintf("encoding %d", uint8(e))
	}
}

// Schema is a compiled definition. It is immutable and may be shared between goroutines.
type Schema struct {
	kind       Kind
	definition string
	avro       *avroType     // of the kind Avro
	protobuf   *protobufType // of the kind Protobuf
	size       int64
}

// Kind is the language of the definition.
func (s *Schema) Kind() Kind { return s.kind }

// Definition is the text as it was given to Compile.
func (s *Schema) Definition() string { return s.definition }

// Compile reads a definition. The error is a *DefinitionError.
func Compile(k Kind, definition string) (*Schema, error) {
	s := &Schema{kind: k, definition: definition}
	switch {
	case k != Avro && k != Protobuf:
		return nil, &DefinitionError{Message: fmt.Sprintf("%s is not known; Avro and Protocol Buffers are", k)}
	case definition == "":
		return nil, &DefinitionError{Message: "the definition is empty"}
	case len(definition) > MaxDefinitionBytes:
		return nil, &DefinitionError{Message: fmt.Sprintf("the definition has %d bytes, and at most %d are allowed",
			len(definition), MaxDefinitionBytes)}
	case !utf8.ValidString(definition):
		return nil, &DefinitionError{Message: "the definition is not valid UTF-8"}
	}
	var err *DefinitionError
	if k == Avro {
		s.avro, err = compileAvro(definition)
	} else {
		s.protobuf, err = compileProtobuf(definition)
	}
	if err != nil {
		return nil, err
	}
	s.size = s.measure()
	return s, nil
}

// Validate tells whether data is one message of the schema. The error is a *MessageError. It keeps nothing of data.
func (s *Schema) Validate(data []byte, e Encoding) error {
	var err *MessageError
	switch {
	case e != JSON && e != Binary:
		err = wrong("%s is not known; JSON and binary are", e)
	case s.kind == Avro && e == JSON:
		err = s.avro.validateJSON(data)
	case s.kind == Avro:
		err = s.avro.validateBinary(data)
	case e == JSON:
		err = s.protobuf.validateJSON(data)
	default:
		err = s.protobuf.validateBinary(data)
	}
	if err != nil {
		return err
	}
	return nil
}

// CheckRevision tells whether next may follow last as a revision of one schema. The error is a *RevisionError.
func CheckRevision(last, next *Schema) error {
	if last.kind != next.kind {
		return &RevisionError{Message: fmt.Sprintf("the schema is in %s, and a revision cannot be in %s", last.kind,
			next.kind)}
	}
	var err *RevisionError
	if last.kind == Avro {
		err = checkAvroRevision(last.avro, next.avro)
	} else {
		err = checkProtobufRevision(last.protobuf, next.protobuf)
	}
	if err != nil {
		return err
	}
	return nil
}
