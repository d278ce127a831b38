package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// TestBodiesAreReadWithoutTheLock asks the store for something while it reads a body for a condition: that would never
// end if it held the lock.
func TestBodiesAreReadWithoutTheLock(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, s *Store){
		"claim": func(t *testing.T, s *Store) {
			if got := bodies(mustClaim(t, s, ClaimRequest{From: where(t, news, "body = 'b'"), Max: 5})); got != "b" {
				t.Errorf("claimed %q", got)
			}
		},
		"first": func(t *testing.T, s *Store) {
			p, ok, err := s.First(t.Context(), where(t, news, "body = 'b'")[0])
			if err != nil || !ok || p.Sequence != 2 {
				t.Errorf("found %d, %v, %v", p.Sequence, ok, err)
			}
		},
		"idle": func(t *testing.T, s *Store) {
			if must(s.Idle(t.Context(), news, where(t, news, "body = 'b'")[0].Where)) ||
				!must(s.Idle(t.Context(), news, where(t, news, "body = 'x'")[0].Where)) {
				t.Error("wrong")
			}
		},
		"idle, when all are claimed": func(t *testing.T, s *Store) {
			mustClaim(t, s, ClaimRequest{From: from(news), Max: 5})
			if must(s.Idle(t.Context(), news, where(t, news, "body = 'b'")[0].Where)) ||
				!must(s.Idle(t.Context(), news, where(t, news, "body = 'x'")[0].Where)) {
				t.Error("wrong")
			}
		},
		"waiting": func(t *testing.T, s *Store) {
			held := mustClaim(t, s, ClaimRequest{From: from(news), Max: 5})
			got := make(chan string)
			for _, wish := range []string{"body = 'c'", "body = 'b'"} {
				go func() {
					got <- bodies(mustClaim(t, s, ClaimRequest{From: where(t, news, wish), Max: 5, Wait: time.Hour}))
				}()
			}
			waitFor(t, s, 2)
			var ss []Settlement
			for _, c := range held {
				ss = append(ss, Settlement{Token: c.Token, Kind: Back})
			}
			settle(t, s, ss...)
			if a, b := <-got, <-got; a+b != "bc" && a+b != "cb" {
				t.Errorf("handed over %q and %q", a, b)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			s := open(t, m)
			mustPut(t, s, news, text("a", "b", "c")...)
			asked := false
			m.BeforeRead(func() {
				_, err := s.Stats(t.Context(), news)
				if asked = true; err != nil {
					t.Error(err)
				}
			})
			if do(t, s); !asked {
				t.Error("no body was read")
			}
		})
	}
}

// waitFor waits until so many claims wait.
func waitFor(t *testing.T, s *Store, n int) {
	t.Helper()
	waittest.Until(t, fmt.Sprintf("%d claims wait", n), func() bool {
		st, err := s.Stats(t.Context(), news)
		if err != nil {
			t.Fatal(err)
		}
		return st.Waiters == n
	})
}

// TestWhoWaitsForABodyIsServedInOrder lets several wait for what only a body tells: the longest waiting gets the
// oldest.
func TestWhoWaitsForABodyIsServedInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news)
		got := make([]string, 3)
		done := make(chan struct{})
		for i := range got {
			go func() {
				got[i] = bodies(mustClaim(t, s, ClaimRequest{From: where(t, news, "body like 'y%'"), Wait: time.Hour}))
				done <- struct{}{}
			}()
			time.Sleep(time.Second) // in a bubble: they come one after the other
		}
		mustPut(t, s, news, text("n1", "y1", "n2", "y2")...)
		mustPut(t, s, news, text("y3", "y4")...)
		for range got {
			<-done
		}
		if got[0] != "y1" || got[1] != "y2" || got[2] != "y3" {
			t.Errorf("handed over %q", got)
		}
	})
}

// TestTextsThatBeginAlikeAreFoundWhateverTheirNumber asks for a range of texts of which an index knows only the
// beginning, which is the same in all.
func TestTextsThatBeginAlikeAreFoundWhateverTheirNumber(t *testing.T) {
	s := open(t, newMemory())
	const n = 3 * walkPiece
	ms := make([]message.Message, n)
	for i := range ms {
		ms[i].Attributes.Set("mark", message.String("the beginning is the same in all: "+string(rune('a'+i*26/n))))
	}
	mustPut(t, s, news, ms...)
	for range 2 {
		cs := mustClaim(t, s, ClaimRequest{From: where(t, news, "mark > 'the beginning is the same in all: y'"),
			Max: 2})
		if len(cs) != 2 || cs[0].Sequence <= n*25/26 || cs[1].Sequence != cs[0].Sequence+1 {
			t.Errorf("claimed %d messages", len(cs))
		}
	}
}
