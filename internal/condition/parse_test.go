package condition

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestOperatorsBindAsInMySQL(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a or b and c", "(a or (b and c))"},
		{"a or b xor c and d", "(a or (b xor (c and d)))"},
		{"a && b || c", "((a and b) or c)"},
		{"a and (b and c) and d", "(a and b and c and d)"},
		{"not a = b", "(not (a = b))"},
		{"! a = b", "((not a) = b)"},
		{"not a and b", "((not a) and b)"},
		{"not not a", "(not (not a))"},
		{"a = b = c", "((a = b) = c)"},
		{"a < b is true", "((a < b) is true)"},
		{"a is null = b", "((a is null) = b)"},
		{"a = b is not unknown", "((a = b) is not null)"},
		{"a between 1 and 2 and b", "((a between 1 and 2) and b)"},
		{"a between 1 and 2 = b", "((a between 1 and 2) = b)"},
		{"a not between 1 + 1 and 2 | 4", "(a not between (1 + 1) and (2 | 4))"},
		{"a in (1, 2) = true", "((a in 1, 2) = true)"},
		{"a + 1 in (1 or 2)", "((a + 1) in (1 or 2))"},
		{"a like 'x' and b", "((a like 'x') and b)"},
		{"not a like 'x'", "(not (a like 'x'))"},
		{"a | b & c << d + e * f ^ g", "(a | (b & (c << (d + (e * (f ^ g))))))"},
		{"a ^ b * c + d << e & f | g", "((((((a ^ b) * c) + d) << e) & f) | g)"},
		{"a - b - c", "((a - b) - c)"},
		{"a / b * c % d", "(((a / b) * c) % d)"},
		{"a div b mod c", "((a div b) % c)"},
		{"a << 1 >> 2", "((a << 1) >> 2)"},
		{"-a ^ b", "((- a) ^ b)"},
		{"~a * -b", "((~ a) * (- b))"},
		{"- -a", "(- (- a))"},
		{"- -5", "5"},
		{"+a", "a"},
		{"!~a", "(not (~ a))"},
		{"a & 1 = 1", "((a & 1) = 1)"},
		{"a % 2 = 1 or b", "(((a % 2) = 1) or b)"},
		{"pow(a, 2) > mod(b, 3)", "(pow(a, 2) > mod(b, 3))"},
		{"a == b", "(a = b)"},
		{"a <> b", "(a != b)"},
		{"a <=> b", "(a <=> b)"},
		{"A AND B", "(A and B)"},
	} {
		e := parse(t, c.text)
		if got := grouped(e.root); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
		if again := parse(t, e.String()); grouped(again.root) != c.want {
			t.Errorf("%s: canonical %q is %s", c.text, e, grouped(again.root))
		}
	}
}

func TestCanonicalTextHasOneSpelling(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"  A  &&\n!b", "A and not b"},
		{"(a) = (((1)))", "a = 1"},
		{"(a or b) and c", "(a or b) and c"},
		{"(not a) = b", "(not a) = b"},
		{"a <> 0x1F", "a != 31"},
		{"a = 010", "a = 8"},
		{"a = \"it's\"", "a = 'it''s'"},
		{`a = 'tab\tnew\nzero\0back\\'`, `a = 'tab\tnew\nzero\0back\\'`},
		{"`and` = `a``b` and `b c` = `a.b`", "`and` = `a``b` and `b c` = a.b"},
		{"a IS NOT Unknown", "a is not null"},
		{"a not in (1,2)", "a not in (1, 2)"},
		{"a like 'x' escape '|'", "a like 'x' escape '|'"},
		{`a like 'x' escape '\\'`, "a like 'x'"},
		{"a like 'x' escape ''", "a like 'x' escape ''"},
		{"a = .5", "a = 0.5"},
		{"a = 007.50", "a = 7.50"},
		{"a = 1.5e3", "a = 1500e0"},
		{"a = 1e100", "a = 1e+100"},
		{"a = X'4A'", "a = x'4a'"},
		{"a = DATE '2026-01-02'", "a = timestamp '2026-01-02 00:00:00'"},
		{"a = timestamp '2026-01-02T03:04:05.125+09:00'", "a = timestamp '2026-01-01 18:04:05.125'"},
		{"power(a, ceiling(b))", "pow(a, ceil(b))"},
		{"a mod 2", "a % 2"},
		{"a - -1", "a - -1"},
		{"-(-(a))", "-(-a)"},
		{"-(a + 1)", "-(a + 1)"},
		{"a - (b - c)", "a - (b - c)"},
		{"(a - b) - c", "a - b - c"},
		{"a between (1 and 2) and (b = 3)", "a between (1 and 2) and (b = 3)"},
		{"a = (b = c)", "a = (b = c)"},
		{"(a = b) in (1)", "(a = b) in (1)"},
		{"date = timestamp", "date = timestamp"},
		{"escape = 1", "escape = 1"},
		{"名前 = '飛脚'", "名前 = '飛脚'"},
	} {
		if got := parse(t, c.text).String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestLiteralsHaveTheirKind(t *testing.T) {
	for text, want := range map[string]message.Value{
		"0":                                   message.Int(0),
		"42":                                  message.Int(42),
		"-42":                                 message.Int(-42),
		"0x10":                                message.Int(16),
		"017":                                 message.Int(15),
		"9223372036854775807":                 message.Int(1<<63 - 1),
		"-9223372036854775808":                message.Int(-1 << 63),
		"--9223372036854775808":               message.Uint(1 << 63),
		"18446744073709551615":                message.Uint(1<<64 - 1),
		"18446744073709551616":                message.Decimal("18446744073709551616"),
		"-18446744073709551615":               message.Decimal("-18446744073709551615"),
		"1.50":                                message.Decimal("1.50"),
		"-0.0":                                message.Decimal("0.0"),
		"1e3":                                 message.Float(1000),
		"-1E-1":                               message.Float(-0.1),
		"-0e0":                                message.Float(0),
		"'a''b'":                              message.String("a'b"),
		`"a""b"`:                              message.String(`a"b`),
		`'\'\"\q\Z\b'`:                        message.String("'\"q\x1a\b"),
		`'100\%\_'`:                           message.String(`100\%\_`),
		"x''":                                 message.Bytes(nil),
		"x'00fF'":                             message.Bytes([]byte{0, 255}),
		"null":                                message.Null(),
		"TRUE":                                message.Bool(true),
		"date '1970-01-02'":                   instant("1970-01-02"),
		"timestamp '2026-01-02 03:04:05.123'": instant("2026-01-02T03:04:05.123Z"),
		"timestamp '2026-01-02'":              instant("2026-01-02"),
	} {
		e := parse(t, text)
		if e.root.op != opConst || e.root.value != want {
			t.Errorf("%s: %#v, want %#v", text, e.root.value, want)
		}
		if again := parse(t, e.String()); again.root.value != want {
			t.Errorf("%s: printed %s, which is %#v", text, e, again.root.value)
		}
	}
}

func TestNamesAreListedOnceInTheirOrder(t *testing.T) {
	e := parse(t, "b = 1 and a = 2 and B = 3 and `b` = 4 and x.y_z$1 = date and lower(c) = 'x'")
	if want := []string{"b", "a", "B", "x.y_z$1", "date", "c"}; !slices.Equal(e.Names(), want) {
		t.Errorf("names %q, want %q", e.Names(), want)
	}
}

func TestRenamingGivesNamesOneSpelling(t *testing.T) {
	e := parse(t, "LANG = 'ja' and Lang != 'x' and id > 1")
	r := e.Rename(strings.ToLower)
	if got := r.String(); got != "lang = 'ja' and lang != 'x' and id > 1" {
		t.Errorf("renamed to %s", got)
	}
	if want := []string{"lang", "id"}; !slices.Equal(r.Names(), want) {
		t.Errorf("names %q", r.Names())
	}
	if !r.Match(env{"lang": message.String("ja"), "id": message.Int(2)}) ||
		e.String() != "LANG = 'ja' and Lang != 'x' and id > 1" {
		t.Errorf("renaming changed the wrong condition: %s", e)
	}
	if parse(t, "a = 1 and A = 2").Rename(strings.ToLower).Plan().Never() != true {
		t.Error("one name under two spellings is not seen to contradict itself")
	}
	var wrong *Error
	if err := r.Check(func(n string) bool { return n == "lang" }, nil); !errors.As(err, &wrong) || wrong.Offset != 32 {
		t.Errorf("the error is %v", err)
	}
}

func TestConditionsAreBounded(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("!(1 = ", n) + "1" + strings.Repeat(")", n) }
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"long text", "a = '" + strings.Repeat("x", MaxText-6) + "'", true},
		{"too long a text", "a = '" + strings.Repeat("x", MaxText-5) + "'", false},
		{"depth", deep(MaxDepth/2 - 1), true},
		{"too deep", deep(MaxDepth), false},
		{"parentheses", strings.Repeat("(", maxNesting) + "1" + strings.Repeat(")", maxNesting), true},
		{"many parentheses", strings.Repeat("(", 30_000) + "1" + strings.Repeat(")", 30_000), false},
		{"many signs", strings.Repeat("~", 30_000) + "1", false},
		{"many nots", strings.Repeat("not ", 10_000) + "1", false},
		{"long sums", "a" + strings.Repeat("+1", MaxDepth), false},
		{"long conjunctions", "a" + strings.Repeat(" and a", 10_000), true},
		{"long betweens", strings.Repeat("a between 1 and ", 4_000) + "1", false},
		{"list", "a in (1" + strings.Repeat(",1", MaxList-1) + ")", true},
		{"too long a list", "a in (1" + strings.Repeat(",1", MaxList) + ")", false},
		{"digits", strings.Repeat("9", maxDigits), true},
		{"too many digits", strings.Repeat("9", maxDigits+1), false},
	} {
		e, err := Parse(c.text)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			e.Match(env{})
			e.Plan()
			if e.String() == "" {
				t.Errorf("%s: no text", c.name)
			}
		}
	}
}

// The canonical text tells conditions apart, so an operator that it leaves out would be taken for another.
func TestEveryOperatorHasASpelling(t *testing.T) {
	written := []op{opConst, opName, opNot, opNegate, opInvert, opIs, opIn, opBetween, opLike, opCall} // by printAt
	for o := opConst; o <= opCall; o++ {
		if spellings[o].text == "" && !slices.Contains(written, o) {
			t.Errorf("operator %d has no text", o)
		}
	}
}
