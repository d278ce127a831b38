package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
)

func TestADefinitionIsKeptAsItWasWritten(t *testing.T) {
	for k, text := range map[schema.Kind]string{schema.Avro: product, schema.Protobuf: order} {
		if s := compile(t, k, text); s.Kind() != k || s.Definition() != text {
			t.Errorf("%v", s)
		}
	}
}

func TestEverythingThatASchemaMayHaveCompiles(t *testing.T) {
	for _, text := range []string{`"string"`, ` {"type": "long", "logicalType": "timestamp-millis"} `,
		`{"type": "array", "items": "int"}`,
		`{"type": "record", "name": "Empty", "fields": []}`,
		`{"type": "record", "name": "List", "fields": [{"name": "next", "type": ["null", "List"]}]}`,
		`{"type": "record", "name": "R", "fields": [{"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}}]}`,
	} {
		compile(t, schema.Avro, text)
	}
	for _, text := range []string{
		`syntax = "proto2"; message M { required int32 a = 1; optional string b = 2 [default = "x"]; repeated int32 c = 3 [packed = true]; }`,
		`message M { optional int32 a = 1; }`,
		`syntax = "proto3"; option java_package = "x"; message M { message N { M m = 1; } N n = 1; reserved 2, 3; }`,
		order,
	} {
		compile(t, schema.Protobuf, text)
	}
}

func TestAWrongDefinitionIsRefusedAtItsPlace(t *testing.T) {
	const proto3 = "syntax = \"proto3\";\n"
	for _, c := range []struct {
		kind         schema.Kind
		text         string
		line, column int
		words        string
	}{
		{schema.Avro, "", 0, 0, "empty"},
		{schema.Avro, " ", 1, 2, "no JSON"},
		{schema.Avro, "{\n  \"type\": \"record\",,\n}", 2, 20, "no JSON"},
		{schema.Avro, `{"type": "record"`, 1, 18, "no JSON"},
		{schema.Avro, `string`, 1, 1, "no JSON"},
		{schema.Avro, "\"string\"\n \"int\"", 2, 2, "more than one"},
		{schema.Avro, `["null", "string"]`, 1, 1, "union"},
		{schema.Avro, `5`, 0, 0, "unknown type"},
		{schema.Avro, `"strong"`, 0, 0, "strong"},
		{schema.Avro, `{"type": "record", "name": "R"}`, 0, 0, "fields"},
		{schema.Avro, `{"type": "record", "name": "R", "fields": [{"name": "a", "type": "Other"}]}`, 0, 0, "Other"},
		{schema.Avro, `{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "a", "type": "int"}]}`, 0, 0, "duplicate"},
		{schema.Avro, `{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "default": "x"}]}`, 0, 0,
			"default"},
		{schema.Avro, `{"type": "record", "name": "R", "fields": [{"name": "a", "type": ["int", "int"]}]}`, 0, 0,
			"unique"},
		{schema.Avro, `{"type": "record", "name": "R", "fields": [{"name": "a", "type": []}]}`, 0, 0, "no types"},
		{schema.Avro, `{"type": "fixed", "name": "F", "size": -1}`, 0, 0, "negative"},
		{schema.Avro, `{"type": "enum", "name": "E", "symbols": []}`, 0, 0, "symbol"},
		{schema.Avro, strings.Repeat("[", 1000), 1, 201, "nested deeper"},
		{schema.Avro, "\"\xff\"", 0, 0, "UTF-8"},

		{schema.Protobuf, "", 0, 0, "empty"},
		{schema.Protobuf, "\n", 2, 1, "no message"},
		{schema.Protobuf, proto3 + "message M {\n  strin a = 1;\n}", 3, 3, "strin"},
		{schema.Protobuf, proto3 + "message M {\n  string a;\n}", 3, 3, "missing field tag"},
		{schema.Protobuf, proto3 + "message M { string a = 1; string b = 1; }", 2, 38, "tag 1"},
		{schema.Protobuf, proto3 + "message M { required string a = 1; }", 2, 13, "required"},
		{schema.Protobuf, proto3 + "message M {}\nmessage N {}", 3, 1, "second message"},
		{schema.Protobuf, proto3 + "enum E { A = 0; }\nmessage M { E e = 1; }", 2, 1, "enum"},
		{schema.Protobuf, proto3 + "message M {}\nservice S {}", 3, 1, "service"},
		{schema.Protobuf, "message M { extensions 100 to 200; }\nextend M { optional int32 a = 100; }", 2, 1,
			"extensions"},
		{schema.Protobuf, proto3 + "import \"google/protobuf/timestamp.proto\";\nmessage M { " +
			"google.protobuf.Timestamp t = 1; }", 2, 1, "imports"},
		{schema.Protobuf, "edition = \"2023\";\nmessage M {}", 1, 1, "editions"},
		{schema.Protobuf, "syntax = \"proto4\";\nmessage M {}", 1, 10, "syntax value"},
		{schema.Protobuf, proto3 + "message M { google.protobuf.Timestamp t = 1; }", 2, 13,
			"google.protobuf.Timestamp"},
		{schema.Protobuf, proto3 + strings.Repeat("message M{", 1000), 2, 2010, "nested deeper"},
		{schema.Protobuf, "{}", 1, 1, "unexpected"},

		{schema.Avro, `"` + strings.Repeat("x", schema.MaxDefinitionBytes) + `"`, 0, 0,
			fmt.Sprintf("at most %d", schema.MaxDefinitionBytes)},
		{schema.Kind(7), "x", 0, 0, "kind 7"},
	} {
		_, err := schema.Compile(c.kind, c.text)
		var wrong *schema.DefinitionError
		if !errors.As(err, &wrong) {
			t.Errorf("%.80s compiles: %v", c.text, err)
			continue
		}
		if wrong.Line != c.line || wrong.Column != c.column || !strings.Contains(wrong.Message, c.words) {
			t.Errorf("%.80s: %v\nwanted %q in line %d, column %d", c.text, err, c.words, c.line, c.column)
		}
		if strings.Contains(err.Error(), "schema.proto") || strings.Contains(err.Error(), "avro:") {
			t.Errorf("%v", err)
		}
	}
}

func TestOneDefinitionKnowsNothingOfAnother(t *testing.T) {
	compile(t, schema.Avro, `{"type": "enum", "name": "Known", "symbols": ["A"]}`)
	if _, err := schema.Compile(schema.Avro, `{"type": "array", "items": "Known"}`); err == nil {
		t.Error("a type of another definition is known")
	}
	compile(t, schema.Avro, `{"type": "enum", "name": "Known", "symbols": ["B"]}`)
	compile(t, schema.Protobuf, order)
	compile(t, schema.Protobuf, order)
}
