package message

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func rowColumns(t testing.TB) Columns {
	t.Helper()
	cs, err := ParseColumns([]string{"id bigint unsigned not null", "name varchar(10) default 'none'",
		"price decimal(10,2)", "ratio double", "seen datetime(3)", "day date", "at time", "raw blob", "doc json",
		"flag bool not null default 0"})
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

func TestARowIsAnObjectInColumnOrder(t *testing.T) {
	cs := rowColumns(t)
	row, err := cs.FromJSON(
		[]byte(` {"RAW":"AP8=", "doc":{"a":[1, "飛"]}, "flag":true, "id":18446744073709551615, "price":12345678.905, "ratio":1, "seen":"2026-01-02 03:04:05.1239", "day":"2026-01-02T00:00:00Z", "at":"1:02:03"} `))
	if err != nil {
		t.Fatal(err)
	}
	want := []Value{Uint(math.MaxUint64), String("none"), Decimal("12345678.91"), Float(1),
		at("2026-01-02 03:04:05.124"), at("2026-01-02"), String("01:02:03"), Bytes([]byte{0, 255}),
		String(`{"a":[1, "飛"]}`), Int(1)}
	if !slices.Equal(row, want) {
		t.Errorf("row %#v\nwant %#v", row, want)
	}
	object := cs.AppendJSON([]byte("x"), row)
	if got, want := string(object),
		`x{"id":18446744073709551615,"name":"none","price":12345678.91,"ratio":1.0,"seen":"2026-01-02T03:04:05.124Z","day":"2026-01-02","at":"01:02:03","raw":"AP8=","doc":{"a":[1, "飛"]},"flag":1}`; got != want {
		t.Errorf("object %s\nwant %s", got, want)
	}
}

func TestMissingColumnsGetTheirDefault(t *testing.T) {
	cs := rowColumns(t)
	row, err := cs.FromJSON([]byte(`{"id":1,"name":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if row[0] != Int(1) || !row[1].IsNull() || !row[2].IsNull() || row[9] != Int(0) {
		t.Errorf("row %#v", row)
	}
	if got := string(cs.AppendJSON(nil, row[:3])); got != `{"id":1,"name":null,"price":null}` {
		t.Errorf("a short row is %s", got)
	}
}

func TestAWrongRowNamesTheColumn(t *testing.T) {
	cs := rowColumns(t)
	for body, want := range map[string]struct{ column, reason string }{
		`{"id":1,"nmae":"x"}`:           {"nmae", "is not one"},
		`{"name":"x"}`:                  {"id", "is missing"},
		`{"id":null}`:                   {"id", "must not be null"},
		`{"id":1,"ID":2}`:               {"id", "stands twice"},
		`{"id":"1"}`:                    {"id", "cannot hold the string"},
		`{"id":-1}`:                     {"id", "out of its range"},
		`{"id":1.5}`:                    {"id", "not whole"},
		`{"id":true}`:                   {"id", "cannot hold the bool"},
		`{"id":[1]}`:                    {"id", "array or object"},
		`{"id":18446744073709551616}`:   {"id", "out of its range"},
		`{"id":1,"name":5}`:             {"name", "cannot hold the number 5"},
		`{"id":1,"name":"12345678901"}`: {"name", "too long"},
		`{"id":1,"raw":"?"}`:            {"raw", "no base64"},
		`{"id":1,"raw":5}`:              {"raw", "cannot hold the number"},
		`{"id":1,"seen":5}`:             {"seen", "cannot hold"},
		`{"id":1,"seen":"soon"}`:        {"seen", "cannot hold"},
		`{"id":1,"ratio":"1"}`:          {"ratio", "cannot hold"},
		`{"id":1,"ratio":1e999}`:        {"ratio", "out of its range"},
		`{"id":1,"price":123456789}`:    {"price", "out of its range"},
		`{"id":1,"price":"x"}`:          {"price", "cannot hold"},
		`{"id":1,"flag":{}}`:            {"flag", "array or object"},
		`{"id":1,"flag":500}`:           {"flag", "out of its range"},
	} {
		row, err := cs.FromJSON([]byte(body))
		var wrong *ColumnError
		if !errors.As(err, &wrong) || wrong.Column != want.column || !strings.Contains(wrong.Reason, want.reason) {
			t.Errorf("%s: %#v, %v, want %v", body, row, err, want)
		}
	}
	for _, body := range []string{``, `x`, `[]`, `null`, `"id"`, `{`, `{"id"`, `{"id":`, `{"id":1`, `{"id":1,}`,
		`{"id":1} x`, `{"id":1}{}`, "{\"id\":1,\"name\":\"\xff\"}"} {
		if row, err := cs.FromJSON([]byte(body)); err == nil {
			t.Errorf("%q was read as %#v", body, row)
		}
	}
}

func TestDecimalsAndBigIntegersStayExact(t *testing.T) {
	cs, err := ParseColumns([]string{"d decimal(65,30)", "s decimal(4,1)", "n bigint"})
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"d":12345678901234567890123456789012345.123456789012345678901234567890,"s":0.5,"n":-9223372036854775807}`
	row, err := cs.FromJSON([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(cs.AppendJSON(nil, row)); got != body {
		t.Errorf("%s", got)
	}
	if row, err = cs.FromJSON([]byte(`{"s":"1.25","n":9007199254740993}`)); err != nil || row[1] != Decimal("1.3") ||
		row[2] != Int(9007199254740993) {
		t.Errorf("%#v, %v", row, err)
	}
}

func TestAJSONColumnKeepsItsText(t *testing.T) {
	cs := Columns{column(t, "doc json")}
	strict := Columns{column(t, "doc json not null")}
	for _, doc := range []string{`{"a":1.0,"a":2}`, `[]`, `"x"`, `1e5`, `true`} {
		row, err := cs.FromJSON([]byte(`{"doc":` + doc + `}`))
		if err != nil || row[0] != String(doc) {
			t.Errorf("%s: %#v, %v", doc, row, err)
		}
	}
	if row, err := cs.FromJSON([]byte(`{"doc":null}`)); err != nil || !row[0].IsNull() {
		t.Errorf("null: %#v, %v", row, err)
	}
	if row, err := strict.FromJSON([]byte(`{"doc":null}`)); err != nil || row[0] != String("null") {
		t.Errorf("null in a column that is not null: %#v, %v", row, err)
	}
}

func FuzzRowJSON(f *testing.F) {
	cs := rowColumns(f)
	f.Add([]byte(`{"id":1,"name":"x","price":1.5,"ratio":1e-9,"seen":"2026-01-02T03:04:05.5Z","day":"2026-01-02","at":"-1:02","raw":"AA==","doc":[1],"flag":true}`))
	f.Add([]byte(`{"id":1,"doc":null}`))
	f.Add([]byte(`{"id":7e-999,"price":1e-99999999}`))
	f.Add([]byte(`{"id":0e999999999}`))
	f.Add([]byte(`{"id":1e2,"price":"-0.001"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		row, err := cs.FromJSON(body)
		if err != nil {
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q is not JSON and was read as %#v", body, row)
		}
		object := cs.AppendJSON(nil, row)
		again, err := cs.FromJSON(object)
		if err != nil || !json.Valid(object) || !slices.Equal(again, row) {
			t.Fatalf("%q is %#v, written %s, read %#v, %v", body, row, object, again, err)
		}
	})
}
