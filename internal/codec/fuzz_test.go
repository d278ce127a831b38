package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/message"
)

// checkDecode holds any decoding against what Decode promises, whatever the body.
func checkDecode(t *testing.T, d *codec.Decoder, body []byte) {
	t.Helper()
	before := bytes.Clone(body)
	out, err := d.Decode(&message.Message{Body: body})
	if !bytes.Equal(before, body) {
		t.Fatalf("the body was changed to %q", body)
	}
	if err != nil {
		var e *codec.Error
		if !errors.As(err, &e) || e.Message == "" || e.Offset > len(body) || e.Offset >= 0 &&
			(e.Line < 1 || e.Column < 1) {
			t.Fatalf("a bad error: %#v", err)
		}
		if !utf8.ValidString(err.Error()) || len(err.Error()) > 1000 {
			t.Fatalf("an error nobody can read: %q", err)
		}
		return
	}
	if !json.Valid(out.Body) || !utf8.Valid(out.Body) {
		t.Fatalf("the body is no JSON: %q", out.Body)
	}
	for i, a := range out.Attributes {
		if a.Name == "" || i > 0 && out.Attributes[i-1].Name >= a.Name {
			t.Fatalf("attributes without name, order or uniqueness: %#v", out.Attributes)
		}
		if !utf8.ValidString(a.Name) || !utf8.ValidString(a.Value.Text()) {
			t.Fatalf("an attribute that is no text: %#v", a)
		}
	}
}

func seeds(f *testing.F, codecName string) {
	for _, c := range decodeCases {
		if c.config.Codec == codecName {
			f.Add([]byte(c.in))
		}
	}
}

func FuzzJSON(f *testing.F) {
	seeds(f, "json")
	for _, s := range []string{`{"a":{"b":1}}`, `{"t":"2026-01-02","a":{"b":"7"}}`, `[{"a":1e-400}]`, `"\ud800\udc00"`,
		`{"a.b":1,"a":{"b":2}}`, `{"n":0.1e+5,"x":-0.0}`} {
		f.Add([]byte(s))
	}
	plain := mustNew(f, codec.Config{Codec: "json"})
	all := mustNew(f, codec.Config{Codec: "json", Attributes: "all", Types: map[string]string{"t": "timestamp"}})
	typed := mustNew(f, codec.Config{Codec: "json", Attributes: []any{"a.b", "t"},
		Types: map[string]string{"a.b": "int", "t": "string"}})
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []*codec.Decoder{plain, all, typed} {
			checkDecode(t, d, body)
		}
		out, err := plain.Decode(&message.Message{Body: body})
		// The standard library reads on after bytes that are no UTF-8; we do not.
		limited := bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > codec.MaxDepth ||
			bytes.Count(body, []byte(",")) >= codec.MaxFields
		if valid := json.Valid(body) && utf8.Valid(body); (err == nil) != valid && !limited {
			t.Fatalf("valid: %v, but %v", valid, err)
		}
		tree, treeErr := codec.Tree(body)
		if (treeErr == nil) != (err == nil) {
			t.Fatalf("Decode says %v, Tree %v", err, treeErr)
		}
		if err != nil {
			return
		}
		a, errA := json.Marshal(numbers(tree))
		b, errB := json.Marshal(standardTree(t, out.Body))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Fatalf("Tree reads %s (%v), the standard library %s (%v)", a, errA, b, errB)
		}
	})
}

func FuzzCSV(f *testing.F) {
	seeds(f, "csv")
	f.Add([]byte("a,\"b\"\"\n\",1"))
	f.Add([]byte("a,b,-07"))
	f.Add([]byte("\xef\xbb\xbfa,b,n\r\n"))
	d := mustNew(f, codec.Config{Codec: "csv", Columns: []string{"a", "b", "n"}, Types: map[string]string{"n": "int"},
		Attributes: "all"})
	tabs := mustNew(f, codec.Config{Codec: "csv", Columns: []string{"t", "f"}, Delimiter: "tab",
		Types: map[string]string{"t": "timestamp(unix)", "f": "float"}, Attributes: "all"})
	header := mustNew(f, codec.Config{Codec: "csv", Header: true, Attributes: "all"})
	rest := mustNew(f, codec.Config{Codec: "csv", Columns: []string{"a"}, Rest: "v",
		Types: map[string]string{"v": "decimal"}, Attributes: "all"})
	f.Fuzz(func(t *testing.T, body []byte) {
		checkDecode(t, d, body)
		checkDecode(t, tabs, body)
		checkDecode(t, rest, body)
		if with, err := header.WithHeader(body); err == nil {
			checkDecode(t, with, body)
		}
	})
}

func FuzzLogfmt(f *testing.F) {
	seeds(f, "logfmt")
	f.Add([]byte(`a="\ud83d\ude00" a=2 "b"`))
	d := mustNew(f, codec.Config{Codec: "logfmt", Types: map[string]string{"n": "decimal", "b": "bool"},
		Attributes: "all"})
	f.Fuzz(func(t *testing.T, body []byte) { checkDecode(t, d, body) })
}

func FuzzRegex(f *testing.F) {
	seeds(f, "regex")
	if log, err := os.ReadFile("testdata/dpkg.log"); err == nil {
		for line := range bytes.Lines(log) {
			f.Add(bytes.TrimSpace(line))
		}
	}
	d := mustNew(f, codec.Config{Codec: "regex", Pattern: `(?s)^(?P<at>\S+ \S+)? ?(?P<action>\w+)(?P<rest>.*)$`,
		Attributes: "all",
		Types:      map[string]string{"at": "timestamp(2006-01-02 15:04:05)"}})
	f.Fuzz(func(t *testing.T, body []byte) { checkDecode(t, d, body) })
}

func FuzzPattern(f *testing.F) {
	f.Add(`(?P<a>\w+)`, "timestamp(2006)")
	f.Add(`(?P<a>(?P<b>x)`, "timestamp(unix")
	f.Fuzz(func(t *testing.T, pattern, kind string) {
		d, err := codec.New(codec.Config{Codec: "regex", Pattern: pattern, Types: map[string]string{"a": kind},
			Attributes: "all"})
		if err == nil {
			checkDecode(t, d, []byte("2026-01-02 a x"))
		}
	})
}
