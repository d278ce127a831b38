package schema

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// TestAMessageTakesNoMoreThanItsCost: also one of many short values, which take many times their length.
func TestAMessageTakesNoMoreThanItsCost(t *testing.T) {
	const many = 200_000
	avro := mustBe(t, Avro, `{"type": "array", "items": "int"}`)
	deep := mustBe(t, Protobuf,
		`syntax = "proto3"; message M { repeated M m = 1; repeated int32 n = 2; string s = 3; }`)
	inner := bytes.Repeat([]byte{10, 0}, 60)
	for name, c := range map[string]struct {
		schema *Schema
		data   []byte
		e      Encoding
	}{
		"numbers":          {avro, []byte("[" + strings.Repeat("1,", many) + "1]"), JSON},
		"messages in JSON": {deep, []byte(`{"m":[` + strings.Repeat("{},", many) + "{}]}"), JSON},
		"messages":         {deep, bytes.Repeat([]byte{10, 0}, many), Binary},
		"messages within":  {deep, bytes.Repeat(append([]byte{10, byte(len(inner))}, inner...), many/60), Binary},
		"packed numbers":   {deep, append([]byte{18, 0xc0, 0x9a, 0x0c}, bytes.Repeat([]byte{1}, many)...), Binary},
		"numbers apart":    {deep, bytes.Repeat([]byte{16, 1}, many), Binary},
		"a text":           {deep, append([]byte{26, 0xc0, 0x9a, 0x0c}, bytes.Repeat([]byte{'a'}, many)...), Binary},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.schema.Validate(c.data, c.e)
		runtime.ReadMemStats(&after)
		made, cost := after.TotalAlloc-before.TotalAlloc, c.schema.Cost(c.data, c.e)
		t.Logf("%s: %d bytes make %d and cost %d: %v", name, len(c.data), made, cost, err)
		if err != nil || int64(made) > 2*cost {
			t.Errorf("%s: %d bytes make %d, and cost %d: %v", name, len(c.data), made, cost, err)
		}
	}
}

func mustBe(t *testing.T, k Kind, definition string) *Schema {
	t.Helper()
	s, err := Compile(k, definition)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
