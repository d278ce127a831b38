package jq_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/transform/jq"
)

// FuzzProgram compiles: whatever the text, an error points into it.
func FuzzProgram(f *testing.F) {
	for _, s := range []string{".", "{a: .b}", ".a |", "$id + $x", "def f(x): x; f(1)", `"\(1 + 2)"`,
		"reduce .[] as [$a, {b: $c}] (0; . + $a)", ".. | numbers", "@base64d", "label $out | break $out"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, program string) {
		_, err := jq.New(jq.Config{Program: program, Attributes: program}, component.Env{})
		var e *component.SettingError
		if err != nil && (!errors.As(err, &e) || e.Offset < -1 || e.Offset > len(program)) {
			t.Fatalf("a bad error: %#v", err)
		}
	})
}

// FuzzBody runs: whatever the body, the program ends with messages of JSON or an error.
func FuzzBody(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,2.5,"x"],"b":{"c":null}}`, `[1e999, -0, 0.1]`, `"text"`,
		`123456789012345678901234567890`, `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	tr := mustNew(f, jq.Config{Program: `., (.. | scalars | tostring), (tojson | fromjson), (try (.a[] + 1) catch .)`,
		Attributes: `if type == "object" then with_entries(select(.key != "" and (.value | type | IN("object", "array") | not))) else null end`})
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := transform(t.Context(), tr, &message.Message{Body: body})
		if err != nil {
			return
		}
		for _, m := range out {
			if !json.Valid(m.Body) {
				t.Fatalf("the body is no JSON: %q", m.Body)
			}
		}
	})
}
