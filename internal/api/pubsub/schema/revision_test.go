package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
)

// follows checks whether a definition may follow another: words are "" if it may, else a part of what the error says.
func follows(t *testing.T, k schema.Kind, last, next, words string) {
	t.Helper()
	err := schema.CheckRevision(compile(t, k, last), compile(t, k, next))
	var wrong *schema.RevisionError
	switch {
	case words == "" && err != nil:
		t.Errorf("%s\nmay not become\n%s\n%v", last, next, err)
	case words != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), words)):
		t.Errorf("%s\nmay become\n%s\n%v, wanted %q", last, next, err, words)
	}
}

func TestRevisionsInProtocolBuffers(t *testing.T) {
	for _, c := range []struct{ last, next, words string }{
		{`string a = 1;`, `string a = 1;`, ""},
		{`string a = 1;`, `string a = 1; int32 b = 2; optional int32 c = 3;`, ""},
		{`string a = 1; int32 b = 2;`, `string a = 1;`, ""},
		{`string a = 1;`, `int64 z = 9;`, ""},
		{`string a = 1;`, `string b = 1;`, "a (1): its name was a and is b"},
		{`string a = 1;`, `bytes a = 1;`, "a (1): its type was string and is bytes"},
		{`string a = 1;`, `repeated string a = 1;`, "its label was optional and is repeated"},
		{`string a = 1;`, `optional string a = 1;`, "its presence was implicit and is explicit"},
		{`string a = 1;`, `oneof o { string a = 1; }`, "its presence was implicit"},
		{`optional string a = 1;`, `oneof o { string a = 1; }`, "its oneof was none and is o"},
		{`string a = 1;`, `string a = 1 [json_name = "x"];`, "its JSON name was a and is x"},
		{`repeated int32 a = 1;`, `repeated int32 a = 1 [packed = false];`, "its encoding was packed"},
		{`repeated string a = 1; string b = 2;`, `string b = 2;`, "a (1): it is removed, and is repeated"},
		{`string b = 2;`, `repeated string a = 1; string b = 2;`, "a (1): it is new, and is repeated"},
		{`map<string, int32> a = 1;`, `map<string, int32> a = 1;`, ""},
		{`map<string, int32> a = 1;`, `map<string, int64> a = 1;`, "a.value (2): its type was int32 and is int64"},
		{`string b = 2;`, `map<string, int32> a = 1; string b = 2;`, "a (1): it is new"},
		{`message N { string x = 1; } N n = 1;`, `message N { string x = 1; string y = 2; } N n = 1;`, ""},
		{`message N { string x = 1; } N n = 1;`, `message N { bytes x = 1; } N n = 1;`, "n.x (1): its type"},
		{`message N { string x = 1; } N n = 1;`, `message O { string x = 1; } O n = 1;`,
			"n (1): its type was .N and is .O"},
		{`message N { N n = 1; string x = 2; } N n = 1;`, `message N { N n = 1; int32 x = 2; } N n = 1;`, "n.x (2)"},
		{`enum E { A = 0; } E e = 1;`, `enum E { A = 0; B = 1; } E e = 1;`, ""},
		{`enum E { A = 0; B = 1; } E e = 1;`, `enum E { A = 0; } E e = 1;`, "the value B = 1 of its enum is removed"},
		{`enum E { A = 0; B = 1; } E e = 1;`, `enum E { A = 0; B = 2; } E e = 1;`, "the value B = 1"},
	} {
		const begin, end = "syntax = \"proto3\"; message M { ", " }"
		follows(t, schema.Protobuf, begin+c.last+end, begin+c.next+end, c.words)
	}
	for _, c := range []struct{ last, next, words string }{
		{`message M { optional int32 a = 1; }`, `message Renamed { optional int32 a = 1; }`, ""},
		{`message M { message N {} optional N a = 1; }`,
			`package p; message Renamed { message N {} optional N a = 1; }`, ""},
		{`message M { optional int32 a = 1; required int32 b = 2; }`, `message M { optional int32 a = 1; }`,
			"b (2): it is removed, and is required"},
		{`message M { optional int32 a = 1; }`, `message M { optional int32 a = 1; required int32 b = 2; }`,
			"b (2): it is new, and is required"},
		{`message M { optional int32 a = 1; }`, `message M { optional int32 a = 1 [default = 5]; }`,
			"its default was 0 and is 5"},
	} {
		follows(t, schema.Protobuf, c.last, c.next, c.words)
	}
}

func TestRevisionsInAvro(t *testing.T) {
	for _, c := range []struct{ last, next, words string }{
		{`{"name": "a", "type": "int"}`, `{"name": "a", "type": "int"}`, ""},
		{`{"name": "a", "type": "int"}`, `{"name": "a", "type": "int"}, {"name": "b", "type": "int", "default": 0}`,
			""},
		{`{"name": "a", "type": "int"}, {"name": "b", "type": "int", "default": 0}`, `{"name": "a", "type": "int"}`,
			""},
		{`{"name": "a", "type": "int"}`, `{"name": "a", "type": "int"}, {"name": "b", "type": "int"}`,
			"the new definition cannot read"},
		{`{"name": "a", "type": "int"}, {"name": "b", "type": "int"}`, `{"name": "a", "type": "int"}`,
			"the last definition cannot read"},
		{`{"name": "a", "type": "int"}`, `{"name": "a", "type": "string"}`, "cannot read"},
		{`{"name": "a", "type": "int"}`, `{"name": "a", "type": ["null", "int"]}`, "the last definition cannot read"},
		{`{"name": "a", "type": "string"}`, `{"name": "a", "type": "bytes"}`, ""},
		{`{"name": "a", "type": "int"}`, `{"name": "b", "type": "int", "aliases": ["a"]}`,
			"the last definition cannot read"},
		{`{"name": "a", "type": "int"}`, `{"name": "a", "type": "long"}`, "a: the last definition cannot read " +
			"messages of the new one: a long cannot be read as an int"},
		{`{"name": "a", "type": ["null", "int", "string"]}`, `{"name": "a", "type": ["string", "int", "null"]}`, ""},
		{`{"name": "a", "type": ["null", "int"]}`, `{"name": "a", "type": ["null", "int", "string"]}`,
			"no branch of the union can hold a string"},
		{`{"name": "a", "type": {"type": "array", "items": "int"}}`,
			`{"name": "a", "type": {"type": "array", "items": "null"}}`, "a.[]: the new"},
		{`{"name": "a", "type": {"type": "map", "values": "int"}}`,
			`{"name": "a", "type": {"type": "map", "values": "null"}}`, "a.{}: the new"},
		{`{"name": "a", "type": {"type": "fixed", "name": "F", "size": 2}}`,
			`{"name": "a", "type": {"type": "fixed", "name": "F", "size": 3}}`, "a: the new"},
		{`{"name": "a", "type": {"type": "enum", "name": "E", "symbols": ["A"]}}`,
			`{"name": "a", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}}`,
			`a: the last definition cannot read messages of the new one: "B" is no symbol`},
		{`{"name": "a", "type": {"type": "enum", "name": "E", "symbols": ["A"], "default": "A"}}`,
			`{"name": "a", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"], "default": "A"}}`, ""},
		{`{"name": "a", "type": ["null", "R"]}, {"name": "b", "type": "int"}`,
			`{"name": "a", "type": ["null", "R"]}, {"name": "b", "type": "null"}`, "b: the new"},
		{`{"name": "a", "type": {"type": "record", "name": "S", "namespace": "x", "fields": []}}`,
			`{"name": "a", "type": {"type": "record", "name": "S", "namespace": "y", "fields": []}}`, ""},
		{`{"name": "a", "type": ["null", "R"]}`,
			`{"name": "a", "type": ["null", "R"]}, {"name": "b", "type": "int", "default": 0}`, ""},
	} {
		const begin, end = `{"type": "record", "name": "R", "fields": [`, `]}`
		follows(t, schema.Avro, begin+c.last+end, begin+c.next+end, c.words)
	}
	follows(t, schema.Avro, `{"type": "record", "name": "R", "fields": []}`,
		`{"type": "record", "name": "S", "fields": []}`, "cannot read")
}

// What takes the library minutes: it compares each of many branches with each, by their texts.
func TestTheLargestDefinitionsAreCompared(t *testing.T) {
	var union, enum strings.Builder
	union.WriteString(`{"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null"`)
	for i := range 5000 {
		fmt.Fprintf(&union, `, {"type": "fixed", "name": "F%d", "size": 1}`, i)
	}
	enum.WriteString(`{"type": "enum", "name": "E", "symbols": ["A"`)
	for i := range 20000 {
		fmt.Fprintf(&enum, `, "B%d"`, i)
	}
	follows(t, schema.Avro, union.String()+`]}]}`, union.String()+`]}]}`, "")
	follows(t, schema.Avro, union.String()+`]}]}`, strings.ReplaceAll(union.String(), `"F`, `"G`)+`]}]}`,
		"no branch of the union can hold a fixed F0")
	follows(t, schema.Avro, enum.String()+`]}`, enum.String()+`]}`, "")
}

func TestARevisionCannotChangeTheLanguage(t *testing.T) {
	err := schema.CheckRevision(compile(t, schema.Avro, product), compile(t, schema.Protobuf, order))
	if err == nil || !strings.Contains(err.Error(), "cannot be in Protocol Buffers") {
		t.Error(err)
	}
}
