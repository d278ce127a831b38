package queue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// serveEach is serve as it is explained: every waiter, the longest waiting first, is offered everything.
func (s *state) serveEach() {
	for len(s.fresh) > 0 {
		fresh := s.fresh
		s.fresh = map[*queueState][]entry{}
		all := map[*waiter]bool{}
		for q, es := range fresh {
			slices.SortFunc(es, bySequence)
			for _, w := range q.waiting.by.Values() {
				all[w] = true
			}
		}
		for _, w := range slices.SortedFunc(maps.Keys(all), byArrival) {
			if !w.gone && s.offerAll(w, fresh) > 0 {
				s.unwait(w)
				s.tell(w)
			}
		}
	}
	s.tellAll()
}

// offerAll lets w take what it wants of the fresh messages.
func (s *state) offerAll(w *waiter, fresh map[*queueState][]entry) (taken int) {
	a := &w.asker
	enough := false
	for i, f := range a.from {
		es := fresh[f.q]
		for j := 0; j < len(es) && taken < a.max && !enough; j++ {
			e := es[j]
			if e == none || !s.claimable(f.q, e, a.claimant) || !s.meets(f, e) {
				continue
			}
			if enough = taken > 0 && !a.fits(e); enough {
				break
			}
			es[j] = none
			if f.q.spent(e) { // as in choose
				s.doom(f.q, e, &s.exhausted)
				continue
			}
			s.take(a, i, f.q, e)
			taken++
			if next := s.nextOfKey(a, f, e); next != none && taken < a.max {
				es = slices.Insert(es, j+1, next)
			}
		}
		fresh[f.q] = slices.DeleteFunc(es, func(e entry) bool { return e == none })
	}
	return taken
}

// serveInPieces is serve with so few steps under each hold of the lock that nothing is done at once.
func (s *state) serveInPieces(steps int) {
	s.share = steps
	s.serveAll()
	for len(s.offerings)+len(s.unserved) > 0 {
		s.goOnServing()
	}
}

// serveAll is serve with those told who were served.
func (s *state) serveAll() {
	s.serve()
	s.tellAll()
}

// tellAll tells those who were served: of each, who is a func(*waiter), or nil.
func (s *state) tellAll() {
	s.eachServed(func(w *waiter) {
		if tell, ok := w.who.(func(*waiter)); ok {
			tell(w)
		}
	})
}

// goOnServing does a piece of what serving left, where no condition asks for a body.
func (s *state) goOnServing() { bodyParts(nil).goOnServing(s) }

// twinSide is one of two states that live through the same.
type twinSide struct {
	s    *state
	qs   [2]*queueState
	ws   map[uint64]*waiter
	told map[int]string // of each waiter, what it was given
}

func newTwinSide() *twinSide {
	s := newState()
	side := &twinSide{s: s, ws: map[uint64]*waiter{}, told: map[int]string{}}
	for i := range side.qs {
		n := Name{DefaultNamespace, fmt.Sprint("q", i)}
		side.qs[i] = s.newQueueState(uint32(i+1), n, Definition{MaxAttempts: 2}.normal(n))
		s.queues[uint32(i+1)], s.queueNames[n] = side.qs[i], side.qs[i]
	}
	return side
}

// TestServingFindsWhomOfferingToEverybodyWouldServe compares serve with serveEach: who gets what, with conditions,
// priorities, keys, bounds of count and bytes, owners who hold keys, and messages out of attempts.
func TestServingFindsWhomOfferingToEverybodyWouldServe(t *testing.T) {
	conditions := []*condition.Expr{nil}
	for _, text := range []string{"n = 1", "n = 2", "n > 1", "n between 1 and 3", "s = 'x'", "s = 'x' and n = 1",
		"n = 1 or s = 'y'", "n + 1 = 3", "s like '%x%'", "n in (1, 3)", "key = 'k'"} {
		e, err := condition.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, e)
	}
	rapid.Check(t, func(t *rapid.T) {
		sides := []*twinSide{newTwinSide(), newTwinSide()}
		sides[0].s.advance(time.Unix(1, 0))
		sides[1].s.advance(time.Unix(1, 0))
		number, position := 0, journal.Position(0)
		owners := map[*twinSide][]*owner{}
		for _, side := range sides {
			for i := range 2 {
				owners[side] = append(owners[side], newOwner(uint64(1000+i)))
			}
		}
		steps := rapid.SampledFrom([]int{1, 2, 3, 10, servePiece}).Draw(t, "steps of a hold")
		serve := func() {
			sides[0].s.serveInPieces(steps)
			sides[1].s.serveEach()
			if a, b := sides[0].told, sides[1].told; !maps.Equal(a, b) {
				t.Fatalf("serving gave %v, offering to everybody gave %v", a, b)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) {
				number++
				var froms []int
				var wheres []*condition.Expr
				for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "wishes") {
					froms = append(froms, rapid.IntRange(0, 1).Draw(t, "queue"))
					wheres = append(wheres, rapid.SampledFrom(conditions).Draw(t, "condition"))
				}
				most, bytes := rapid.IntRange(1, 3).Draw(t, "max"), rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "bytes")
				owner := rapid.IntRange(-1, 1).Draw(t, "owner")
				if owner >= 0 && slices.ContainsFunc(slices.Collect(maps.Values(sides[0].ws)),
					func(w *waiter) bool { return !w.gone && w.asker.owner == owners[sides[0]][owner] }) {
					owner = -1 // an owner waits once
				}
				id := number
				for _, side := range sides {
					a := asker{max: most, maxBytes: bytes, claimant: uint64(id)}
					if owner >= 0 {
						a.owner = owners[side][owner]
						a.claimant = a.owner.claimant
					}
					for i := range froms {
						a.from = append(a.from, wanted{q: side.qs[froms[i]], where: wheres[i]})
					}
					note := func(a *asker) {
						for _, p := range a.picks {
							side.told[id] += fmt.Sprintf(" %d of %s as wish %d", p.e.seq(), p.name.Name, p.from)
						}
						a.picks = nil
					}
					if bodyParts(nil).choose(side.s, &a) > 0 {
						note(&a)
						side.told[id] += " at once"
						continue
					}
					w := &waiter{asker: a}
					w.who = func(w *waiter) {
						if note(&w.asker); w.gone {
							side.told[id] += " served"
						}
					}
					side.s.wait(w)
					side.ws[uint64(id)] = w
				}
				serve()
			},
			"give up": func(t *rapid.T) {
				id := uint64(rapid.IntRange(0, number).Draw(t, "who"))
				for _, side := range sides {
					if w := side.ws[id]; w != nil && !w.gone {
						side.s.unwait(w)
					}
				}
			},
			"put": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 1, 3, 6}).Draw(t, "messages") {
					m := message.Message{Key: rapid.SampledFrom([]string{"", "", "k", "l"}).Draw(t, "key")}
					m.Attributes.Set("n", message.Int(rapid.Int64Range(0, 3).Draw(t, "n")))
					m.Attributes.Set("s", message.String(rapid.SampledFrom([]string{"x", "y", "xy"}).Draw(t, "s")))
					q, size := rapid.IntRange(0, 1).Draw(t, "queue"), rapid.Uint32Range(1, 3).Draw(t, "size")
					position++
					for _, side := range sides {
						ev := &put{queue: uint32(q + 1), seq: side.qs[q].next, size: size, head: appendHead(nil, &m)}
						if err := side.s.apply([]applied{{at: side.s.now, event: ev,
							addr: journal.Address{Position: position}}}, 0); err != nil {
							t.Fatal(err)
						}
					}
				}
				serve()
			},
			"back": func(t *rapid.T) { // a claimed message, as if its lease had ended
				q := rapid.IntRange(0, 1).Draw(t, "queue")
				from := rapid.Uint64Range(0, sides[0].qs[q].next).Draw(t, "from")
				for _, side := range sides {
					var found entry
					side.qs[q].all.Ascend(from, func(e entry) bool {
						if c := e.claim(); c != nil && !c.settling {
							found = e
						}
						return found == none
					})
					if found != none {
						side.s.back(side.qs[q], found, 0, true)
					}
				}
				serve()
			},
			"done": func(t *rapid.T) {
				q := rapid.IntRange(0, 1).Draw(t, "queue")
				from := rapid.Uint64Range(0, sides[0].qs[q].next).Draw(t, "from")
				for _, side := range sides {
					var found entry
					side.qs[q].all.Ascend(from, func(e entry) bool {
						if c := e.claim(); c != nil && !c.settling {
							found = e
						}
						return found == none
					})
					if found != none {
						side.s.remove(side.qs[q], found, false)
					}
				}
				serve()
			},
			"": func(t *rapid.T) {
				for i, q := range sides[0].qs {
					if n := q.waiting.wants.Len(); q.waiting.Len() == 0 && n != 0 {
						t.Fatalf("nobody waits in queue %d, but it keeps %d wishes", i, n)
					}
				}
			},
		})
	})
}

// TestAnInsertWithPrioritiesOneZeroOneGivesTheZero is the field's own example: the whole group is looked at before
// anybody is served.
func TestAnInsertWithPrioritiesOneZeroOneGivesTheZero(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text("first")...)
		settleOldest(t, s, news, 1)
		got := make(chan Claim)
		go func() {
			r := ClaimRequest{From: append(where(t, news, "prio = 0"), where(t, news, "prio = 1")...),
				Wait: time.Minute}
			cs, err := s.Claim(t.Context(), r)
			if err != nil || len(cs) != 1 {
				t.Error(cs, err)
			}
			got <- cs[0]
		}()
		time.Sleep(time.Second)
		ms := text("1", "0", "1")
		for i := range ms {
			ms[i].Attributes.Set("prio", message.Int(int64(ms[i].Body[0]-'0')))
		}
		mustPut(t, s, news, ms...)
		if c := <-got; string(c.Message.Body) != "0" || c.From != 0 {
			t.Errorf("it gets %s as its wish %d", c.Message.Body, c.From)
		}
	})
}

// TestAClaimMayNameMoreConditionsThanAQueueRemembers asks by twelve different combinations of names, and by twenty
// conditions that no index serves, at once; far too many are refused.
func TestAClaimMayNameMoreConditionsThanAQueueRemembers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ms := text("x")
		ms[0].Attributes.Set("n11", message.Int(3))
		mustPut(t, s, news, ms...)
		wishes := func(form string, n int) (all []From) {
			for i := range n {
				all = append(all, where(t, news, fmt.Sprintf(form, i))...)
			}
			return all
		}
		got := mustClaim(t, s, ClaimRequest{From: wishes("n%d = 3", 12)})
		if len(got) != 1 || got[0].From != 11 {
			t.Fatalf("got %+v", got)
		}
		settle(t, s, Settlement{Token: got[0].Token, Kind: Back})
		if got := mustClaim(t, s, ClaimRequest{From: wishes("n11 + 0 = %d", 20)}); len(got) != 1 || got[0].From != 3 {
			t.Fatalf("got %+v", got)
		}
		if _, err := s.Claim(t.Context(), ClaimRequest{From: wishes("n%d = 3", maxTogether+1)}); !errors.Is(err,
			ErrCondition) {
			t.Errorf("too many: %v", err)
		}
	})
}
