package fetch

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestAnObjectKeepsItsOrderAndItsText(t *testing.T) {
	r, err := ParseObject([]byte(` {"b": 1.10, "a": {"z": [1, 2]}, "b": 12345678901234567890, "c": "<\u00e9>"} `))
	if err != nil {
		t.Fatal(err)
	}
	r = r.Set("d", json.RawMessage("null")).Without("a")
	if got, want := string(r.AppendJSON(nil)), `{"b":12345678901234567890,"c":"<\u00e9>","d":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if v, ok := r.Get("B"); !ok || string(v) != "12345678901234567890" {
		t.Errorf("%s, %v", v, ok)
	}
	for _, text := range []string{``, `[]`, `{"a"}`, `{"a":1`, `{"a":1} x`, `{"a":}`, `null`, `{"a":1,}`} {
		if r, err := ParseObject([]byte(text)); err == nil {
			t.Errorf("%s was read as %v", text, r)
		}
	}
}

func TestScalarsComeBackAsTheyWere(t *testing.T) {
	for text, want := range map[string]message.Value{
		`null`: message.Null(), `true`: message.Bool(true), `"x"`: message.String("x"), `-7`: message.Int(-7),
		`18446744073709551615`: message.Uint(18446744073709551615), `1.10`: message.Decimal("1.10"),
		`1.5e300`:                        message.Float(1.5e300),
		`123456789012345678901234567890`: message.Decimal("123456789012345678901234567890"),
	} {
		v, ok := Scalar(json.RawMessage(text))
		if !ok || v != want {
			t.Errorf("%s is %#v", text, v)
		}
		again, ok := Scalar(AppendValue(nil, v))
		if !ok || again != want {
			t.Errorf("%s became %#v", text, again)
		}
	}
	for _, text := range []string{`{}`, `[1]`, ``, `"a`} {
		if v, ok := Scalar(json.RawMessage(text)); ok {
			t.Errorf("%s is %#v", text, v)
		}
	}
}

func TestObjectsAreReadAsTheStandardLibraryReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOf(rapid.String(),
			rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.String(), func(s string) any { return s }),
				rapid.Map(rapid.Int(), func(i int) any { return i }),
				rapid.Map(rapid.SliceOf(rapid.Bool()), func(b []bool) any { return b }))).Draw(t, "object")
		text, err := json.MarshalIndent(object, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParseObject(text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r {
			r[i].JSON = Compact(r[i].JSON)
		}
		want, got := map[string]any{}, map[string]any{}
		if json.Unmarshal(text, &want) != nil || json.Unmarshal(r.AppendJSON(nil), &got) != nil {
			t.Fatalf("%s became %s", text, r.AppendJSON(nil))
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if !bytes.Equal(a, b) {
			t.Fatalf("%s became %s", a, b)
		}
	})
}

// FuzzObject: what is read is written as JSON that means the same.
func FuzzObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":{"b":[1,"x"]},"a":2}`, `{"":"\u0000"}`, `[`, `{"a":1e999}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseObject(text)
		if err != nil {
			return
		}
		out := r.AppendJSON(nil)
		if !json.Valid(text) || !json.Valid(out) {
			t.Fatalf("%q became %q", text, out)
		}
		for i := range r {
			v, ok := Scalar(r[i].JSON)
			if ok && !json.Valid(AppendValue(nil, v)) {
				t.Fatalf("%s is not written as JSON", r[i].JSON)
			}
		}
	})
}
