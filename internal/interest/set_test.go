package interest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestTheLongestWaitingComesFirst(t *testing.T) {
	var s Set
	for id, text := range []string{"n > 100", "lang = 'ja'", "", "n < 10", "lang in ('en', 'ja')", "length(lang) = 2",
		"n between 1 and 9", "lang = 'en'"} {
		s.Add(uint64(id), parse(t, text))
	}
	m := values{{"lang", message.String("ja")}, {"n", message.Int(5)}}
	if got, want := slices.Collect(s.Matching(m)), []uint64{1, 2, 3, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestEachWaiterComesOnce(t *testing.T) {
	var s Set
	for _, text := range []string{"", "a = 1", "a > 0 or b > 0", "a in (1, 2) or b in (1, 2)", "a != 7"} {
		s.Add(1, parse(t, text))
		s.Add(2, parse(t, text))
		s.Add(2, parse(t, text))
	}
	m := values{{"a", message.Int(1)}, {"b", message.Int(1)}}
	if got := slices.Collect(s.Matching(m)); !slices.Equal(got, []uint64{1, 2}) {
		t.Errorf("%v, want 1 and 2", got)
	}
}

func TestRemovingTakesOneAddBack(t *testing.T) {
	var s Set
	a, b := parse(t, "a = 1"), parse(t, "b = 1")
	m := values{{"a", message.Int(1)}, {"b", message.Int(1)}}
	expect := func(size int, want ...uint64) {
		t.Helper()
		if got := slices.Collect(s.Matching(m)); !slices.Equal(got, want) || s.Len() != size {
			t.Errorf("%v of %d, want %v of %d", got, s.Len(), want, size)
		}
		s.check(t)
	}
	expect(0)
	s.Add(1, a)
	s.Add(1, a)
	s.Add(1, b)
	s.Add(2, a)
	expect(4, 1, 2)
	s.Remove(1, a)
	expect(3, 1, 2)
	s.Remove(1, b)
	expect(2, 1, 2)
	s.Remove(1, a)
	expect(1, 2)
	s.Remove(1, a)   // is not there any more
	s.Remove(2, b)   // never was, nor does anybody wait for it
	s.Remove(9, a)   // never was
	s.Remove(2, nil) // waits for something else
	s.Remove(1, parse(t, "c = 1"))
	expect(1, 2)
	s.Remove(2, a)
	expect(0)
}

func TestConditionsThatDifferInSpellingAreOne(t *testing.T) {
	var s Set
	s.Add(1, parse(t, "lang='ja' AND n BETWEEN 1 AND 2"))
	s.Add(2, parse(t, "(lang = 'ja') && (n between 01 and 2)"))
	if n := s.interests.size(); n != 1 {
		t.Errorf("%d conditions, want 1", n)
	}
	s.Remove(1, parse(t, "lang = \"ja\" and n between 1 and 2"))
	if got := slices.Collect(s.Matching(values{{"lang", message.String("ja")}, {"n", message.Int(1)}})); !slices.Equal(
		got, []uint64{2}) {
		t.Errorf("%v, want 2", got)
	}
}

func TestWhatContradictsItselfIsMetByNothing(t *testing.T) {
	var s Set
	never := parse(t, "a = 1 and a = 2")
	s.Add(1, never)
	s.Add(2, never)
	for id := range s.Matching(one("a", message.Int(1))) {
		t.Errorf("%d waits for it", id)
	}
	if s.Len() != 2 || len(s.inUse) != 0 {
		t.Errorf("%d wait, with %d shapes", s.Len(), len(s.inUse))
	}
	s.Remove(1, never)
	s.Remove(2, never)
	if s.Len() != 0 || s.interests.size() != 0 {
		t.Error("something is left")
	}
}

func TestLateIdsTakeTheirPlace(t *testing.T) {
	var s Set
	for _, id := range []uint64{5, 3, 9, 1, 7} {
		s.Add(id, parse(t, "a = 1"))
		s.Add(id+1, parse(t, "a < 2"))
		s.check(t)
	}
	if got := slices.Collect(s.Matching(one("a", message.Int(1)))); !slices.Equal(got,
		[]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Errorf("%v, want 1 to 10", got)
	}
}

// Texts with a long common beginning have one image; so have numbers that only their last digits tell apart.
func TestRangesAreToldApartBehindACommonBeginning(t *testing.T) {
	const beginning = "https://example.org/"
	var s Set
	var l list
	for id := range uint64(50) {
		for i, text := range []string{
			fmt.Sprintf("url between '%s%02d' and '%s%02d'", beginning, id, beginning, id+3),
			fmt.Sprintf("url > '%s%02d' and url < '%s%02d'", beginning, id, beginning, id+3),
			fmt.Sprintf("url >= '%s%02d'", beginning, id),
			fmt.Sprintf("big > %d and big <= %d", 1<<60+id, 1<<60+id+3),
		} {
			w := waits{4*id + uint64(i), parse(t, text)}
			s.Add(w.id, w.where)
			l = append(l, w)
		}
	}
	s.check(t)
	for n := range uint64(55) {
		m := values{{"url", message.String(fmt.Sprintf("%s%02d", beginning, n))}, {"big", message.Uint(1<<60 + n)}}
		if got, want := slices.Collect(s.Matching(m)), l.matching(m); !slices.Equal(got, want) {
			t.Fatalf("%d: %v, want %v", n, got, want)
		}
	}
}

// counted counts how often it is asked for each name.
type counted struct {
	values
	asked map[string]int
}

func (c counted) Lookup(name string) message.Value {
	c.asked[name]++
	return c.values.Lookup(name)
}

func TestEachNameIsLookedUpOnce(t *testing.T) {
	var s Set
	for id := range uint64(100) {
		for _, text := range []string{"a = %d", "a > %d and b = 1", "a + b > %d", "length(c) > %d or a = 3",
			"b like '%%%d'", "d = %d"} {
			s.Add(id, parse(t, fmt.Sprintf(text, id)))
		}
	}
	s.Remove(0, parse(t, "d = 0"))
	m := counted{values{{"a", message.Int(3)}, {"b", message.Int(1)}, {"c", message.String("xyz")}}, map[string]int{}}
	for range s.Matching(m) {
	}
	for name, n := range m.asked {
		if n != 1 {
			t.Errorf("%s was asked for %d times", name, n)
		}
	}
	if len(m.asked) != 4 {
		t.Errorf("asked for %v, want a, b, c and d", m.asked)
	}
}

func TestNamesThatNoConditionUsesAnyMoreAreNotLookedUp(t *testing.T) {
	var s Set
	for _, text := range []string{"a = 1", "b > 1", "c % 2 = 1"} {
		s.Add(1, parse(t, text))
		s.Remove(1, parse(t, text))
	}
	s.Add(1, parse(t, "d = 1"))
	m := counted{asked: map[string]int{}}
	for range s.Matching(m) {
	}
	if len(m.asked) != 1 || m.asked["d"] != 1 {
		t.Errorf("asked for %v, want d alone", m.asked)
	}
}

func TestAWalkForAnotherMessageMayBeginWithinOne(t *testing.T) {
	var s Set
	for id := range uint64(5) {
		s.Add(id, parse(t, fmt.Sprintf("a >= %d or b >= %d", id, id)))
		s.Add(id+5, parse(t, fmt.Sprintf("a + b > %d", id)))
	}
	small, large := values{{"a", message.Int(0)}, {"b", message.Int(3)}},
		values{{"a", message.Int(5)}, {"b", message.Int(0)}}
	fromSmall, fromLarge := []uint64{0, 1, 2, 3, 5, 6, 7}, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	var outer []uint64
	for id := range s.Matching(small) {
		outer = append(outer, id)
		if inner := slices.Collect(s.Matching(large)); !slices.Equal(inner, fromLarge) {
			t.Fatalf("within %d: %v, want %v", id, inner, fromLarge)
		}
	}
	if !slices.Equal(outer, fromSmall) {
		t.Errorf("around: %v, want %v", outer, fromSmall)
	}
	s.check(t)
}

func TestAConditionThatIsFoundByTwoBranchesIsTestedOnce(t *testing.T) {
	var s Set
	where := parse(t, "(a = 1 or b = 1) and a + b = 2")
	s.Add(1, where)
	i, _ := s.interests.get(where.String())
	if len(i.places) != 2 || i.test == nil {
		t.Fatalf("it has %d branches and the residue %v", len(i.places), i.test)
	}
	r := round{number: 1, env: values{{"a", message.Int(1)}, {"b", message.Int(1)}}}
	if first, again := r.met(i), r.met(i); !first || again {
		t.Errorf("found by the first branch: %v, by the second: %v", first, again)
	}
}

func TestTheSetMayChangeWhenTheLoopIsLeft(t *testing.T) {
	var s Set
	where := parse(t, "a >= 0")
	for id := range uint64(1000) {
		s.Add(id, where)
	}
	for want := range uint64(1000) {
		for id := range s.Matching(one("a", message.Int(1))) {
			if id != want {
				t.Fatalf("%d came, want %d", id, want)
			}
			s.Remove(id, where)
			break
		}
	}
	if s.Len() != 0 {
		t.Errorf("%d are left", s.Len())
	}
}

func ExampleSet() {
	japanese, err := condition.Parse("lang = 'ja'")
	if err != nil {
		fmt.Println(err)
		return
	}
	var waiting Set
	waiting.Add(1, japanese)
	waiting.Add(2, nil)
	waiting.Add(3, japanese)
	for id := range waiting.Matching(one("lang", message.String("ja"))) {
		fmt.Println(id)
	}
	// Output:
	// 1
	// 2
	// 3
}

func TestAWalkEndsWhenItsStepsAreMade(t *testing.T) {
	s := crowd(t, "user + 1 = %d + 1", 1000)
	m := middling(1000)
	for _, most := range []int{0, 100, 499} {
		steps := most
		for id := range s.Within(&m, &steps) {
			t.Errorf("after %d steps %d is found", most-steps, id)
		}
		if steps >= 0 {
			t.Errorf("of %d steps %d are left", most, steps)
		}
	}
	steps := 1000
	for id := range s.Within(&m, &steps) {
		if id != 500 {
			t.Errorf("%d is found", id)
		}
	}
	if steps != 0 {
		t.Errorf("%d steps are left, want 0", steps)
	}
	names := new(Set)
	for id := range 100 {
		names.Add(uint64(id), parse(t, fmt.Sprintf("name%d = 1", id)))
	}
	steps = 50
	for id := range names.Within(&m, &steps) {
		t.Errorf("%d is found", id)
	}
	if steps >= 0 {
		t.Errorf("%d steps are left after looking at 100 shapes", steps)
	}
}

// weighed is an Env to which conditions of many steps are too much.
type weighed struct{ condition.Env }

func (w weighed) Weigh(e condition.Effort) (steps int, tooMuch bool) {
	n := e.On(0)
	return n, n > 20
}

func TestWhoseConditionIsTooMuchIsGivenUntested(t *testing.T) {
	s := new(Set)
	few, many := "n + 1 = 2", "n + 1 = 9"+strings.Repeat(" or n + 1 = 9", 20)
	for id, where := range []string{few, many, "n + 1 = 9", few} {
		s.Add(uint64(id), parse(t, where))
	}
	env := weighed{one("n", message.Int(1))}
	got, steps := "", 1000
	for id, sure := range s.Within(env, &steps) {
		got += fmt.Sprintf("%d %v, ", id, sure)
	}
	if want := "0 true, 1 false, 3 true, "; got != want || steps > 1000-10 {
		t.Errorf("got %s%d steps are left, want %s", got, steps, want)
	}
	steps = 5
	for id := range s.Within(weighed{one("n", message.Int(7))}, &steps) {
		t.Errorf("with few steps %d is given", id)
	}
	if steps >= 0 {
		t.Error("the steps of conditions are not counted")
	}
}
