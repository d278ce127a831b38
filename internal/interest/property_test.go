package interest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Constants and values meet each other at the edges: the same number in every kind, texts that read as numbers or
// times, the limits of integers, texts with a common beginning.
var constants = []string{"null", "true", "false", "-1", "0", "1", "2", "3", "9223372036854775807",
	"18446744073709551615",
	"18446744073709551616", "18446744073709551617", "0.1", "1.50", "-0.5", "1e0", "15e-1", "1e300", "''", "'1'",
	"'1.0'", "' 1'", "'ja'", "'jb'", "'j'",
	"'japanese-1'", "'japanese-2'", "'japanese-3'", "'2026-01-02'", "x'6a61'", "x'ff'", "date '2026-01-02'",
	"timestamp '1970-01-01 00:00:01.5'", "'1767312000'"}

var samples = []message.Value{message.Null(), message.Bool(true), message.Bool(false), message.Int(-1), message.Int(0),
	message.Int(1), message.Int(2),
	message.Int(3), message.Int(math.MaxInt64), message.Int(math.MinInt64), message.Uint(math.MaxUint64),
	message.Float(0.1), message.Float(1), message.Float(1.5),
	message.Float(-0.5), message.Float(1 << 64), message.Float(math.NaN()), message.Float(math.Inf(1)),
	message.Float(math.Inf(-1)),
	message.Float(math.Copysign(0, -1)), message.Float(math.MaxFloat64), message.String(""), message.String("1"),
	message.String("1.0"), message.String(" 1"),
	message.String("1e999"), message.String("ja"), message.String("jb"), message.String("j"),
	message.String("japanese-1"), message.String("japanese-2"),
	message.String("japanese-25"), message.String("2026-01-02"), message.Bytes([]byte("ja")),
	message.Bytes([]byte{0xff, 1}),
	message.Time(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)), message.Time(time.UnixMicro(1_500_000)),
	message.Time(time.UnixMicro(-1)),
	message.Decimal("1.50"), message.Decimal("0.1"), message.Decimal("18446744073709551616"),
	message.Decimal("18446744073709551617"),
	message.Decimal("1" + strings.Repeat("0", 400)), message.Decimal("wrong")}

var fieldNames = []string{"a", "b", "c"}

func drawValues(t *rapid.T) values {
	var v values
	for _, n := range fieldNames {
		v = append(v, one(n, rapid.SampledFrom(samples).Draw(t, n))...)
	}
	return v
}

// drawCondition makes a condition's text of every form that there is.
func drawCondition(t *rapid.T, depth int) string {
	of := func(pool ...string) string { return rapid.SampledFrom(pool).Draw(t, "pick") }
	field := func() string { return of(fieldNames...) }
	constant := func() string { return of(constants...) }
	form := rapid.IntRange(0, 15).Draw(t, "form")
	if depth == 0 && form < 6 {
		form += 6
	}
	switch form {
	case 0, 1, 2:
		return "(" + drawCondition(t, depth-1) + ") and (" + drawCondition(t, depth-1) + ")"
	case 3, 4:
		return "(" + drawCondition(t, depth-1) + ")" + of(" or ", " or ", " xor ") + "(" + drawCondition(t, depth-1) +
			")"
	case 5:
		return "not (" + drawCondition(t, depth-1) + ")"
	case 6, 7:
		return field() + " = " + constant()
	case 8, 9:
		return field() + of(" < ", " <= ", " > ", " >= ") + constant()
	case 10:
		return field() + of(" != ", " <=> ") + constant()
	case 11:
		return field() + of(" ", " not ") + "between " + constant() + " and " + constant()
	case 12:
		members := rapid.SliceOfN(rapid.SampledFrom(constants), 1, 4).Draw(t, "members")
		return field() + of(" ", " not ") + "in (" + strings.Join(members, ", ") + ")"
	case 13:
		return field() + of(" ", " not ") + "like " + of("'j%'", "'%a'", "'ja'", "'_a%'", "'%'", "''", "'1%'",
			"'japanese-%'", "'japanese-2%'", "'2026%'")
	case 14:
		return field() + of(" + ", " - ", " * ", " % ") + field() + of(" < ", " = ", " != ") + constant()
	default:
		return field() + " is " + of("", "not ") + of("null", "true", "false")
	}
}

func TestTheSetSaysWhatAskingEveryConditionSays(t *testing.T) {
	found, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var s Set
		var l list
		now := uint64(0)
		add := func(id uint64, text string) {
			e := parse(t, text)
			s.Add(id, e)
			l = append(l, waits{id, e})
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				now++
				for range rapid.IntRange(1, 3).Draw(t, "conditions") {
					add(now, drawCondition(t, 2))
				}
			},
			"add everything": func(t *rapid.T) {
				now++
				add(now, "")
			},
			"add another": func(t *rapid.T) {
				if len(l) == 0 {
					return
				}
				id, again := now+1, rapid.SampledFrom(l).Draw(t, "again")
				if rapid.Bool().Draw(t, "late") {
					id = rapid.Uint64Range(0, now).Draw(t, "id")
				}
				now = max(now, id)
				s.Add(id, again.where)
				l = append(l, waits{id, again.where})
			},
			"remove": func(t *rapid.T) {
				for range min(len(l), rapid.IntRange(1, 4).Draw(t, "n")) {
					i := rapid.IntRange(0, len(l)-1).Draw(t, "which")
					s.Remove(l[i].id, l[i].where)
					l = slices.Delete(l, i, i+1)
				}
			},
			"ask": func(t *rapid.T) {
				m := drawValues(t)
				got, want := slices.Collect(s.Matching(m)), l.matching(m)
				if !slices.Equal(got, want) {
					t.Fatalf("%v: %v, want %v", m, got, want)
				}
				for id := range s.Matching(m) {
					if id != want[0] {
						t.Fatalf("%v: %d comes first, want %v", m, id, want)
					}
					break
				}
				found, missed = found+len(want), missed+len(l)-len(want)
			},
			"": func(t *rapid.T) {
				s.check(t)
				if s.Len() != len(l) {
					t.Fatalf("Len is %d, want %d", s.Len(), len(l))
				}
			},
		})
		for _, w := range l {
			s.Remove(w.id, w.where)
		}
		expectNothingLeft(t, &s)
	})
	if found == 0 || missed == 0 {
		t.Errorf("the generator made nothing of interest: %d found, %d missed", found, missed)
	}
}

func expectNothingLeft(t fataler, s *Set) {
	if s.Len() != 0 || s.interests.entries != nil || s.shapes.entries != nil || s.inUse != nil ||
		s.names.entries != nil {
		t.Fatalf("of an empty set is left: %+v", *s)
	}
}

// Many conditions, few forms: deep trees and full drawers, where the other test has many forms and few conditions.
func TestCrowdedTreesSayWhatAskingEveryConditionSays(t *testing.T) {
	forms := []string{"n >= %d", "n < %d", "n between %d and %d", "n > %d and n < %d", "n != %d",
		"lang = 'ja' and n between %d and %d",
		"lang in ('ja', '%d')", "lang = 'ja' and n + 0 = %d", "n in (%d, %d) or lang = 'en'", "n = %d"}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		domain := rapid.SampledFrom([]int{3, 50, 1000}).Draw(t, "domain")
		var s Set
		var l list
		for id := range uint64(rapid.SampledFrom([]int{30, 300}).Draw(t, "conditions")) {
			form, low := forms[r.IntN(len(forms))], r.IntN(domain)
			text := fmt.Sprintf(form, low)
			if strings.Count(form, "%") == 2 {
				text = fmt.Sprintf(form, low, low+r.IntN(domain))
			}
			w := waits{id, parse(t, text)}
			s.Add(w.id, w.where)
			l = append(l, w)
		}
		for len(l) > 0 {
			s.check(t)
			for range 5 {
				m := values{{"n", message.Int(int64(r.IntN(domain)))},
					{"lang", message.String([]string{"ja", "en", "fr"}[r.IntN(3)])}}
				if got, want := slices.Collect(s.Matching(m)), l.matching(m); !slices.Equal(got, want) {
					t.Fatalf("%v: %v, want %v", m, got, want)
				}
			}
			for range min(len(l), 1+len(l)/3) {
				i := r.IntN(len(l))
				s.Remove(l[i].id, l[i].where)
				l = slices.Delete(l, i, i+1)
			}
		}
		expectNothingLeft(t, &s)
	})
}
