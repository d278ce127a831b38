package condition

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Constants and values come from small pools that meet each other at the edges: the same number in every kind, texts
// that read as numbers or times, the limits of integers.
var constantPool = []string{"null", "true", "false", "-1", "0", "1", "2", "010", "9223372036854775807",
	"9223372036854775808",
	"-9223372036854775808", "18446744073709551615", "18446744073709551616", "0.1", "1.0", "1.50", "-0.5", "1e0",
	"15e-1", "1e-1",
	"9223372036854775808e0", "''", "'1'", "'1.0'", "' 1'", "'1e0'", "'ja'", "'jb'", "'j'", "'a%'", "'2026-01-02'",
	"'1970-01-01 00:00:01'", "x'6a61'", "x'ff'", "date '2026-01-02'", "timestamp '1970-01-01 00:00:01'",
	"timestamp '1970-01-01 00:00:01.5'", "'1767312000'"}

func instant(s string) message.Value {
	t, _ := message.ParseTime(s)
	return message.Time(t)
}

var valuePool = []message.Value{message.Null(), message.Null(), message.Bool(true), message.Bool(false),
	message.Int(-1),
	message.Int(0), message.Int(1), message.Int(2), message.Int(8), message.Int(10), message.Int(math.MaxInt64),
	message.Int(math.MinInt64),
	message.Uint(1 << 63), message.Uint(math.MaxUint64), message.Float(0.1), message.Float(1), message.Float(1.5),
	message.Float(-0.5),
	message.Float(1 << 63), message.Float(1 << 64), message.Float(math.NaN()), message.Float(math.Inf(1)),
	message.Float(math.Inf(-1)),
	message.Float(math.Copysign(0, -1)), message.Float(5e-324), message.Float(1e300),
	message.String(""), message.String("1"), message.String("1.0"), message.String(" 1"), message.String("+1"),
	message.String("1e0"),
	message.String("1e999"), message.String("."), message.String(".5"), message.String("5."),
	message.String("18446744073709551616"), message.String("ja"), message.String("jap"), message.String("jb"),
	message.String("j"), message.String("a%"),
	message.String("2026-01-02"), message.String("2026-01-02T00:00:00Z"), message.String("1970-01-01 00:00:01.5"),
	message.Bytes([]byte("ja")), message.Bytes([]byte{0xff}), message.Bytes([]byte{0xff, 0xff, 1}),
	message.Bytes([]byte("1")),
	instant("2026-01-02"), instant("1970-01-01 00:00:01"), instant("1970-01-01 00:00:01.5"),
	instant("1969-12-31 23:59:59.5"),
	message.Time(time.UnixMicro(math.MinInt64)), message.Time(time.UnixMicro(math.MaxInt64)),
	message.Decimal("1.50"), message.Decimal("0.1"), message.Decimal("-0.50"), message.Decimal("1"),
	message.Decimal("001.0"),
	message.Decimal("18446744073709551616"), message.Decimal("wrong"), message.Decimal("-0")}

var namePool = []string{"a", "b", "c", "`a-b`"}

func pickFrom[T any](t *rapid.T, pool []T) T {
	return pool[rapid.IntRange(0, len(pool)-1).Draw(t, "pick")]
}

func drawEnv(t *rapid.T) env {
	e := env{}
	for _, n := range namePool {
		e[strings.Trim(n, "`")] = pickFrom(t, valuePool)
	}
	return e
}

// drawCondition makes a condition's text: mostly comparisons of a name with a constant, joined by logic.
func drawCondition(t *rapid.T, depth int) string {
	choice := rapid.IntRange(0, 13).Draw(t, "form")
	if depth == 0 && choice < 5 {
		choice = 7
	}
	name := func() string { return pickFrom(t, namePool) }
	constant := func() string { return pickFrom(t, constantPool) }
	not := func() string { return pickFrom(t, []string{"", "not "}) }
	switch choice {
	case 0, 1:
		return "(" + drawCondition(t, depth-1) + ") and (" + drawCondition(t, depth-1) + ")"
	case 2:
		return "(" + drawCondition(t, depth-1) + ") or (" + drawCondition(t, depth-1) + ")"
	case 3:
		return "(" + drawCondition(t, depth-1) + ") xor (" + drawCondition(t, depth-1) + ")"
	case 4:
		return "not (" + drawCondition(t, depth-1) + ")"
	case 5:
		return name()
	case 6:
		return constant() + pickFrom(t, []string{" < ", " <= ", " > ", " >= ", " = ", " != "}) + name()
	case 7, 8:
		return name() + pickFrom(t, []string{" < ", " <= ", " > ", " >= ", " = ", " != ", " <=> "}) + constant()
	case 9:
		return name() + pickFrom(t, []string{" < ", " = ", " <=> "}) + name()
	case 10:
		return name() + " " + not() + "between " + constant() + " and " + constant()
	case 11:
		list := []string{constant()}
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			list = append(list, constant())
		}
		return name() + " " + not() + "in (" + strings.Join(list, ", ") + ")"
	case 12:
		return name() + " " + not() + "like " + pickFrom(t,
			[]string{"'j%'", "'%a'", "'ja'", "'_a%'", "'%'", "''", "'1%'", `'a\%'`, "'j!%' escape '!'", "'2026%'",
				"x'ff25'", "null"})
	default:
		return "(" + name() + pickFrom(t, []string{" < 1", ""}) + ") is " + not() + pickFrom(t,
			[]string{"null", "true", "false", "unknown"})
	}
}

func TestEvaluationMeansWhatThePlainDefinitionSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawCondition(t, 3)
		e, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		for range 4 {
			values := drawEnv(t)
			want, got := naive(e.root, values), e.Eval(values)
			if got != want && !(got.Kind() == message.KindFloat && math.IsNaN(got.AsFloat())) {
				t.Fatalf("%s with %#v: got %#v, want %#v", text, values, got, want)
			}
			if match := e.Match(values); match != (naiveTruth(want) == message.Bool(true)) {
				t.Fatalf("%s with %#v: Match is %v, the value %#v", text, values, match, want)
			}
		}
	})
}

func TestIntegerArithmeticIsExactOrNull(t *testing.T) {
	pool := []string{"-9223372036854775808", "-9223372036854775807", "-3", "-1", "0", "1", "2", "4294967296",
		"9223372036854775807",
		"9223372036854775808", "18446744073709551615", "a"}
	rapid.Check(t, func(t *rapid.T) {
		text := fmt.Sprintf("%s %s %s", pickFrom(t, pool), pickFrom(t, []string{"+", "-", "*"}), pickFrom(t, pool))
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		values := env{"a": pickFrom(t,
			[]message.Value{message.Int(7), message.Uint(1 << 63), message.Int(math.MinInt64), message.String("12"),
				message.Null()})}
		if want, got := naive(e.root, values), e.Eval(values); got != want {
			t.Fatalf("%s with %#v: got %#v, want %#v", text, values, got, want)
		}
	})
}

func TestCanonicalTextParsesToTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawCondition(t, 4)
		first, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		again, err := Parse(first.String())
		if err != nil {
			t.Fatalf("%q became %q: %v", text, first, err)
		}
		if grouped(first.root) != grouped(again.root) || first.String() != again.String() {
			t.Fatalf("%q became %q, which is %q", text, first, again)
		}
	})
}

func TestThePlanMatchesWhatTheConditionMatches(t *testing.T) {
	served, narrowed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawCondition(t, 3)
		e, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		p := e.Plan()
		if p.Served() {
			served++
		}
		if len(p.Branches) > MaxBranches {
			t.Fatalf("%s: %d branches", text, len(p.Branches))
		}
		for range 8 {
			values := drawEnv(t)
			want, got := e.Match(values), planMatches(p, values)
			if want != got {
				t.Fatalf("%s with %#v: condition %v, plan %v: %s", text, values, want, got, describe(p))
			}
			if !got {
				narrowed++
			}
		}
	})
	if served == 0 || narrowed == 0 {
		t.Errorf("the generator made nothing of interest: %d plans served, %d values left out", served, narrowed)
	}
}

func planMatches(p Plan, values env) bool {
	if p.Residue != nil && !p.Residue.Match(values) {
		return false
	}
	for i := range p.Branches {
		if p.Branches[i].Contains(values) {
			return true
		}
	}
	return false
}

func TestKeysOrderValuesAsComparisonsDo(t *testing.T) {
	views := map[View][]message.Value{
		AsNumber: {message.Int(1), message.Float(0.1), message.Decimal("1.5"), message.Uint(math.MaxUint64),
			message.Float(1 << 63)},
		AsInstant: {instant("2026-01-02"), instant("1970-01-01 00:00:01.5"), instant("1969-12-31 23:59:59.5")},
		AsIs: {message.String("ja"), message.String("1"), message.String("2026-01-02"),
			message.Bytes([]byte{0xff}), message.String("")},
	}
	for view, constants := range views {
		for _, c := range constants {
			for _, v := range valuePool {
				want, ok := compare(v, c)
				key, keyed := view.Key(v)
				if ok && !keyed {
					t.Errorf("%s: %#v compares with %#v but has no key", view, v, c)
				}
				if view == AsIs || !ok || !keyed {
					continue
				}
				ck, _ := view.Key(c)
				if got := CompareKeys(key, ck); got != want || (got == 0) != (key == ck) {
					t.Errorf("%s: %#v with %#v: compare %d, keys %#v and %#v %d", view, v, c, want, key, ck, got)
				}
			}
		}
	}
}

func TestKeysAreInATotalOrder(t *testing.T) {
	for _, view := range []View{AsIs, AsNumber, AsInstant, AsText} {
		var keys []message.Value
		for _, v := range valuePool {
			if k, ok := view.Key(v); ok {
				keys = append(keys, k)
			}
		}
		for _, a := range keys {
			for _, b := range keys {
				ab := CompareKeys(a, b)
				if ab != -CompareKeys(b, a) || (ab == 0) != (a == b) {
					t.Fatalf("%s: %#v and %#v: %d and %d", view, a, b, ab, CompareKeys(b, a))
				}
				for _, c := range keys {
					if ab <= 0 && CompareKeys(b, c) <= 0 && CompareKeys(a, c) > 0 {
						t.Fatalf("%s: %#v <= %#v <= %#v but not the ends", view, a, b, c)
					}
				}
			}
		}
	}
}
