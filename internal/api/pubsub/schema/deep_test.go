package schema_test

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
)

const proto3 = "syntax = \"proto3\";\n"

// TestNoDefinitionFillsTheStack gives the parsers what is 300,000 deep or long, and as much of it as a definition may
// have: a full stack would end the process.
func TestNoDefinitionFillsTheStack(t *testing.T) {
	for _, c := range []struct {
		kind             schema.Kind
		head, part, tail string
	}{
		{schema.Avro, "", "[", ""},
		{schema.Avro, "", `{"type":`, `"int"`},
		{schema.Avro, "", `{"type":"array","items":`, `"int"`},
		{schema.Avro, `["int"`, `,"int"`, `]`},
		{schema.Protobuf, proto3, "message M{", ""},
		{schema.Protobuf, proto3 + "option x = ", "-", "1;"},
		{schema.Protobuf, proto3 + "option x = {", "a:{", ""},
		{schema.Protobuf, proto3 + "option x = {", "a:[", ""},
		{schema.Protobuf, proto3 + "option x = {", "a<", ""},
		{schema.Protobuf, proto3 + "option x = \"", "\" \"", "\";"},
		{schema.Protobuf, proto3 + "message M{", "oneof o{", ""},
		{schema.Protobuf, proto3 + "message M{", "optional group G=1{", ""},
		{schema.Protobuf, proto3 + "message M{ a", ".a", " b = 1; }"},
		{schema.Protobuf, proto3, ";", ""},
	} {
		for _, bytes := range []int{300_000 * len(c.part), schema.MaxDefinitionBytes - len(c.head) - len(c.tail)} {
			text := c.head + strings.Repeat(c.part, bytes/len(c.part)) + c.tail
			if _, err := schema.Compile(c.kind, text); err == nil {
				t.Errorf("%s: %.40s…, of %d bytes, is read", c.kind, text, len(text))
			}
		}
	}
}
