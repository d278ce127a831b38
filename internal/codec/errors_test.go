package codec_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs (-want +got), rewrite it with -update:\n%s", path, d)
	}
}

func TestDecodeErrorsSayWhereAndWhatToDo(t *testing.T) {
	csv := codec.Config{Codec: "csv", Columns: []string{"at", "level", "text"},
		Types: map[string]string{"at": "timestamp", "level": "int"}}
	types := func(codecName, kind string) codec.Config {
		return codec.Config{Codec: codecName, Types: map[string]string{"v": kind}}
	}
	one := func(kind string) codec.Config {
		return codec.Config{Codec: "csv", Columns: []string{"v"}, Types: map[string]string{"v": kind}}
	}
	regex := codec.Config{Codec: "regex", Pattern: `^(?P<level>\S+): (?P<text>.*)$`,
		Types: map[string]string{"level": "int"}}
	var b strings.Builder
	for _, c := range []struct {
		config codec.Config
		in     string
	}{
		{codec.Config{Codec: "json"}, ``},
		{codec.Config{Codec: "json"}, `hello`},
		{codec.Config{Codec: "json"}, `{"a": 1,}`},
		{codec.Config{Codec: "json"}, `{"a": 1`},
		{codec.Config{Codec: "json"}, `{"a":`},
		{codec.Config{Codec: "json"}, `{"a" 1}`},
		{codec.Config{Codec: "json"}, `{a: 1}`},
		{codec.Config{Codec: "json"}, `{'a': 1}`},
		{codec.Config{Codec: "json"}, `[1 2]`},
		{codec.Config{Codec: "json"}, `[1,]`},
		{codec.Config{Codec: "json"}, `{} {}`},
		{codec.Config{Codec: "json"}, "{\n  \"飛脚\": nul\n}"},
		{codec.Config{Codec: "json"}, `[01]`},
		{codec.Config{Codec: "json"}, `[1.]`},
		{codec.Config{Codec: "json"}, `[1e]`},
		{codec.Config{Codec: "json"}, `[-]`},
		{codec.Config{Codec: "json"}, `"abc`},
		{codec.Config{Codec: "json"}, `"a\x"`},
		{codec.Config{Codec: "json"}, `"\u12"`},
		{codec.Config{Codec: "json"}, "\"a\nb\""},
		{codec.Config{Codec: "json"}, "\"a\x01b\""},
		{codec.Config{Codec: "json"}, "\"caf\xe9\""},
		{codec.Config{Codec: "json"}, strings.Repeat("[", codec.MaxDepth+1)},
		{codec.Config{Codec: "json", Attributes: "all"}, `[1]`},
		{codec.Config{Codec: "json", Attributes: []any{"user"}}, `{"user": {"id": 1}}`},
		{codec.Config{Codec: "json", Attributes: []any{"tags"}}, `{"tags": ["a"]}`},
		{codec.Config{Codec: "json", Attributes: "all"}, `{"n": 1e999}`},
		{codec.Config{Codec: "json", Attributes: "all"}, `{"n": ` + strings.Repeat("9", codec.MaxDigits+1) + `}`},
		{types("json", "int"), `{"v": "12 apples"}`},
		{types("json", "int"), `{"v": 1.5}`},
		{types("json", "bool"), `{"v": 2}`},
		{csv, `2026-01-02T03:04:05Z,high,"disk full, again"`},
		{csv, `2026-01-02T03:04:05Z,3`},
		{csv, `2026-01-02T03:04:05Z,3,disk full, again`},
		{csv, `yesterday,3,x`},
		{csv, `2026-01-02T03:04:05Z,3,a "b" c`},
		{csv, `2026-01-02T03:04:05Z,3,"a "b" c"`},
		{csv, `2026-01-02T03:04:05Z,3,"a`},
		{csv, "2026-01-02T03:04:05Z,3,a\n2026-01-02T03:04:05Z,3,b"},
		{csv, "2026-01-02T03:04:05Z,3,caf\xe9"},
		{csv, ``},
		{one("float"), `abc`},
		{one("float"), `NaN`},
		{one("float"), `1e999`},
		{one("decimal"), `1e3`},
		{one("int"), strings.Repeat("9", codec.MaxDigits+1)},
		{one("float"), strings.Repeat("9", codec.MaxDigits+1)},
		{one("bool"), `maybe`},
		{one("timestamp(2006/01/02)"), `2026-01-02`},
		{one("timestamp(unix)"), `soon`},
		{one("timestamp(unix)"), `999999999999`},
		{one("timestamp(unix)"), `4000000000000000000`},
		{types("logfmt", "int"), `a=1 v=x`},
		{types("logfmt", "int"), `v`},
		{codec.Config{Codec: "logfmt"}, `a=1 ="x"`},
		{codec.Config{Codec: "logfmt"}, `say "hi"`},
		{codec.Config{Codec: "logfmt"}, `a="x`},
		{codec.Config{Codec: "logfmt"}, `a="\q"`},
		{codec.Config{Codec: "logfmt"}, `a="x"b=1`},
		{codec.Config{Codec: "logfmt"}, `a=x"y"`},
		{codec.Config{Codec: "logfmt"}, "a=\xff"},
		{regex, `no level here, and a long line to show that an error shows a part`},
		{regex, `high: x`},
		{regex, "1: \xff"},
		{codec.Config{Codec: "text"}, "a\nb\xff"},
	} {
		out, err := mustNew(t, c.config).Decode(&message.Message{Body: []byte(c.in)})
		var e *codec.Error
		if out != nil || !errors.As(err, &e) {
			t.Errorf("%s %q: no *Error but %v", c.config.Codec, c.in, err)
			continue
		}
		if e.Offset > len(c.in) || len(err.Error()) > 400 {
			t.Errorf("%q: offset %d or the length of the text is wrong", c.in, e.Offset)
		}
		in := c.in
		if len(in) > 80 {
			in = in[:77] + "..."
		}
		fmt.Fprintf(&b, "%s %q\n    %v\n", c.config.Codec, in, err)
	}
	golden(t, "errors.txt", b.String())
}

func TestSettingErrorsSayWhichSetting(t *testing.T) {
	var b strings.Builder
	for _, c := range []codec.Config{
		{Codec: "jsno"},
		{Codec: "json", Columns: []string{"a"}},
		{Codec: "csv", Columns: []string{"a"}, Pattern: "x"},
		{Codec: "text", Attributes: "all"},
		{Codec: "csv"},
		{Codec: "csv", Columns: []string{"a"}, Header: true},
		{Codec: "csv", Columns: []string{"a", ""}},
		{Codec: "csv", Columns: []string{"a", "b", "a"}},
		{Codec: "csv", Columns: []string{"a\xff"}},
		{Codec: "csv", Columns: []string{"a", "v7"}, Rest: "v"},
		{Codec: "csv", Rest: "a\xff"},
		{Codec: "csv", Rest: "v", Header: true},
		{Codec: "csv", Rest: "v", Types: map[string]string{"v1": "int"}},
		{Codec: "json", Rest: "v"},
		{Codec: "csv", Columns: []string{"a"}, Delimiter: "||"},
		{Codec: "csv", Columns: []string{"a"}, Delimiter: `"`},
		{Codec: "csv", Columns: make([]string, codec.MaxFields+1)},
		{Codec: "csv", Columns: []string{"a"}, Types: map[string]string{"b": "int"}},
		{Codec: "csv", Columns: []string{"a"}, Attributes: []any{"a", "b"}},
		{Codec: "json", Types: map[string]string{"a": "integer"}},
		{Codec: "json", Types: map[string]string{"a": "int(3)"}},
		{Codec: "json", Types: map[string]string{"a": "timestamp(2006"}},
		{Codec: "json", Types: map[string]string{"a": "timestamp(%Y-%m-%d)"}},
		{Codec: "json", Types: map[string]string{"a": "timestamp(iso)"}},
		{Codec: "json", Attributes: "some"},
		{Codec: "json", Attributes: 3},
		{Codec: "json", Attributes: []any{"a", 3}},
		{Codec: "json", Attributes: []any{"a", "a"}},
		{Codec: "regex"},
		{Codec: "regex", Pattern: `(\w+)`},
		{Codec: "regex", Pattern: `^(?P<a>\w+) (?!x)`},
		{Codec: "regex", Pattern: `(?P<a>[z-a])`},
		{Codec: "regex", Pattern: `(?P<a>x`},
		{Codec: "regex", Pattern: `(?P<a>x)`, Types: map[string]string{"b": "int"}},
	} {
		_, err := codec.New(c)
		var e *component.SettingError
		if !errors.As(err, &e) {
			t.Errorf("%+v: no *SettingError but %v", c, err)
			continue
		}
		at := ""
		if e.Offset >= 0 {
			at = fmt.Sprintf(" at byte %d", e.Offset)
		}
		fmt.Fprintf(&b, "%v%s\n", err, at)
	}
	d := mustNew(t, codec.Config{Codec: "csv", Header: true, Types: map[string]string{"n": "int"}})
	for _, line := range []string{"a,b", "n,n", "n,", `n,"x`, "n,\xff"} {
		_, err := d.WithHeader([]byte(line))
		if err == nil {
			t.Errorf("the header %q was taken", line)
		}
		fmt.Fprintf(&b, "header %q\n    %v\n", line, err)
	}
	golden(t, "settings.txt", b.String())
}

func TestLimitsHold(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)) }
	wide := func(n int) []byte {
		return []byte("{" + strings.TrimSuffix(strings.Repeat(`"a":1,`, n), ",") + "}")
	}
	json := mustNew(t, codec.Config{Codec: "json", Attributes: "all"})
	pairs := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "k%d=1 ", i)
		}
		return []byte(b.String())
	}
	logfmt := mustNew(t, codec.Config{Codec: "logfmt"})
	for _, c := range []struct {
		name string
		d    *codec.Decoder
		body []byte
		ok   bool
	}{
		{"deepest", json, deep(codec.MaxDepth), true}, {"too deep", json, deep(codec.MaxDepth + 1), false},
		{"widest", json, wide(codec.MaxFields), true}, {"too wide", json, wide(codec.MaxFields + 1), false},
		{"most keys", logfmt, pairs(codec.MaxFields), true},
		{"too many keys", logfmt, pairs(codec.MaxFields + 1), false},
	} {
		if _, err := c.d.Decode(&message.Message{Body: c.body}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := codec.Tree(deep(codec.MaxDepth + 1)); err == nil {
		t.Error("Tree reads deeper than MaxDepth")
	}
	var header *codec.Error
	d := mustNew(t, codec.Config{Codec: "csv", Header: true})
	if _, err := d.WithHeader([]byte(strings.Repeat("a,", codec.MaxFields))); !errors.As(err, &header) {
		t.Errorf("a header of too many columns: %v", err)
	}
}
