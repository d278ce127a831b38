package schema

import (
	"google.golang.org/protobuf/reflect/protoreflect"
)

// About what the parts of a compiled definition take in memory beside their names, when they have been used.
const (
	messageBytes = 1100
	fieldBytes   = 640
	oneofBytes   = 420
	enumBytes    = 700
	symbolBytes  = 260
	typeBytes    = 176 // of Avro
	memberBytes  = 128 // a field, a branch or a symbol of Avro
)

// Size is about how many bytes of memory the schema takes, by what it was compiled to.
func (s *Schema) Size() int64 { return s.size }

// measure is Size when the schema has just been made.
func (s *Schema) measure() int64 {
	n := int64(len(s.definition)) + typeBytes
	if s.kind == Avro {
		s.avro.measure(&n, map[*avroType]bool{})
	} else {
		measure(&n, s.protobuf.message)
	}
	return n
}

// measure adds what a message takes, with all that is declared in it.
func measure(n *int64, m protoreflect.MessageDescriptor) {
	*n += messageBytes + int64(len(m.FullName()))
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		*n += fieldBytes + int64(len(f.FullName())+len(f.JSONName()))
	}
	*n += int64(16 * (m.ReservedRanges().Len() + m.ExtensionRanges().Len() + m.ReservedNames().Len()))
	for i := range m.Oneofs().Len() {
		*n += oneofBytes + int64(len(m.Oneofs().Get(i).FullName()))
	}
	for i := range m.Enums().Len() {
		e := m.Enums().Get(i)
		*n += enumBytes + int64(len(e.FullName()))
		for j := range e.Values().Len() {
			*n += symbolBytes + int64(len(e.Values().Get(j).FullName()))
		}
	}
	for i := range m.Messages().Len() {
		measure(n, m.Messages().Get(i))
	}
}

// measure adds what the type takes, with those that it is made of. Each is counted once.
func (t *avroType) measure(n *int64, seen map[*avroType]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	*n += typeBytes + int64(len(t.name))
	for _, a := range t.aliases {
		*n += int64(len(a)) + 16
	}
	for _, f := range t.fields {
		*n += memberBytes + int64(len(f.name))
		for _, a := range f.aliases {
			*n += int64(len(a)) + 16
		}
		f.of.measure(n, seen)
	}
	t.items.measure(n, seen)
	for _, o := range t.options {
		*n += memberBytes
		o.measure(n, seen)
	}
	for symbol := range t.symbols {
		*n += memberBytes + int64(len(symbol))
	}
}
