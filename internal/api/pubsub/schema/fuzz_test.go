package schema_test

import (
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
)

// fuzz compiles a definition and lets it check a message: neither may panic or hang, and errors are of their types.
func fuzz(t *testing.T, k schema.Kind, definition string, message []byte) {
	s, err := schema.Compile(k, definition)
	if err != nil {
		var wrong *schema.DefinitionError
		if !errors.As(err, &wrong) || wrong.Message == "" {
			t.Fatalf("%q: %#v", definition, err)
		}
		return
	}
	for _, e := range []schema.Encoding{schema.JSON, schema.Binary} {
		var wrong *schema.MessageError
		if err := s.Validate(message, e); err != nil && (!errors.As(err, &wrong) || wrong.Message == "") {
			t.Fatalf("%q: %q: %#v", definition, message, err)
		}
	}
	if err := schema.CheckRevision(s, s); err != nil {
		t.Fatalf("%q cannot follow itself: %v", definition, err)
	}
}

func FuzzAvro(f *testing.F) {
	f.Add(product, []byte(goodProduct))
	f.Add(`{"type": "record", "name": "List", "fields": [{"name": "next", "type": ["null", "List"]}]}`,
		[]byte("\x02\x02\x00"))
	f.Add(`{"type": "array", "items": {"type": "fixed", "name": "F", "size": 0}}`, []byte("\x01\x00\x00"))
	f.Add(`{"type": "map", "values": "bytes"}`, []byte("\x02\x02a\x02b\x00"))
	f.Add(`"double"`, []byte(`5`))
	f.Fuzz(func(t *testing.T, definition string, message []byte) { fuzz(t, schema.Avro, definition, message) })
}

func FuzzProtobuf(f *testing.F) {
	f.Add(order, []byte(`{"id": "x", "items": [{"name": "tea"}]}`))
	f.Add(`message M { required int32 a = 1; optional group G = 2 { optional M m = 3; } }`, []byte("\x08\x01\x13\x14"))
	f.Add(`syntax = "proto3"; message M { map<string, M> m = 1; reserved 4 to 9; option deprecated = true; }`,
		[]byte("\x0a\x03\x0a\x01a"))
	f.Fuzz(func(t *testing.T, definition string, message []byte) { fuzz(t, schema.Protobuf, definition, message) })
}
