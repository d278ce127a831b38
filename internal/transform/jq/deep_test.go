package jq_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/transform/jq"
)

// TestNoBodyFillsTheStack gives programs bodies that are 300,000 deep, themselves and by what a program makes of them,
// and more than that: a full stack would end the process. Each is refused for its depth, or ends with the time that a
// message has.
func TestNoBodyFillsTheStack(t *testing.T) {
	deep := strings.Repeat("[", 300_000) + strings.Repeat("]", 300_000)
	for _, c := range []struct{ program, body string }{
		{".", deep},
		{"[.]", deep},
		{"fromjson", `"` + deep + `"`},
		{"reduce range(.) as $i (0; [.])", "2000000"},
		{"reduce range(.) as $i (0; [.]) | tojson", "2000000"},
		{"reduce range(.) as $i (0; {a: .}) | . == .", "2000000"},
		{"def f: if . == 0 then 0 else . - 1 | [f] end; f", "300000"},
		{"test(.)", `"` + strings.Repeat("(", 300_000) + `"`},
		{"strptime(.)", `"` + strings.Repeat("%", 300_000) + `"`},
	} {
		x, err := jq.New(jq.Config{Program: c.program, Timeout: time.Second}, component.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Transform(t.Context(), &message.Message{Body: []byte(c.body)},
			func(string, *message.Message) {}); err == nil {
			t.Errorf("%s takes %.20s…", c.program, c.body)
		}
	}
}
