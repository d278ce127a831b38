package schema

import (
	"bytes"
	"fmt"
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
			fmt.Fprintf(&b, `, {"type": "record", "name": "%s%d.R", "fields": [{"name": "f%d", "type": "int"}]}`, space, n,
				n)
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
