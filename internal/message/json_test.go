package message

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestValuesHaveTheirNaturalJSONForm(t *testing.T) {
	for _, c := range []struct {
		value Value
		want  string
	}{
		{Null(), `null`},
		{Bool(true), `true`},
		{Bool(false), `false`},
		{Int(-5), `-5`},
		{Int(math.MinInt64), `-9223372036854775808`},
		{Uint(math.MaxUint64), `18446744073709551615`},
		{Float(1), `1.0`},
		{Float(0.1), `0.1`},
		{Float(-1e21), `-1e+21`},
		{Float(5e-324), `5e-324`},
		{Float(1 << 62), `4.611686018427388e+18`},
		{String("a\"\\\n\t\x01<>&飛\u2028"), `"a\"\\\n\t\u0001<>&飛` + "\u2028" + `"`},
		{String(""), `""`},
		{Bytes([]byte{0, 255}), `{"base64":"AP8="}`},
		{Bytes(nil), `{"base64":""}`},
		{Time(time.Date(2026, 1, 2, 3, 4, 5, 120000000, time.UTC)), `{"time":"2026-01-02T03:04:05.12Z"}`},
		{Decimal("-12.50"), `{"decimal":"-12.50"}`},
	} {
		b, err := json.Marshal(c.value)
		if err != nil || (string(b) != c.want && c.value.Kind() != KindString) {
			t.Errorf("%#v: %s, %v, want %s", c.value, b, err, c.want)
		}
		if b, err = c.value.AppendJSON(nil); err != nil || string(b) != c.want {
			t.Errorf("%#v appended: %s, %v, want %s", c.value, b, err, c.want)
		}
		var back Value
		if err := json.Unmarshal(b, &back); err != nil || back != c.value {
			t.Errorf("%s reads as %#v, %v, want %#v", b, back, err, c.value)
		}
	}
}

func TestValuesReadWhatOthersWrite(t *testing.T) {
	for text, want := range map[string]Value{
		` 1 `:                                  Int(1),
		`1e0`:                                  Float(1),
		`1E400`:                                {},
		`-0`:                                   Int(0),
		`-0.0`:                                 Float(math.Copysign(0, -1)),
		`18446744073709551616`:                 Decimal("18446744073709551616"),
		`{ "base64" : "AA==" }`:                Bytes([]byte{0}),
		`{"time":"2026-01-02T09:00:00+09:00"}`: Time(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)),
		`"\u98db"`:                             String("飛"),
	} {
		var got Value
		err := got.UnmarshalJSON([]byte(text))
		if (err != nil) != want.IsNull() || got != want {
			t.Errorf("%s: %#v, %v, want %#v", text, got, err, want)
		}
	}
	for _, text := range []string{``, ` `, `x`, `1 2`, `[]`, `[1]`, `{}`, `{"a":1}`, `{"base64":"A"}`, `{"base64":1}`,
		`{"base64":"AA==","x":1}`, `{"base64":"AA==","base64":"AA=="}`,
		`{"time":"soon"}`, `{"decimal":"1e5"}`, `{"decimal":"+1"}`, `{"decimal":""}`, `{"decimal":"."}`, `{"base64"`,
		`{"base64":"AA=="`, `{"base64":{}}`, `{"other":"x"}`, `01`, `1.`, `"a`, `tru`} {
		v := Int(42)
		if err := v.UnmarshalJSON([]byte(text)); err == nil || v != Int(42) {
			t.Errorf("%s was read as %#v", text, v)
		}
	}
}

func TestWhatHasNoJSONFormIsRefused(t *testing.T) {
	for _, v := range []Value{Float(math.NaN()), Float(math.Inf(-1)),
		Time(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), Decimal("wrong"), Decimal("1e5")} {
		b, err := v.AppendJSON([]byte("before"))
		if err == nil || string(b) != "before" {
			t.Errorf("%#v: %s, %v", v, b, err)
		}
		_, err = Attributes{{"x", v}}.MarshalJSON()
		var wrong *AttributeError
		if !errors.As(err, &wrong) || wrong.Name != "x" || errors.Unwrap(wrong) == nil {
			t.Errorf("%#v as an attribute: %v", v, err)
		}
	}
}

func TestAttributesAreAnObjectOrderedByName(t *testing.T) {
	var a Attributes
	if err := json.Unmarshal([]byte(` {"lang":"ja", "b":{"base64":"AA=="}, "n":1, "f":1.0, "x":null, "":true} `),
		&a); err != nil {
		t.Fatal(err)
	}
	const want = `{"":true,"b":{"base64":"AA=="},"f":1.0,"lang":"ja","n":1,"x":null}`
	b, err := json.Marshal(a)
	if err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
	if err := json.Unmarshal([]byte(`null`), &a); err != nil || len(a) != 0 {
		t.Errorf("null: %v, %v", a, err)
	}
	if b, err := json.Marshal(Attributes(nil)); err != nil || string(b) != "{}" {
		t.Errorf("none: %s, %v", b, err)
	}
	if b, err := json.Marshal(struct{ A Attributes }{a}); err != nil || string(b) != `{"A":{}}` {
		t.Errorf("as a field: %s, %v", b, err)
	}
}

func TestAWrongAttributeIsNamed(t *testing.T) {
	for text, name := range map[string]string{`{"ok":1,"deep":{"x":1}}`: "deep", `{"list":[1]}`: "list",
		`{"twice":1,"twice":2}`: "twice", `{"big":1e999}`: "big", `{"cut":{"base64":`: "cut",
		`{"t":{"time":"x"}}`: "t"} {
		before := Attributes{{"kept", Int(1)}}
		err := before.UnmarshalJSON([]byte(text))
		var wrong *AttributeError
		if !errors.As(err, &wrong) || wrong.Name != name || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", text, err)
		}
		if len(before) != 1 {
			t.Errorf("%s: the attributes changed: %v", text, before)
		}
	}
	for _, text := range []string{``, `[]`, `1`, `{`, `{"a"`, `{"a":1`, `{"a":1}x`, `{1:2}`, "{\"a\":\"\xff\"}",
		`{"a":1,}`} {
		var a Attributes
		if err := a.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%q was read as %v", text, a)
		}
	}
}

func FuzzValueJSON(f *testing.F) {
	for _, seed := range []string{`null`, `1`, `1.0`, `-1e5`, `18446744073709551616`, `"a\u0000"`, `{"base64":"AA=="}`,
		`{"time":"2026-01-02T03:04:05.123456Z"}`, `{"decimal":"1.50"}`, `[`, `{"a":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v Value
		if v.UnmarshalJSON(data) != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is not JSON and was read as %#v", data, v)
		}
		b, err := json.Marshal(v)
		var back Value
		if err != nil || json.Unmarshal(b, &back) != nil || back != v {
			t.Fatalf("%q is %#v, written %s, %v, read %#v", data, v, b, err, back)
		}
	})
}

func FuzzAttributesJSON(f *testing.F) {
	f.Add([]byte(`{"b":1,"a":{"base64":"AA=="}}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Add([]byte(`{"":null} `))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a Attributes
		if a.UnmarshalJSON(data) != nil {
			return
		}
		b, err := a.MarshalJSON()
		var back Attributes
		if err != nil || back.UnmarshalJSON(b) != nil || len(back) != len(a) {
			t.Fatalf("%q is %v, written %s, %v", data, a, b, err)
		}
		for i := range a {
			if a[i] != back[i] || i > 0 && a[i-1].Name >= a[i].Name {
				t.Fatalf("%q is %v, read back %v", data, a, back)
			}
		}
	})
}
