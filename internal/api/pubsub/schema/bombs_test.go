package schema

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestRevisionsAreComparedInBoundedSteps: of lists in unions in lists, whose last ones differ, and of many records that
// go by one name without its namespace.
func TestRevisionsAreComparedInBoundedSteps(t *testing.T) {
	nested := func(last string) string {
		const levels = 90
		return `{"type": "array", "items": ` + strings.Repeat(`["null", {"type": "array", "items": `, levels) + last +
			strings.Repeat("}]", levels) + "}"
	}
	namesakes := func(space string, last bool) string { // the last one first, or not
		var b strings.Builder
		b.WriteString(`{"type": "array", "items": ["null"`)
		const most = 3000
		for n := range most {
			if last {
				n = most - 1 - n
			}
			fmt.Fprintf(&b, `, {"type": "record", "name": "%s%d.R", "fields": [{"name": "f%d", "type": "int"}]}`,
				space, n, n)
		}
		return b.String() + "]}"
	}
	for name, c := range map[string][2]string{
		"nested":    {nested(`"int"`), nested(`"boolean"`)},
		"namesakes": {namesakes("a", false), namesakes("b", true)},
	} {
		if err := CheckRevision(mustBe(t, Avro, c[0]), mustBe(t, Avro, c[1])); err == nil {
			t.Errorf("%s: they are taken", name)
		}
	}
	many := namesakes("a", false)
	if err := CheckRevision(mustBe(t, Avro, many), mustBe(t, Avro, many)); err != nil {
		t.Errorf("the same: %v", err)
	}
}

// many is a definition of n fields of the shortest messages.
func many(n int) string {
	var b strings.Builder
	b.WriteString(`syntax = "proto3"; message M {`)
	for i := range n {
		fmt.Fprintf(&b, "M f%d=%d;", i, i+1)
	}
	return b.String() + "}"
}

// TestAFieldIsFoundAtOnce: a message has a million of them, and its definition may have many thousands, too.
func TestAFieldIsFoundAtOnce(t *testing.T) {
	const fields = 15_000
	s := mustBe(t, Protobuf, many(fields))
	field := protowire.AppendBytes(protowire.AppendTag(nil, fields, protowire.BytesType), nil)
	if err := s.Validate(bytes.Repeat(field, 1_000_000), Binary); err != nil {
		t.Error(err)
	}
}

// numbered is a text of n parts, each with its number.
func numbered(n int, part string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(part, "#", strconv.Itoa(i+1)))
	}
	return b.String()
}

// TestNoDefinitionBecomesMuchMoreThanItIs: names are repeated in all that is nested in what they name, and the compiler
// looks at each oneof beside each field, and for each reserved name at the line that it is in.
func TestNoDefinitionBecomesMuchMoreThanItIs(t *testing.T) {
	const proto3, proto2 = `syntax = "proto3"; `, `syntax = "proto2"; `
	long, inner := strings.Repeat("n", 50_000), numbered(5000, "message M#{}")
	for name, c := range map[string]struct {
		kind       Kind
		definition string
	}{
		"messages":  {Protobuf, proto3 + "message M { message " + long + "{" + inner + "}}"},
		"a package": {Protobuf, proto3 + "package " + long + "; message M {" + numbered(5000, "enum E#{V#=0;}") + "}"},
		"a group":   {Protobuf, proto2 + "message M { optional group G" + long + "=1{" + inner + "}}"},
		"levels": {Protobuf, proto3 + strings.Repeat("message M"+long[:400]+"{", 20) + inner +
			strings.Repeat("}", 20)},
		"in a oneof": {Protobuf, proto2 + "message M { oneof o { group G" + long + "=1{" + inner + "}}}"},
		"an enum":    {Protobuf, proto3 + "message M { enum " + long + "{ A = 0; } }"},
		"a value":    {Protobuf, proto3 + "message M { enum E { " + long + " = 0; } }"},
		"a field":    {Protobuf, proto3 + "message M { int32 " + long + " = 1; }"},
		"a map":      {Protobuf, proto3 + "message M { map<int32, int32> " + long + " = 1; }"},
		"a oneof":    {Protobuf, proto3 + "message M { oneof " + long + "{ int32 a = 1; } }"},
		"oneofs":     {Protobuf, proto3 + "message M {" + numbered(9000, "oneof o#{int32 f#=#;}") + "}"},
		"optional":   {Protobuf, proto3 + "message M {" + numbered(9000, "optional M f#=#;") + "}"},
		"reserved":   {Protobuf, proto3 + `message M { reserved "a"` + numbered(20_000, `,"f#"`) + "; }"},
		"in an enum": {Protobuf, proto3 + `message M { enum E { A = 0; reserved "a"` + numbered(20_000, `,"f#"`) +
			"; } }"},
		"a namespace": {Avro, `{"type": "record", "name": "R", "namespace": "` + long + `", "fields": [` +
			numbered(3000, `{"name": "f#", "type": {"type": "fixed", "size": 1, "name": "F#"}},`) +
			`{"name": "f", "type": "int"}]}`},
		"an Avro name": {Avro, `{"type": "fixed", "size": 1, "name": "` + long + `"}`},
		"an alias":     {Avro, `{"type": "fixed", "size": 1, "name": "R", "aliases": ["` + long + `"]}`},
	} {
		if _, err := Compile(c.kind, c.definition); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	for name, c := range map[string]struct {
		kind       Kind
		definition string
	}{
		"messages": {Protobuf, proto3 + "message M {" + numbered(5000, "message M#{M m=1;}") + "}"},
		"oneofs":   {Protobuf, proto3 + "message M {" + numbered(2000, "oneof o#{int32 f#=#;}") + "}"},
		"required": {Protobuf, proto2 + "message M {" + numbered(9000, "optional M f#=#;") + "}"},
		"reserved": {Protobuf, proto3 + `message M { reserved "a"` + numbered(1999, `,"f#"`) + "; }"},
		"defaults": {Avro, `{"type": "record", "name": "R", "fields": [{"name": "f", "type": {"type": "map", ` +
			`"values": "string"}, "default": {"name": "` + long + `"}}]}`},
	} {
		if _, err := Compile(c.kind, c.definition); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
