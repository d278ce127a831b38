package condition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

// describe writes a plan as a text that tests can compare: branches, then the residue.
func describe(p Plan) string {
	if p.Never() {
		return "never"
	}
	branches := make([]string, len(p.Branches))
	for i, b := range p.Branches {
		var terms []string
		for _, e := range b.Equal {
			terms = append(terms, fmt.Sprintf("%s %s = %#v", e.Name, e.View, e.Key))
		}
		if r := b.Range; r != nil {
			terms = append(terms, fmt.Sprintf("%s %s in %s", r.Name, r.View, describeRange(r)))
		}
		if len(terms) == 0 {
			terms = []string{"all"}
		}
		branches[i] = strings.Join(terms, ", ")
	}
	s := strings.Join(branches, " | ")
	if p.Residue != nil {
		s += " ; " + p.Residue.String()
	}
	return s
}

func describeRange(r *Range) string {
	low, high := "(…", "…)"
	if r.Low.Given {
		low = "[("[b2i(r.Low.Open):][:1] + fmt.Sprintf("%#v", r.Low.Key)
	}
	if r.High.Given {
		high = fmt.Sprintf("%#v", r.High.Key) + "])"[b2i(r.High.Open):][:1]
	}
	return low + ", " + high
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestPlanServesWhatAnIndexCan(t *testing.T) {
	for _, c := range []struct{ condition, want string }{
		{"enqueued_at >= 1501686146 and lang = 'ja'",
			"lang as is = string(ja), enqueued_at as number in [integer(1501686146), …)"},
		{"a = 1", "a as number = integer(1)"},
		{"1 = a", "a as number = integer(1)"},
		{"5 < a", "a as number in (integer(5), …)"},
		{"a = 1.50", "a as number = float(1.5)"},
		{"a = 2 * 3 + 1", "a as number = integer(7)"},
		{"a <=> 1", "a as number = integer(1)"},
		{"a <=> null", "all ; a <=> null"},
		{"a = '7'", "a as is = string(7) | a as is = integer(7)"},
		{"a > 1 and a <= 5", "a as number in (integer(1), integer(5)]"},
		{"a between 1 and 5 and b = 2", "b as number = integer(2), a as number in [integer(1), integer(5)]"},
		{"a >= 5 and a <= 5", "a as number = integer(5)"},
		{"a > 1 and b > 2 and a < 9", "a as number in (integer(1), integer(9)) ; b > 2"},
		{"a != 3", "a as number in (…, integer(3)) | a as number in (integer(3), …)"},
		{"a in (1, 2, 1.0, null)", "a as number = integer(1) | a as number = integer(2)"},
		{"a not in (1, 2)", "a as number in (…, integer(1)) | a as number in (integer(1), integer(2)) | a as number " +
			"in (integer(2), …)"},
		{"not (a < 1 or b = 'x')", "a as number in [integer(1), …) ; not b = 'x'"},
		{"a like 'ja%'", "a as text in [string(ja), string(jb))"},
		{"a like 'ja%x'", "a as text in [string(ja), string(jb)) ; a like 'ja%x'"},
		{"a like 'ja'", "a as text = string(ja)"},
		{"a like '%ja'", "all ; a like '%ja'"},
		{"a = date '2026-01-02'", "a as instant = integer(1767312000)"},
		{"flag", "flag as number in (…, integer(0)) | flag as number in (integer(0), …)"},
		{"not flag", "flag as number = integer(0)"},
		{"(a = 1) is true", "a as number = integer(1)"},
		{"(a = 1) is not true", "all ; a = 1 is not true"},
		{"a = 1 or b = 2", "a as number = integer(1) | b as number = integer(2)"},
		{"(a = 1 or b = 2) and c = 3", "a as number = integer(1), c as number = integer(3) | b as number = " +
			"integer(2), c as number = integer(3)"},
		{"a = 1 or length(b) = 2", "all ; a = 1 or length(b) = 2"},
		{"a = 1 or (b = 2 and c like '%x')", "a as number = integer(1) | b as number = integer(2) ; a = 1 or b = 2 " +
			"and c like '%x'"},
		{"a = 1 and a % 2 = 1", "a as number = integer(1) ; a % 2 = 1"},
		{"a = b", "all ; a = b"},
		{"true", "all"},
		{"a = 1 and true", "a as number = integer(1)"},
		{"a = 1 or true", "all"},
		{"a = 1 xor b = 2", "all ; a = 1 xor b = 2"},
	} {
		if got := describe(parse(t, c.condition).Plan()); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.condition, got, c.want)
		}
	}
}

func TestPlanSeesThatNothingCanMatch(t *testing.T) {
	for _, text := range []string{"a = 1 and a = 2", "a > 5 and a < 3", "a > 5 and a <= 5",
		"a = 7 and a between 1 and 6",
		"false", "null", "a = null", "a in (null)", "a not in (1, null)", "a = 1 and 1 = 2", "a = 'x' and a = 'y'",
		"a like 'x%' and a like 'y%'", "a < ''", "0", "a = 1 and not (a = 1)", "a like null",
		"length(b) > 3 and a = 1 and a = 2",
		"(a = 1 or a = 2) and (a = 3 or a = 4)"} {
		if p := parse(t, text).Plan(); !p.Never() || p.Residue != nil {
			t.Errorf("%s: %s", text, describe(p))
		}
	}
	// Different views do not contradict each other: the string '1' is both.
	if parse(t, "a = 1 and a = '1'").Plan().Never() {
		t.Error("a = 1 and a = '1' can match")
	}
}

func TestPlanKeepsItsBounds(t *testing.T) {
	many := make([]string, MaxBranches+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	text := "a in (" + strings.Join(many, ", ") + ")"
	if p := parse(t, text).Plan(); p.Served() || p.Residue == nil {
		t.Errorf("%d members: %s", len(many), describe(p))
	}
	if p := parse(t, text+" and b = 1").Plan(); !p.Served() || len(p.Branches) != 1 || p.Residue == nil {
		t.Errorf("with an equality: %s", describe(p))
	}
	nine := "in (1, 2, 3, 4, 5, 6, 7, 8, 9)"
	if p := parse(t, "a "+nine+" and b "+nine).Plan(); len(p.Branches) != 9 || p.Residue == nil ||
		p.Residue.String() != "b "+nine {
		t.Errorf("81 pairs: %s", describe(p))
	}
}

func TestTheResidueHasItsOwnNames(t *testing.T) {
	p := parse(t, "a = 1 and length(b) = 2 and length(c) = 3").Plan()
	if got := p.Residue.String(); got != "length(b) = 2 and length(c) = 3" {
		t.Errorf("residue %s", got)
	}
	if got := strings.Join(p.Residue.Names(), " "); got != "b c" {
		t.Errorf("names %s", got)
	}
}

// TestALongConditionHasASmallPlan: what a plan leaves out is in its residue.
func TestALongConditionHasASmallPlan(t *testing.T) {
	for _, form := range []string{"a%[1]d = %[1]d", "a%[1]d >= %[1]d and a%[1]d <= %[1]d"} {
		var terms []string
		for i := range 100 {
			terms = append(terms, fmt.Sprintf(form, i))
		}
		e, err := Parse(strings.Join(terms, " and "))
		if err != nil {
			t.Fatal(err)
		}
		p := e.Plan()
		if len(p.Branches) != 1 || len(p.Branches[0].Equal) > MaxTerms || p.Residue == nil {
			t.Fatalf("%s: %d branches, residue %v", form, len(p.Branches), p.Residue)
		}
		for wrong := range 101 {
			env := fewNames{}
			for i := range 100 {
				env[fmt.Sprint("a", i)] = message.Int(int64(i))
			}
			env[fmt.Sprint("a", wrong)] = message.Int(-1)
			want := wrong == 100
			if got := p.Branches[0].Contains(env) && p.Residue.Match(env); got != want || e.Match(env) != want {
				t.Errorf("%s, a%d is another: %v", form, wrong, got)
			}
		}
	}
}

type fewNames map[string]message.Value

func (v fewNames) Lookup(name string) message.Value {
	if x, ok := v[name]; ok {
		return x
	}
	return message.Null()
}
