package interest

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// crowds are the forms in which many wait: %d is a number of the waiter's own, from 0. The message that is asked for
// has n 500 in the middle.
var crowds = []struct{ name, form string }{
	{"equal", "user = %[1]d"},
	{"equal texts", "page = 'https://example.org/%[1]d'"},
	{"disjoint ranges", "n between 10 * %[1]d and 10 * %[1]d + 9"},
	{"equal and range", "lang = 'ja' and n between 10 * %[1]d and 10 * %[1]d + 9"},
	{"nested ranges", "n > -%[1]d and n < 10000000 + %[1]d"},
	{"lists", "user in (%[1]d, -1)"},
	{"lists of one", "lang in ('ja', 'x%[1]d')"},
}

// crowd is a set in which size ids wait for as many conditions of a form.
func crowd(t testing.TB, form string, size int) *Set {
	s := new(Set)
	for id := range size {
		s.Add(uint64(id), parse(t, fmt.Sprintf(form, id)))
	}
	return s
}

// middling is the message that the waiter in the middle of a crowd waits for.
func middling(size int) values {
	n := int64(size / 2)
	return values{
		{"user", message.Int(n)}, {"page", message.String(fmt.Sprintf("https://example.org/%d", n))},
		{"lang", message.String("ja")}, {"n", message.Int(10*n + 5)},
	}
}

// longest asks for who waits longest.
func longest(s *Set, env condition.Env) (id uint64, found bool) {
	for id := range s.Matching(env) {
		return id, true
	}
	return 0, false
}

// cost is the least time of several that asking for the longest waiting takes.
func cost(t *testing.T, s *Set, env condition.Env) time.Duration {
	t.Helper()
	const rounds, calls = 30, 200
	least := time.Hour
	for range rounds {
		begin := time.Now()
		for range calls {
			if _, found := longest(s, env); !found {
				t.Fatal("nobody waits for the message")
			}
		}
		least = min(least, time.Since(begin)/calls)
	}
	return least
}

// The benchmarks show how near the costs are. Here only what is out of all proportion fails, as the machine may be
// busy.
func TestAThousandConditionsCostWhatOneCosts(t *testing.T) {
	for _, c := range crowds {
		t.Run(c.name, func(t *testing.T) {
			one, all := crowd(t, c.form, 1), crowd(t, c.form, 1000)
			inProportion(t, 12, func() (few, many time.Duration) {
				return cost(t, one, middling(1)),
					cost(t, all, middling(1000))
			})
		})
	}
}

func TestTheFirstOfMostIsFoundAtOnce(t *testing.T) {
	var few, many Set
	few.Add(0, nil)
	for id := range uint64(100_000) {
		many.Add(id, nil)
	}
	inProportion(t, 5, func() (one, all time.Duration) {
		return cost(t, &few, middling(1)),
			cost(t, &many, middling(1))
	})
}

// inProportion sees that many cost at most so many times what few cost, in one try of several: others may have had the
// machine.
func inProportion(t *testing.T, most time.Duration, measure func() (few, many time.Duration)) {
	t.Helper()
	var few, many time.Duration
	for range 20 {
		if few, many = measure(); many <= most*few {
			return
		}
	}
	t.Errorf("many cost %v, few %v", many, few)
}

func TestAskingDoesNotAllocate(t *testing.T) {
	for _, c := range crowds {
		s, m := crowd(t, c.form, 100), condition.Env(middling(100))
		if n := testing.AllocsPerRun(100, func() {
			for range s.Matching(m) {
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func TestTreesStayShallow(t *testing.T) {
	for _, form := range []string{"n between 10 * %[1]d and 10 * %[1]d + 9", "n > -%[1]d and n < 10000000 + %[1]d",
		"length(s) > %d"} {
		s := crowd(t, form, 10_000)
		for _, d := range s.inUse[0].drawers.entries {
			if h := d.root.height(); h > 60 { // an even one has 14
				t.Errorf("%s: 10,000 conditions make a tree of height %d", form, h)
			}
		}
	}
}

func TestRemovingGivesMemoryBack(t *testing.T) {
	const size = 10_000
	used := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, c := range append(crowds, []struct{ name, form string }{
		{"residues", "n + 1 = %d"},
		{"shapes", "name%[1]d = %[1]d"},
		{"everything", ""},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			var s Set
			where := func(id int) *condition.Expr {
				if c.form == "" {
					return nil
				}
				return parse(t, fmt.Sprintf(c.form, id))
			}
			empty := used()
			for id := range size {
				s.Add(uint64(id), where(id))
			}
			longest(&s, middling(size))
			full := used() - empty
			for id := range size - 1 {
				s.Remove(uint64(id), where(id))
			}
			longest(&s, middling(size))
			if rest := used() - empty; rest > full/10+16<<10 {
				t.Errorf("full it holds %d bytes, with one left still %d", full, rest)
			}
			s.check(t)
			t.Logf("%d bytes a waiter", full/size)
			s.Remove(size-1, where(size-1))
			expectNothingLeft(t, &s)
		})
	}
}
