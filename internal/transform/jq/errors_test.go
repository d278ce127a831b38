package jq_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/transform/jq"
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

func TestSettingErrorsPointIntoThePrograms(t *testing.T) {
	var b strings.Builder
	for _, c := range []jq.Config{
		{},
		{Program: "."}, // replaced below: attributes
		{Program: ".a |"},
		{Program: ".a | ] + 1"},
		{Program: "{level: (.value1|tonumber}"},
		{Program: ".a | select(.b ==> 1)"},
		{Program: `.a == "open`},
		{Program: `"\q"`},
		{Program: "if .a then 1"},
		{Program: ".a @ 1"},
		{Program: ". | tonumbr"},
		{Program: ".tonumbr | tonumbr(1)"},
		{Program: "$attribute.lang"},
		{Program: "[$ids, $id]"},
		{Program: "input"},
		{Program: "[inputs]"},
		{Program: "debug"},
		{Program: `import "a" as a; .`},
		{Program: `include "a"; .`},
		{Program: "break $out"},
		{Program: ".", Timeout: -time.Second},
		{Program: ".", MaxOutputs: -1},
		{Program: ".", Attributes: 3},
		{Program: ".", Attributes: "{a: .a"},
		{Program: ".", Attributes: map[string]any{"n": 3}},
		{Program: ".", Attributes: map[string]any{"": ".n"}},
		{Program: ".", Attributes: map[string]any{"n": ".n |"}},
	} {
		if c.Program == "." && c.Attributes == nil && c.Timeout == 0 && c.MaxOutputs == 0 {
			many := map[string]string{}
			for i := range 1001 {
				many[fmt.Sprint(i)] = "."
			}
			c.Attributes = many
		}
		_, err := jq.New(c, component.Env{})
		var e *component.SettingError
		if !errors.As(err, &e) {
			t.Errorf("%+v: no *SettingError but %v", c, err)
			continue
		}
		text := c.Program
		switch a := c.Attributes.(type) {
		case string:
			text = a
		case map[string]any:
			for _, v := range a {
				text = fmt.Sprint(v)
			}
		}
		fmt.Fprintf(&b, "%v\n", err)
		if e.Offset > len(text) {
			t.Errorf("%q: the offset %d is behind the program", text, e.Offset)
		} else if e.Offset >= 0 {
			fmt.Fprintf(&b, "    %s\n    %s^\n", text, strings.Repeat(" ", e.Offset))
		}
	}
	golden(t, "settings.txt", b.String())
}

func TestFailuresRejectTheMessage(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct {
		config jq.Config
		body   string
	}{
		{jq.Config{Program: "."}, "plain text"},
		{jq.Config{Program: "."}, ""},
		{jq.Config{Program: "."}, `{"a": 1} {"a": 2}`},
		{jq.Config{Program: ".a.b"}, `{"a": "text"}`},
		{jq.Config{Program: ".a | tonumber"}, `{"a": "high"}`},
		{jq.Config{Program: "1, error"}, `"why"`},
		{jq.Config{Program: "1, error({code: 3})"}, `null`},
		{jq.Config{Program: "halt_error"}, `"stop"`},
		{jq.Config{Program: ".[] + 1"}, `[1, 2, "x"]`},
		{jq.Config{Program: "@nope"}, `{}`},
		{jq.Config{Program: "getpath([\"a\", 0])"}, `{"a": {}}`},
		{jq.Config{Program: ".", Attributes: map[string]any{"a": ".a.b"}}, `{"a": 1}`},
		{jq.Config{Program: ".", Attributes: map[string]any{"a": ".a"}}, `{"a": [1]}`},
		{jq.Config{Program: ".", Attributes: map[string]any{"a": "1, 2"}}, `{}`},
		{jq.Config{Program: ".", Attributes: map[string]any{"a": "infinite"}}, `{}`},
		{jq.Config{Program: ".", Attributes: map[string]any{"a": ".a"}}, `{"a": 1e999}`},
		{jq.Config{Program: ".", Attributes: "."}, `[1]`},
		{jq.Config{Program: ".", Attributes: "."}, `{"a": {}}`},
		{jq.Config{Program: ".", Attributes: "."}, `{"": 1}`},
		{jq.Config{Program: ".", Attributes: "error(\"x\")"}, `{}`},
		{jq.Config{Program: ".", Attributes: `[range(1001) | {key: tostring, value: .}] | from_entries`}, `{}`},
	} {
		out, err := transform(t.Context(), mustNew(t, c.config), &message.Message{Body: []byte(c.body)})
		if err == nil {
			t.Errorf("%+v let %s through: %v", c.config, c.body, bodies(out))
			continue
		}
		if _, again := component.AsRetry(err); again {
			t.Errorf("%v would be tried again", err)
		}
		fmt.Fprintf(&b, "%s  <-  %s\n    %v\n", c.config.Program, c.body, err)
	}
	golden(t, "failures.txt", b.String())
}
