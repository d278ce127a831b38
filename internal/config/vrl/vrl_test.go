package vrl

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

var update = flag.Bool("update", false, "write the golden file anew")

// show writes a translation for people.
func show(t Translation) string {
	var b strings.Builder
	if !t.Parsed {
		return "not understood\n"
	}
	if t.Decode != nil {
		settings, _ := json.Marshal(t.Decode) // texts and lists of them
		fmt.Fprintf(&b, "decode %s\n", settings)
	}
	if t.Program != "" {
		fmt.Fprintf(&b, "jq %s\n", t.Program)
	}
	for _, u := range t.Unknown {
		fmt.Fprintf(&b, "unknown %s\n", u)
	}
	return b.String()
}

// TestProgramsAreTranslated compares testdata/programs.txt: programs, each with what becomes of it behind a line of
// dashes.
func TestProgramsAreTranslated(t *testing.T) {
	const file, between, behind = "testdata/programs.txt", "\n----\n", "\n====\n"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, story := range strings.Split(strings.TrimSuffix(string(data), behind), behind) {
		program, want, _ := strings.Cut(story+"\n", between)
		want = strings.TrimSuffix(want, "\n")
		made := Translate(program)
		got := strings.TrimSuffix(show(made), "\n")
		out.WriteString(program + between + got + behind)
		if got != want && !*update {
			t.Errorf("%s\nis\n%s\nnot\n%s", program, got, want)
		}
		if made.Program == "" {
			continue
		}
		q, err := gojq.Parse(made.Program)
		if err == nil {
			_, err = gojq.Compile(q, gojq.WithVariables([]string{"$id", "$time"}))
		}
		if err != nil {
			t.Errorf("%s\nbecomes %s, which is no jq: %v", program, made.Program, err)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAProgramDoesWhatItDid runs translations.
func TestAProgramDoesWhatItDid(t *testing.T) {
	for _, c := range []struct{ program, in, want string }{
		{`.level = downcase!(.level); del(.x)`, `{"level":"WARN","x":1}`, `{"level":"warn"}`},
		{`.first = split!(.line, " ")[0]`, `{"line":"a b"}`, `{"first":"a","line":"a b"}`},
		{`parts = split!(.line, ","); .a = to_int!(parts[0]); .b = to_float!(parts[1]) * 2; del(.line)`,
			`{"line":"7,1.5"}`, `{"a":7,"b":3}`},
		{`if .n > 3 { .big = true } else { .big = false }`, `{"n":4}`, `{"big":true,"n":4}`},
		{`.x, err = to_int(.s)`, `{"s":"no"}`, `{"s":"no","x":null}`},
		{`.n = to_int(.s) ?? 0`, `{"s":"no"}`, `{"n":0,"s":"no"}`},
		{`.new = del(.old)`, `{"old":1}`, `{"new":1}`},
		{`. = {"a": .b, "c d": [1, "x"]}`, `{"b":2}`, `{"a":2,"c d":[1,"x"]}`},
		{`. |= object!(parse_json!(.inner)); del(.inner)`, `{"inner":"{\"a\":1}"}`, `{"a":1}`},
		{`.a."odd name"[1] = "x\\(y)"`, `{"a":{"odd name":[0,1]}}`, `{"a":{"odd name":[0,"x\\(y)"]}}`},
		{`.ok = !is_null(.a) && contains(string!(.s), "b")`, `{"a":1,"s":"abc"}`, `{"a":1,"ok":true,"s":"abc"}`},
	} {
		made := Translate(c.program)
		q, err := gojq.Parse(made.Program)
		if err != nil {
			t.Errorf("%s: %s: %v", c.program, made.Program, err)
			continue
		}
		var in any
		if err := json.Unmarshal([]byte(c.in), &in); err != nil {
			t.Fatal(err)
		}
		v, _ := q.Run(in).Next()
		got, _ := json.Marshal(v)
		if err, isErr := v.(error); isErr {
			got = []byte(err.Error())
		}
		if string(got) != c.want || len(made.Unknown) > 0 {
			t.Errorf("%s\nis %s\nand makes %s, not %s (%v)", c.program, made.Program, got, c.want, made.Unknown)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	data, err := os.ReadFile("testdata/programs.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, story := range strings.Split(string(data), "\n====\n") {
		program, _, _ := strings.Cut(story, "\n----\n")
		f.Add(program)
	}
	f.Fuzz(func(t *testing.T, program string) {
		made := Translate(program)
		if made.Program != "" && len(made.Unknown) == 0 {
			if _, err := gojq.Parse(made.Program); err != nil && len(program) < 1000 {
				t.Fatalf("%q becomes %q, which is no jq: %v", program, made.Program, err)
			}
		}
	})
}
