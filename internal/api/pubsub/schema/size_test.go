package schema

import (
	"runtime"
	"testing"
)

// TestASchemaTakesAboutItsSize in memory, of whatever it consists, and on the way there about CompileCost: what is made
// is twice as much, as a rule, of which half is thrown away while more is made.
func TestASchemaTakesAboutItsSize(t *testing.T) {
	const proto3, tail = `syntax = "proto3"; message M {`, `{"name": "f", "type": "int"}]}`
	fields := func(n int, field string) string {
		return `{"type": "record", "name": "R", "fields": [` + numbered(n, field) + tail
	}
	for name, c := range map[string]struct {
		kind       Kind
		definition string
	}{
		"fields":      {Protobuf, proto3 + numbered(10_000, "M f#=#;") + "}"},
		"maps":        {Protobuf, proto3 + numbered(5000, "map<int32,M> f#=#;") + "}"},
		"messages":    {Protobuf, proto3 + numbered(5000, "message M#{M a=1;M b=2;}") + "}"},
		"enums":       {Protobuf, proto3 + numbered(5000, "enum E#{V#=0;}") + "}"},
		"values":      {Protobuf, proto3 + "enum E{V0=0;" + numbered(10_000, "V#=#;") + "}}"},
		"oneofs":      {Protobuf, proto3 + numbered(2000, "oneof o#{M f#=#;}") + "}"},
		"comments":    {Protobuf, proto3 + numbered(20_000, "// comment\n") + "}"},
		"Avro fields": {Avro, fields(5000, `{"name": "f#", "type": "int"},`)},
		"Avro records": {Avro,
			fields(3000, `{"name": "f#", "type": {"type": "record", "name": "R#", "fields": []}},`)},
		"Avro unions":  {Avro, fields(3000, `{"name": "f#", "type": ["null", "int", "R"]},`)},
		"Avro symbols": {Avro, `{"type": "enum", "name": "E", "symbols": ["S"` + numbered(20_000, `,"S#"`) + "]}"},
		"Avro comments": {Avro,
			`{"type": "fixed", "size": 1, "name": "F", "doc": "` + numbered(20_000, "comment ") + `"}`},
	} {
		var before, compiled, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := mustBe(t, c.kind, c.definition)
		runtime.ReadMemStats(&compiled)
		made, cost := int64(compiled.TotalAlloc-before.TotalAlloc), CompileCost(c.kind, c.definition)
		if made > 3*cost || cost > 4*made {
			t.Errorf("%s: to compile %d bytes makes %d, and the cost is %d", name, len(c.definition), made, cost)
		}
		_ = s.Validate([]byte(`{"a": 1}`), JSON) // makes what is made when it is used
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		kept, size := int64(after.HeapAlloc)-int64(before.HeapAlloc), s.Size()
		t.Logf("%s: %d bytes become %d, and size %d", name, len(c.definition), kept, size)
		if kept > size*5/4+100_000 || size > 4*max(kept, int64(len(c.definition))) {
			t.Errorf("%s: %d bytes become %d, and the size is %d", name, len(c.definition), kept, size)
		}
		runtime.KeepAlive(s)
	}
}
