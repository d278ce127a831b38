package queue

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// viewValues are values that are easily mixed up: equal in one way and different in another, close together, of all
// kinds.
func viewValues() *rapid.Generator[message.Value] {
	long := strings.Repeat("https://example.com/", 2)
	return rapid.SampledFrom([]message.Value{
		message.Null(), message.Bool(true), message.Int(0), message.Int(1), message.Int(-1), message.Int(10),
		message.Int(9), message.Int(1 << 53), message.Int(1<<53 + 1),
		message.Int(math.MaxInt64), message.Int(math.MinInt64), message.Uint(math.MaxUint64), message.Float(0.1),
		message.Float(-0.5), message.Float(1e300),
		message.Float(math.Copysign(0, -1)), message.Decimal("0.1"), message.Decimal("1.00"),
		message.Decimal("12345678901234567890.5"),
		message.String(""), message.String("a"), message.String("10"), message.String("9"), message.String("abc"),
		message.String(long + "1"), message.String(long + "2"),
		message.String("2026-01-02"), message.Bytes([]byte{0xff, 0}), message.Time(timeOf(1_700_000_000_000_000)),
		message.Time(timeOf(1_700_000_000_000_001)),
	})
}

var viewConditions = []string{
	"a = 1", "a = '10'", "a = 10", "a >= 9", "a > 9007199254740992", "a < 0.5", "a between -1 and 10",
	"a in (1, 'abc', 0.1)", "a <> 1", "a != 'a'",
	"a like 'https://example.com/%'", "a like 'a%'", "a > 'https://example.com/https://example.com/1'",
	"a >= date '2023-01-01'", "a = timestamp '2023-11-14 22:13:20'",
	"a = 1 and b = 'a'", "a = 1 and b >= 9", "b = 'a' and a > 0 and a < 100", "a = 1 or b = 'a'", "a = 1 and a = 2",
	"a is null", "not a = 1", "a = b",
	"a = 1 and b + 1 > 2", "a = true", "a = 1 and b like '%a%'", "a in (1, 10) and b is not null",
	"a >= 9 and b like '%'", "(a = 1 or b = 'a') and a + 0 < 10",
	"a <> 1 and b is null", "a like 'a%c'", "a > 0 and b <> a", "(a = 1 or b >= 9) and b is not null",
	"a = 0 and b is null", "a >= -0.0", "a <= 18446744073709551615", "a = 12345678901234567890.5",
}

// TestEveryWayOfFindingFindsTheOldestThatMatches holds indexes and matchers to a look at every message, while messages
// come, go and come back, before, while and after the views are built.
func TestEveryWayOfFindingFindsTheOldestThatMatches(t *testing.T) {
	parsed := make([]*condition.Expr, len(viewConditions))
	served := 0
	for i, text := range viewConditions {
		e, err := condition.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed[i] = e
		if servable(e.Plan(), newState().newQueueState(1, news, Definition{})) {
			served++
		}
	}
	if served < len(parsed)/2 {
		t.Errorf("indexes serve only %d of %d conditions", served, len(parsed))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := newState()
		q := s.newQueueState(1, news, Definition{}.normal(news))
		s.queues[1], s.queueNames[news] = q, q
		var away []entry
		next := uint64(1)
		first := func(where *condition.Expr) (found entry) {
			q.ready.Ascend(0, func(seq uint64) bool {
				if e, _ := q.all.Get(seq); where.Match(s.env(q, e)) {
					found = e
				}
				return found == none
			})
			return found
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				for range rapid.IntRange(1, 5).Draw(t, "n") {
					m := message.Message{}
					m.Attributes.Set("a", viewValues().Draw(t, "a"))
					if rapid.Bool().Draw(t, "has b") {
						m.Attributes.Set("b", viewValues().Draw(t, "b"))
					}
					e := q.all.Add(next, &arrival{row: row{at: 1}, head: appendHead(nil, &m)})
					next++
					s.show(q, e)
				}
			},
			"take": func(t *rapid.T) {
				if q.ready.Len() == 0 {
					t.Skip()
				}
				e, _ := q.all.Get(rapid.SampledFrom(q.ready.all()).Draw(t, "which"))
				s.hide(q, e)
				away = append(away, e)
			},
			"back": func(t *rapid.T) {
				if len(away) == 0 {
					t.Skip()
				}
				e := away[len(away)-1]
				away = away[:len(away)-1]
				s.show(q, e)
			},
			"begin": func(t *rapid.T) { // a view that is built later, or never, or in part
				_, unbuilt := s.finderFor(q, rapid.SampledFrom(parsed).Draw(t, "condition"), 0)
				for _, v := range unbuilt {
					v.advance(s, q, rapid.IntRange(0, 5).Draw(t, "piece"))
				}
			},
			"find": func(t *rapid.T) {
				e := rapid.SampledFrom(parsed).Draw(t, "condition")
				want := first(e)
				if got := s.ready(q, e).oldest(s, q); got != want {
					t.Fatalf("%s: found %+v, want %+v", e, got, want)
				}
			},
			"take all": func(t *rapid.T) { // more than are found ahead
				e := rapid.SampledFrom(parsed).Draw(t, "condition")
				f := s.ready(q, e)
				if m, ok := f.(*matcher); ok {
					m.ahead = rapid.IntRange(1, 3).Draw(t, "ahead")
				}
				for range rapid.IntRange(1, 4).Draw(t, "n") {
					want := first(e)
					got := f.oldest(s, q)
					if got != want {
						t.Fatalf("%s: found %+v, want %+v", e, got, want)
					}
					if got == none {
						return
					}
					s.hide(q, got)
					away = append(away, got)
				}
			},
		})
		indexes, matchers := 0, 0
		for _, v := range q.views {
			if _, ok := v.(*indexed); ok {
				indexes++
			} else {
				matchers++
			}
		}
		if indexes > maxIndexes || matchers > maxMatchers {
			t.Fatalf("%d indexes and %d matchers", indexes, matchers)
		}
	})
}

func TestTheImageOfKeysKeepsTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := rapid.SampledFrom([]condition.View{condition.AsIs, condition.AsNumber, condition.AsInstant,
			condition.AsText}).Draw(t, "view")
		number := rapid.OneOf(rapid.Map(rapid.Int64(), message.Int), rapid.Map(rapid.Uint64(), message.Uint),
			rapid.Map(rapid.Float64(), message.Float),
			rapid.Map(rapid.StringMatching(`-?[0-9]{1,30}(\.[0-9]{1,30})?`), message.Decimal),
			rapid.Map(rapid.String(), message.String), viewValues())
		a, ok1 := view.Key(number.Draw(t, "a"))
		b, ok2 := view.Key(number.Draw(t, "b"))
		if !ok1 || !ok2 {
			return
		}
		if c := condition.CompareKeys(a, b); c < 0 && condition.Image(a) > condition.Image(b) || c > 0 &&
			condition.Image(a) < condition.Image(b) || c == 0 && condition.Image(a) != condition.Image(b) {
			t.Fatalf("%#v and %#v compare as %d, their images are %x and %x", a, b, c, condition.Image(a),
				condition.Image(b))
		}
	})
}

func TestAClaimWithNewConstantsEachTimeLooksAtNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newMemory())
		for i := range 50 {
			ms := make([]message.Message, 200)
			for j := range ms {
				ms[j].Attributes.Set("n", message.Int(int64(i*200+j)))
			}
			mustPut(t, s, news, ms...)
		}
		claim := func(n int) {
			c, err := s.Claim(context.Background(), ClaimRequest{From: where(t, news, fmt.Sprintf("n >= %d", n))})
			if err != nil || len(c) != 1 {
				t.Fatal(c, err)
			}
			if v, _ := c[0].Message.Attributes.Get("n"); v != message.Int(int64(n)) {
				t.Fatalf("n >= %d gives %v", n, v)
			}
		}
		claim(5000) // builds the index
		s.mu.Lock()
		before := s.state.queueNames[news].scanned
		s.mu.Unlock()
		for n := 6000; n < 6100; n++ {
			claim(n)
		}
		s.mu.Lock()
		looked := s.state.queueNames[news].scanned - before
		s.mu.Unlock()
		if looked != 0 {
			t.Errorf("100 claims looked at %d messages besides", looked)
		}
	})
}
