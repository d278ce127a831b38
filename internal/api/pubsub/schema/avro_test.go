package schema_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/schema"
)

func TestAvroInJSON(t *testing.T) {
	s := compile(t, schema.Avro, product)
	accepts(t, s, schema.JSON, goodProduct)
	edit := func(old, new string) string {
		t.Helper()
		if !strings.Contains(goodProduct, old) {
			t.Fatalf("%s is not in it", old)
		}
		return strings.Replace(goodProduct, old, new, 1)
	}
	for _, good := range []string{
		edit(`{"string": "x"}`, `null`), edit(`{"string": "x"}`, `{"shop.Color": "RED"}`), edit(`{"kyoto": 3}`, `{}`),
		edit(`[1.5, 2]`, `[]`),
		edit(`"sku": 5`, `"sku": -2147483648`), edit(`"weight": 0.5`, `"weight": 1e-3`), " \n" + goodProduct + "\n",
	} {
		accepts(t, s, schema.JSON, good)
	}
	for _, c := range []struct{ message, path, words string }{
		{"", "", "no JSON"},
		{"{", "", "no JSON"},
		{goodProduct + "{}", "", "something behind"},
		{"\"\xff\"", "", "UTF-8"},
		{`null`, "", "a record shop.Product is wanted here, not null"},
		{`[]`, "", "not a list"},
		{edit(`"name": "tea", `, ``), "name", "missing"},
		{edit(`{"name"`, `{"extra": 1, "name"`), "extra", "shop.Product has no such field"},
		{edit(`"tea"`, `5`), "name", "a string is wanted here, not the number 5"},
		{edit(`"sku": 5`, `"sku": 2147483648`), "sku", "an int is wanted here"},
		{edit(`"sku": 5`, `"sku": 1.5`), "sku", "an int"},
		{edit(`"sku": 5`, `"sku": "5"`), "sku", `not the string "5"`},
		{edit(`{"kyoto": 3}`, `{"kyoto": "many"}`), "stock.kyoto", "a long"},
		{edit(`{"kyoto": 3}`, `[3]`), "stock", "a map is wanted here, not a list"},
		{edit(`[1.5, 2]`, `[1.5, null]`), "prices[1]", "a double is wanted here, not null"},
		{edit(`[1.5, 2]`, `{}`), "prices", "an array is wanted here, not an object"},
		{edit(`"BLUE"`, `"GREEN"`), "color", `"GREEN" is no symbol of the enum shop.Color`},
		{edit(`"BLUE"`, `1`), "color", "an enum shop.Color is wanted here"},
		{edit(`"\u00ff\u0000"`, `"abc"`), "hash", "shop.Hash has 2 bytes, not 3"},
		{edit(`"\u00ff\u0000"`, `null`), "hash", "a fixed shop.Hash"},
		{edit(`"a\u00e9"`, `"飛"`), "photo", "stands for no byte"},
		{edit(`{"string": "x"}`, `"x"`), "note", `as in {"string": …}`},
		{edit(`{"string": "x"}`, `{"int": 5}`), "note", `"int" is no branch`},
		{edit(`{"string": "x"}`, `{"null": null}`), "note", `"null" is no branch`},
		{edit(`{"string": "x"}`, `{"string": 5}`), "note.string", "a string is wanted"},
		{edit(`{"string": "x"}`, `{"string": "x", "shop.Color": "RED"}`), "note", "not an object"},
		{edit(`"sold": false`, `"sold": 0`), "sold", "a boolean is wanted here, not the number 0"},
		{edit(`"weight": 0.5`, `"weight": 1e40`), "weight", "a float"},
		{edit(`"weight": 0.5`, `"weight": true`), "weight", "not true"},
	} {
		refuses(t, s, schema.JSON, c.message, c.path, c.words)
	}
}

// varint is a number in Avro's binary form.
func varint(n int64) string { return string(binary.AppendVarint(nil, n)) }

func text(s string) string { return varint(int64(len(s))) + s }

func TestAvroInBinary(t *testing.T) {
	s := compile(t, schema.Avro, product)
	parts := []string{text("tea"), varint(5), varint(1) + text("kyoto") + varint(3) + varint(0),
		varint(-2) + varint(16) + strings.Repeat("\x00", 16) + varint(0), varint(1),
		"\xff\x00", text("\xff"), varint(1) + text("x"), "\x00", "\x00\x00\x00\x3f"}
	with := func(i int, part string) string {
		changed := append([]string{}, parts...)
		changed[i] = part
		return strings.Join(changed, "")
	}
	good := strings.Join(parts, "")
	accepts(t, s, schema.Binary, good)
	accepts(t, s, schema.Binary, with(7, varint(0)))
	accepts(t, s, schema.Binary, with(7, varint(2)+varint(0)))
	accepts(t, s, schema.Binary, with(3, varint(0)))
	for n := range len(good) {
		if err := s.Validate([]byte(good[:n]), schema.Binary); err == nil {
			t.Errorf("the first %d bytes of %d are accepted", n, len(good))
		}
	}
	for _, c := range []struct{ message, path, words string }{
		{good + "x", "", "1 bytes are left behind the value"},
		{with(0, text("\xff")), "name", "not valid UTF-8"},
		{with(0, varint(-1)), "name", "negative"},
		{with(0, varint(1<<40)), "name", "it ends at byte"},
		{with(1, varint(1<<31)), "sku", "too large for an int"},
		{with(1, strings.Repeat("\xff", 11)), "sku", "more than 64 bits"},
		{with(2, varint(1)+text("\xff")+varint(3)+varint(0)), "stock[0]", "not valid UTF-8"},
		{with(2, varint(1)+text("kyoto")+strings.Repeat("\xff", 11)), "stock.kyoto", "64 bits"},
		{with(3, varint(-2)+varint(15)+strings.Repeat("\x00", 16)+varint(0)), "prices", "as its size says"},
		{with(3, varint(-2)+varint(1<<50)), "prices", "does not fit"},
		{with(3, varint(-1<<63)+varint(0)), "prices", "too many items"},
		{with(3, varint(1<<62)+"\x00"), "prices[1]", "it ends"},
		{with(4, varint(2)), "color", "no symbol of the enum shop.Color"},
		{with(4, varint(-1)), "color", "no symbol"},
		{with(7, varint(3)), "note", "no branch of the union"},
		{with(8, "\x02"), "sold", "no boolean"},
	} {
		refuses(t, s, schema.Binary, c.message, c.path, c.words)
	}
}

func TestNestingIsBounded(t *testing.T) {
	s := compile(t, schema.Avro,
		`{"type": "record", "name": "List", "fields": [{"name": "next", "type": ["null", "List"]}]}`)
	list := func(n int) string {
		return strings.Repeat(`{"next": {"List": `, n) + `{"next": null}` + strings.Repeat(`}}`, n)
	}
	accepts(t, s, schema.JSON, list(40))
	accepts(t, s, schema.Binary, strings.Repeat("\x02", 40)+"\x00")
	for n, message := range map[schema.Encoding]string{schema.JSON: list(2000),
		schema.Binary: strings.Repeat("\x02", 1<<20) + "\x00"} {
		if err := s.Validate([]byte(message), n); err == nil || !strings.Contains(err.Error(), "nested deeper") {
			t.Errorf("%s: %v", n, err)
		}
	}
	accepts(t, compile(t, schema.Avro, `{"type": "array", "items": "null"}`), schema.Binary, varint(1<<62)+varint(0))
}

// What a small definition says can be larger than time: 2⁶⁰ nulls, in no byte at all.
func TestARecordOfManyNullsTakesNoTime(t *testing.T) {
	var b strings.Builder
	const levels = 60
	for i := range levels {
		b.WriteString(`{"type": "record", "name": "R` + string(rune('A'+i%26)) + string(rune('A'+i/26)) +
			`", "fields": [{"name": "a", "type": `)
	}
	b.WriteString(`"null"`)
	for i := levels - 1; i >= 0; i-- {
		b.WriteString(`}, {"name": "b", "type": `)
		if i == levels-1 {
			b.WriteString(`"null"`)
		} else {
			b.WriteString(`"R` + string(rune('A'+(i+1)%26)) + string(rune('A'+(i+1)/26)) + `"`)
		}
		b.WriteString(`}]}`)
	}
	s := compile(t, schema.Avro, b.String())
	accepts(t, s, schema.Binary, "")
	refuses(t, s, schema.Binary, "x", "", "left behind")
}

func TestUnknownEncodingsAreRefused(t *testing.T) {
	refuses(t, compile(t, schema.Avro, `"int"`), schema.Encoding(0), "5", "", "encoding 0")
}
