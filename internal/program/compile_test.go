package program

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestSimpleProgramsAreCompiled(t *testing.T) {
	s := testScope()
	for _, text := range []string{
		".", ".a", ".a.b", `."a b"`, `.["a"]`, ".a[0]", ".[-1]", ".a[]", ".[][0].b", "$key", "$attributes",
		"$attributes.user.id", `$attributes["n"]`, "(.a)", "(.a | .b)[]",
		".a, .b", ".a | .b, .c", "empty", "null", "true", "3", "-0 // .a", "1.5", `"text"`,
		`"news \(.id) of \(.n | tostring)"`, "{}", "{a}", `{a: .b, "c d": 1, $key}`, "{a: (.b | {c: .d})}",
		"[]", "[.a, .b[]]", ".a // .b", ".a == 1", ".a != .b", ".a and .b or (.c | not)",
		"if .a then 1 elif .b then 2 else 3 end", "if .a then .b end", "select(.a)", "map(.a)",
		"[.[] | select(.a) | {a}]",
		"tostring", ".a | tonumber", "{aps: {alert: {title, body: .text}}, news}",
	} {
		if s.Compile(text) == nil && text != "-0 // .a" { // a sign is an operator
			t.Errorf("%s is left to gojq", text)
		}
	}
}

func TestWhatIsNotCertainlyTheSameIsLeft(t *testing.T) {
	s := testScope()
	for _, text := range []string{
		"", ".a |", "..", ".a?", ".[1:2]", ".[.a]", ".[1.5]", `."a\(1)"`, "def f: .; f", ". as $x | $x", "$unknown",
		"reduce .[] as $x (0; .)", "try .a", ".a + 1", ".a < 1", "-.a", "1 | -(.)",
		"length", "keys", "error", "input", "tojson", "first(.a)", "select(.a, .b)", "{(.a): 1}", `{"a\(1)": 1}`,
		"{a: (.b, .c)}", "{a: .b[]}", "{a: 1, a: 2}", `"\(.a[])"`, "@base64", `@json "\(.a)"`,
		"123456789012345678901234", "1e17", "1e999", "if (.a, .b) then 1 else 2 end", ".a[] // 1", ".a | 1",
		"(if . then 1 else 2 end) | {}", `import "a" as a; .`, "\"\xff\"", "label $out | .",
		strings.Repeat("(", 101) + "." + strings.Repeat(")", 101), strings.Repeat("[", 101) + strings.Repeat("]", 101),
		strings.Repeat(".a, ", 1000) + ".a",
	} {
		if s.Compile(text) != nil {
			t.Errorf("%.100s is compiled", text)
		}
	}
}

func TestARunThatBecomesTooMuchIsLeft(t *testing.T) {
	s := testScope()
	for _, text := range []string{
		strings.Repeat("(., .) | ", 60) + ".", strings.Repeat("[., .] | ", 60) + ".",
		strings.Repeat("{a: ., b: .} | ", 60) + ".", strings.Repeat("(., .) | ", 60) + "empty",
		"[" + strings.Repeat(". ,", 400) + ".]",
	} {
		p := s.Compile(text)
		if p == nil {
			t.Errorf("%.50s is left to gojq at once", text)
			continue
		}
		m := &message.Message{Body: []byte(`{"a":"` + strings.Repeat("x", 100_000) + `"}`)}
		w := s.Begin(m)
		if w == nil {
			t.Fatal("the body is left to gojq")
		}
		if p.EachText(w, w.Body(), func([]byte) bool { return true }) {
			t.Errorf("%.50s has an end", text)
		}
		if made, ok := p.Text(w, w.Body()); ok || made != nil {
			t.Errorf("%.50s makes one value", text)
		}
		s.End(w)
	}
}

func TestBodiesThatReadersTakeInDifferentWaysAreLeft(t *testing.T) {
	s := testScope()
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for body, good := range map[string]bool{
		`{}`: true, ` [1, 2.50e+3, -0] `: true, `"飛脚 😀 \ud83d\ude00"`: true, nested(maxDepth): true,
		`{"a":1,"a":2}`:      true,
		nested(maxDepth + 1): false, `"\ud83d"`: true, `"\ude00\ud83d"`: true, "\"\xff\"": false, "\"\x01\"": false,
		`{} {}`: false, ``: false, ` `: false, `[1,]`: false, `{"a":}`: false, `01`: false,
		`1.`: false, `1e`: false, `-`: false, `+1`: false, `nul`: false, `"a`: false, `"\x"`: false, `"\u12"`: false,
		`[1 2]`: false, `{"a" 1}`: false, `{a:1}`: false, `{"a":1,}`: false,
		"{" + strings.Repeat(`"a":1,`, maxMembers) + `"b":1}`: false,
	} {
		w := s.Begin(&message.Message{Body: []byte(body)})
		if (w != nil) != good {
			t.Errorf("%.50s is read: %v", body, w != nil)
		}
		s.End(w)
	}
}
