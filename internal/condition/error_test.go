package condition

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestErrorsSayWhatWhereAndWhatToDo(t *testing.T) {
	columns := []string{"id", "lang", "enqueued_at", "payload"}
	known := func(name string) bool {
		for _, c := range columns {
			if strings.EqualFold(c, name) {
				return true
			}
		}
		return false
	}
	var b strings.Builder
	for _, text := range []string{
		"",
		"   ",
		"a =",
		"a = = 1",
		"a = 1 b",
		"a b",
		"(a = 1",
		"a = 1)",
		"a in 1",
		"a in ()",
		"a in (1",
		"a in (1,)",
		"a not 1",
		"a is 5",
		"a between 1",
		"a between 1 or 2",
		"a like 'x' escape 'xy'",
		"a = 'open",
		`a = "open`,
		"a = `open",
		"a = ``",
		"a = x'0'",
		"a = x'zz'",
		"a = x'00",
		"a = 08",
		"a = 0xzz",
		"a = 0x11112222333344445",
		"a = 1.",
		"a = 1e",
		"a = 1e999",
		"a = 12abc",
		"a = 99999999999999999999999999999999999999999999999999999999999999999.9",
		"a; drop",
		"a = ‘ja’",
		"a ? 1",
		"a = b = in (1)",
		"a is null in (1)",
		"key = 1 and and = 2",
		"pov(a, 2) = 4",
		"pow(a) = 4",
		"abs() = 1",
		"nothing_like_it(a)",
		"date '2026-13-01' = a",
		"date '2026-01-02 03:04:05' = a",
		"timestamp 'soon' = a",
		"lnag = 'ja'",
		"enqueued_at >= 1 and\n\tLANG = 'ja' and\n\tpayloda = 'x'",
		"something_else = 1",
		"名前 = '飛脚' and lagn = 'x'",
		"x\xff = 1",
		"'\uFFFD' = '\xff'",
		"a = '\x01\x7f' ?",
		"id = '" + strings.Repeat("x", 200) + "' and idd = 1 and " + strings.Repeat("id = 1 and ", 20) + "true",
		"a in (1" + strings.Repeat(",1", MaxList) + ")", strings.Repeat("not ", 400) + "a",
	} {
		e, err := Parse(text)
		if err == nil {
			err = e.Check(known, columns)
		}
		var wrong *Error
		if !errors.As(err, &wrong) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if len(text) > 300 {
			text = text[:20] + "…"
		}
		fmt.Fprintf(&b, "== %q\n%s\n%s\n\n", text, wrong.Error(), wrong.Pretty())
	}
	golden(t, "testdata/errors.txt", b.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run the test with -update and look at the change\n%s", path, got)
	}
}

func TestErrorsPointAtTheCharacter(t *testing.T) {
	for _, c := range []struct {
		text                 string
		offset, line, column int
	}{
		{"a = ?", 4, 1, 5},
		{"名 = ?", 6, 1, 5},
		{"a = 1 and\nb = ?", 14, 2, 5},
		{"a =", 3, 1, 4},
		{"", 0, 1, 1},
	} {
		_, err := Parse(c.text)
		var e *Error
		if !errors.As(err, &e) || e.Offset != c.offset || e.Line != c.line || e.Column != c.column || e.Text != c.text {
			t.Errorf("%q: %+v", c.text, e)
		}
	}
}

func TestCheckAcceptsKnownNames(t *testing.T) {
	e := parse(t, "lang = 'ja' and length(id) > 3")
	if err := e.Check(func(n string) bool { return n == "lang" || n == "id" }, nil); err != nil {
		t.Error(err)
	}
}

func TestTheNearestNameIsSuggested(t *testing.T) {
	candidates := []string{"id", "lang", "enqueued_at", "payload", "priority"}
	for name, want := range map[string]string{"lnag": "lang", "LANG": "lang", "enqueud_at": "enqueued_at",
		"prio": "priority", "i": "id", "payloads": "payload",
		"zzzzzz": "", "priorty": "priority", "": ""} {
		got := didYouMean(name, candidates)
		if want != "" {
			want = fmt.Sprintf("did you mean %q?", want)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
