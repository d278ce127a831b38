package schema_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hamba/avro/v2"
	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
)

// drawn is a definition with a value of it, as the Avro library wants it and in Avro's JSON.
type drawn struct {
	definition any
	name       string // of the branch in a union
	value      any
	inJSON     any
}

// drawAvro draws a type. Each name is used once.
func drawAvro(t *rapid.T, depth int, names *int) drawn {
	simple := []func() drawn{
		func() drawn { return drawn{"null", "null", nil, nil} },
		func() drawn { b := rapid.Bool().Draw(t, "b"); return drawn{"boolean", "boolean", b, b} },
		func() drawn { i := rapid.Int32().Draw(t, "i"); return drawn{"int", "int", int(i), i} },
		func() drawn { l := rapid.Int64().Draw(t, "l"); return drawn{"long", "long", l, l} },
		func() drawn { f := float32(rapid.Int32().Draw(t, "f")); return drawn{"float", "float", f, f} },
		func() drawn {
			d := rapid.Float64Range(-1e300, 1e300).Draw(t, "d")
			return drawn{"double", "double", d, d}
		},
		func() drawn { s := rapid.String().Draw(t, "s"); return drawn{"string", "string", s, s} },
		func() drawn {
			b := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "bytes")
			return drawn{"bytes", "bytes", b, latin(b)}
		},
		func() drawn {
			name := named(names)
			return drawn{map[string]any{"type": "enum", "name": name, "symbols": []string{"A", "B", "C"}}, name, "B",
				"B"}
		},
	}
	if depth == 0 {
		return rapid.SampledFrom(simple).Draw(t, "simple")()
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		item := drawAvro(t, depth-1, names)
		n := rapid.IntRange(0, 3).Draw(t, "n")
		list, text := []any{}, []any{}
		for range n {
			list, text = append(list, item.value), append(text, item.inJSON)
		}
		return drawn{map[string]any{"type": "array", "items": item.definition}, "array", list, text}
	case 1:
		item := drawAvro(t, depth-1, names)
		m, text := map[string]any{}, map[string]any{}
		for _, k := range rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "keys") {
			m[k], text[k] = item.value, item.inJSON
		}
		return drawn{map[string]any{"type": "map", "values": item.definition}, "map", m, text}
	case 2:
		option := drawAvro(t, depth-1, names)
		if _, union := option.definition.([]any); union || option.name == "null" {
			return option
		}
		if rapid.Bool().Draw(t, "null") {
			return drawn{[]any{"null", option.definition}, "", nil, nil}
		}
		return drawn{[]any{"null", option.definition}, "", map[string]any{option.name: option.value},
			map[string]any{option.name: option.inJSON}}
	case 3, 4:
		name := named(names)
		value, text := map[string]any{}, map[string]any{}
		fields := []any{}
		for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
			f := drawAvro(t, depth-1, names)
			field := fmt.Sprintf("f%d", i)
			fields = append(fields, map[string]any{"name": field, "type": f.definition})
			value[field], text[field] = f.value, f.inJSON
		}
		return drawn{map[string]any{"type": "record", "name": name, "fields": fields}, name, value, text}
	default:
		return rapid.SampledFrom(simple).Draw(t, "simple")()
	}
}

func named(names *int) string {
	*names++
	return fmt.Sprintf("N%d", *names)
}

// latin is bytes as Avro's JSON has them.
func latin(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}

func TestWhatAvroLibrariesWriteIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := 0
		d := drawAvro(t, 3, &names)
		if _, union := d.definition.([]any); union {
			d = drawn{definition: map[string]any{"type": "array", "items": d.definition}, value: []any{d.value},
				inJSON: []any{d.inJSON}}
		}
		definition := marshal(t, d.definition)
		s, err := schema.Compile(schema.Avro, definition)
		if err != nil {
			t.Fatalf("%s: %v", definition, err)
		}
		parsed, err := avro.ParseWithCache(definition, "", &avro.SchemaCache{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := avro.Marshal(parsed, d.value)
		if err != nil {
			t.Fatalf("%s: %#v: %v", definition, d.value, err)
		}
		if err := s.Validate(data, schema.Binary); err != nil {
			t.Fatalf("%s: %x: %v", definition, data, err)
		}
		if err := s.Validate(append(data, 0), schema.Binary); err == nil {
			t.Fatalf("%s: %x and one byte more is accepted", definition, data)
		}
		if text := marshal(t, d.inJSON); s.Validate([]byte(text), schema.JSON) != nil {
			t.Fatalf("%s: %s: %v", definition, text, s.Validate([]byte(text), schema.JSON))
		}
		if err := schema.CheckRevision(s, s); err != nil {
			t.Fatalf("%s cannot follow itself: %v", definition, err)
		}
	})
}

func marshal(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
