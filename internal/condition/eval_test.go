package condition

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

func show(v message.Value) string {
	switch v.Kind() {
	case message.KindNull:
		return "null"
	default:
		return v.Kind().String() + " " + v.Text()
	}
}

func TestLogicHasThreeValues(t *testing.T) {
	// Rows and columns are true, false, null.
	values := []string{"true", "false", "null"}
	for operator, want := range map[string][3]string{
		"and": {"TFN", "FFF", "NFN"},
		"or":  {"TTT", "TFN", "TNN"},
		"xor": {"FTN", "TFN", "NNN"},
		"=":   {"TFN", "FTN", "NNN"},
		"!=":  {"FTN", "TFN", "NNN"},
		"<=>": {"TFF", "FTF", "FFT"},
		"<":   {"FFN", "TFN", "NNN"},
	} {
		for i, left := range values {
			for j, right := range values {
				// Once as constants and once as names, which are not folded.
				text := left + " " + operator + " " + right
				got := letter(parse(t, text).Eval(env{}))
				named := letter(parse(t, "l "+operator+" r").Eval(env{"l": literal(t, left), "r": literal(t, right)}))
				if w := want[i][j : j+1]; got != w || named != w {
					t.Errorf("%s: constants %s, names %s, want %s", text, got, named, w)
				}
			}
		}
	}
	for operator, want := range map[string]string{"not %s": "FTN", "! %s": "FTN", "%s is true": "TFF",
		"%s is false": "FTF", "%s is null": "FFT",
		"%s is unknown":          "FFT",
		"%s is not true":         "FTT",
		"%s is not false":        "TFT",
		"%s is not null":         "TTF",
		"%s in (true, null)":     "TNN",
		"%s in (true, false)":    "TTN",
		"%s not in (true, null)": "FNN",
		"%s between 0 and null":  "NNN", "%s between true and null": "NFN", "%s not between true and null": "NTN"} {
		for i, v := range values {
			text := fmt.Sprintf(operator, v)
			got := letter(parse(t, text).Eval(env{}))
			named := letter(parse(t, fmt.Sprintf(operator, "n")).Eval(env{"n": literal(t, v)}))
			if w := want[i : i+1]; got != w || named != w {
				t.Errorf("%s: constants %s, names %s, want %s", text, got, named, w)
			}
		}
	}
}

func letter(v message.Value) string {
	switch {
	case v.IsNull():
		return "N"
	case v.AsBool():
		return "T"
	default:
		return "F"
	}
}

func literal(t *testing.T, text string) message.Value { return parse(t, text).Eval(env{}) }

func TestArithmetic(t *testing.T) {
	for text, want := range map[string]string{
		"1 + 2 * 3":                   "integer 7",
		"7 div 2":                     "integer 3",
		"-7 div 2":                    "integer -3",
		"-7 % 3":                      "integer -1",
		"7 mod -3":                    "integer 1",
		"7 / 2":                       "decimal 3.5000",
		"1 / 3":                       "decimal 0.3333",
		"2 / 3":                       "decimal 0.6667",
		"-2 / 3":                      "decimal -0.6667",
		"1.00 / 3":                    "decimal 0.3333",
		"1 / 0":                       "null",
		"1 div 0":                     "null",
		"1 % 0":                       "null",
		"1e0 / 0":                     "null",
		"0e0 / 0":                     "null",
		"1.5 % 0":                     "null",
		"1e0 div 0":                   "null",
		"1e0 % 0":                     "null",
		"0.1 + 0.2":                   "decimal 0.3",
		"0.1 + 0.2 = 0.3":             "bool true",
		"0.1e0 + 0.2e0 = 0.3":         "bool false",
		"1.5 * 1.5":                   "decimal 2.25",
		"1.5 - 2":                     "decimal -0.5",
		"7.5 div 2":                   "integer 3",
		"-7.5 % 2":                    "decimal -1.5",
		"5.5e0 % 2":                   "float 1.5",
		"7.9e0 div 2":                 "integer 3",
		"9223372036854775807 + 1":     "integer 9223372036854775808",
		"18446744073709551615 + 1":    "null",
		"-9223372036854775808 - 1":    "null",
		"-9223372036854775808 * -1":   "integer 9223372036854775808",
		"4294967296 * 4294967296":     "null",
		"-(-9223372036854775808 + 0)": "integer 9223372036854775808",
		"1e308 * 10":                  "null",
		"1e300 div 1":                 "null",
		"1e19 div 1":                  "integer 10000000000000000000",
		"99999999999999999999999999999999999999999999999999999999999999999 + 1": "null",

		"0.0000000000000001 * 0.00000000000000049": "decimal 0.000000000000000000000000000000",

		"0.0000000000000001 * 0.0000000000000051": "decimal 0.000000000000000000000000000001",
		"'12' + 1":                              "integer 13",
		"'1.5' + 1":                             "decimal 2.5",
		"'1e1' + 1":                             "float 11",
		"'x' + 1":                               "null",
		"null + 1":                              "null",
		"true + true":                           "integer 2",
		"timestamp '1970-01-01 00:01:00' + 1":   "integer 61",
		"timestamp '1970-01-01 00:00:01.5' + 1": "decimal 2.5",
		"5 & 3":                                 "integer 1",
		"5 | 3":                                 "integer 7",
		"5 ^ 3":                                 "integer 6",
		"1 << 63":                               "integer 9223372036854775808",
		"1 << 64":                               "integer 0",
		"8 >> 2":                                "integer 2",
		"~0":                                    "integer 18446744073709551615",
		"-1 & 255":                              "integer 255",
		"-1 >> 60":                              "integer 15",
		"1.5 | 0":                               "integer 2",
		"2.5e0 | 0":                             "integer 3",
		"'x' | 1":                               "null",
		"1e30 | 1":                              "null",
		"~null":                                 "null",
		"1 << -1":                               "integer 0",
		"-'5'":                                  "integer -5",
		"-'x'":                                  "null",
		"-(1.5 + 0)":                            "decimal -1.5",
		"-(1e0 + 1)":                            "float -2",
		"pow(2, 10)":                            "float 1024",
		"pow(0, -1)":                            "null",
		"pow(-1, 0.5)":                          "null",
		"pow('x', 1)":                           "null",
		"abs(-5)":                               "integer 5",
		"abs(-9223372036854775808)":             "integer 9223372036854775808",
		"abs(-1.5)":                             "decimal 1.5",
		"abs(null)":                             "null",
		"floor(1.5)":                            "integer 1",
		"floor(-1.5)":                           "integer -2",
		"ceil(1.5)":                             "integer 2",
		"ceil(-1.5)":                            "integer -1",
		"floor(3)":                              "integer 3",
		"floor(-1.5e0)":                         "float -2",
		"floor('x')":                            "null",
		"ceil(2.0)":                             "integer 2",
		"length('飛脚')":                          "integer 6",
		"char_length('飛脚')":                     "integer 2",
		"length(123)":                           "integer 3",
		"length(null)":                          "null",
		"lower('AbÉ')":                          "string abé",
		"upper(x'61')":                          "bytes YQ==",
		"lower(null)":                           "null",
		"upper('a')":                            "string A",
		"mod(7, 4)":                             "integer 3",
	} {
		if got := show(parse(t, text).Eval(env{})); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestComparisonsAreExact(t *testing.T) {
	for _, text := range []string{
		"9223372036854775807 < 9223372036854775808",
		"9223372036854775807 < 9223372036854775808e0",
		"9007199254740993 > 9007199254740992e0",
		"18446744073709551615 < 18446744073709551616e0", "18446744073709551615 = '18446744073709551615'",
		"-1 < 18446744073709551615",
		"0.1 = 1e-1",
		"0.10 = 0.1",
		"1.0 = 1",
		"'1.0' = 1",
		"' 7 ' = 7",
		"1 = true",
		"'0x10' = 16 is null",
		"'x' = 0 is null",
		"'' = 0 is null",
		"'a' < 'b'", "'A' < 'a'", "'a' != 'A'", "'a' = x'61'", "'10' < '9'", "'10' > 9", "'é' > 'z'",
		"date '2026-01-02' = '2026-01-02'",
		"timestamp '2026-01-02 00:00:00' < '2026-01-02T00:00:00.000001Z'",
		"date '2026-01-02' = 'soon' is null",
		"date '1970-01-02' = 86400", "timestamp '1969-12-31 23:59:59.5' > -1", "timestamp '1969-12-31 23:59:59.5' < 0",
		"timestamp '1969-12-31 23:59:59.5' = -0.5"} {
		if !parse(t, text).Match(env{}) {
			t.Errorf("%s is not true", text)
		}
	}
	nan := env{"a": message.Float(math.NaN())}
	if v := parse(t, "a = a").Eval(nan); !v.IsNull() {
		t.Errorf("NaN = NaN is %#v", v)
	}
	if !parse(t, "a > 1e308 and a > 999999999999999999999999.5").Match(env{"a": message.Float(math.Inf(1))}) {
		t.Error("infinity is not the largest")
	}
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		text, pattern string
		want          bool
	}{
		{"", "", true},
		{"", "%", true},
		{"a", "", false},
		{"abc", "abc", true},
		{"abc", "ABC", false},
		{"abc", "a%", true},
		{"abc", "%c", true},
		{"abc", "%b%", true},
		{"abc", "a_c", true},
		{"abc", "_b", false},
		{"飛脚", "__", true},
		{"飛脚", "飛_", true},
		{"a%b", `a\%b`, true},
		{"axb", `a\%b`, false},
		{`a\`, `a\`, true},
		{"aXbXc", "a%X%c", true},
		{"aab", "%ab", true},
		{"abab", "%ab%ab", true},
		{"abab", "%abab%ab", false},
		{"mississippi", "%iss%ip%", true},
		{"abc", "%_%_%_%", true},
		{"ab", "%_%_%_%", false},
		{"\xff\xfe", "__", true},
		{"line\nline", "line%line", true},
	} {
		if got := compilePattern(c.pattern, `\`).match(c.text); got != c.want {
			t.Errorf("%q like %q: %v", c.text, c.pattern, got)
		}
	}
	for text, want := range map[string]string{"12 like '1%'": "T", "null like 'a'": "N", "'a' like null": "N",
		"'a%' like 'a!%' escape '!'": "T",
		"'ab' like 'a!%' escape '!'": "F", `'a\\b' like 'a\\b' escape ''`: "T", "1.50 like '%0'": "T"} {
		if got := letter(parse(t, text).Eval(env{})); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	e := parse(t, "a like b")
	if !e.Match(env{"a": message.String("xyz"), "b": message.String("x%")}) ||
		e.Match(env{"a": message.String("xyz")}) {
		t.Error("a pattern from a name")
	}
}

func TestANameWithoutValueIsNull(t *testing.T) {
	e := parse(t, "a = 1 or missing is null")
	if !e.Match(env{"a": message.Int(2)}) {
		t.Error("in an Env")
	}
	b := e.Bind(func(name string) (int, bool) { return 0, name == "a" })
	if !b.Match(row{message.Int(2)}) {
		t.Error("in a Bound")
	}
}

func TestBindResolvesEachNameOnce(t *testing.T) {
	asked := map[string]int{}
	b := parse(t, "a = 1 and (b = 2 or a = 3) and c is null").Bind(func(name string) (int, bool) {
		asked[name]++
		return map[string]int{"a": 1, "b": 0}[name], name != "c"
	})
	if len(asked) != 3 || asked["a"] != 1 || asked["b"] != 1 {
		t.Errorf("asked %v", asked)
	}
	if !b.Match(row{message.Int(2), message.Int(1)}) || b.Match(row{message.Int(1), message.Int(2)}) {
		t.Error("values of the wrong slots")
	}
	if v := b.Eval(row{message.Null(), message.Int(1)}); !v.IsNull() {
		t.Errorf("null and true is %#v", v)
	}
}

func TestAConditionMayBeShared(t *testing.T) {
	e := parse(t, "a >= 10 and (lang like 'j%' or lang in ('en', 'de')) and a / 3 > 1.5")
	b := e.Bind(func(n string) (int, bool) { return map[string]int{"a": 0, "lang": 1}[n], true })
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range int64(100) {
				want := i >= 10
				if b.Match(row{message.Int(i), message.String("ja")}) != want ||
					e.Match(env{"a": message.Int(i), "lang": message.String("en")}) != want || !e.Plan().Served() {
					t.Errorf("a = %d", i)
				}
			}
		})
	}
	group.Wait()
}

func TestEvaluationDoesNotAllocate(t *testing.T) {
	var values Row = row{message.Int(15), message.String("ja"), message.Float(0.5), message.Decimal("12.50"),
		instant("2026-01-02")}
	names := map[string]int{"a": 0, "lang": 1, "f": 2, "d": 3, "t": 4}
	for _, text := range []string{"a >= 10 and lang = 'ja'", "a in (1, 2, 15)", "lang like 'j%'", "a + 1 = 16",
		"f = 0.5", "d > 12", "a between 1 and 20",
		"not (a is null or f < 0)", "t >= date '2026-01-01'", "t > 1501686146", "lang = 5 is null"} {
		b := parse(t, text).Bind(func(n string) (int, bool) { i, ok := names[n]; return i, ok })
		if !b.Match(values) {
			t.Errorf("%s does not match", text)
		}
		if n := testing.AllocsPerRun(100, func() { b.Match(values) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	var values Row = row{message.Int(1501686150), message.String("ja"), message.Float(0.75), message.String("12")}
	names := map[string]int{"a": 0, "lang": 1, "f": 2, "s": 3}
	for _, text := range []string{"a >= 10 and lang = 'ja'", "f > 0.5", "s > 5", "lang in ('de', 'en', 'fr', 'ja')",
		"lang like 'j%'"} {
		bound := parse(b, text).Bind(func(n string) (int, bool) { i, ok := names[n]; return i, ok })
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !bound.Match(values) {
					b.Fatal("no match")
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		parse(b, "enqueued_at >= 1501686146 and lang = 'ja'")
	}
}

func BenchmarkPlan(b *testing.B) {
	e := parse(b, "enqueued_at >= 1501686146 and lang = 'ja'")
	for b.Loop() {
		e.Plan()
	}
}
