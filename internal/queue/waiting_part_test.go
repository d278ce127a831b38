package queue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// TestAReaderOfTwoGetsBothWhenTheStepsOfAHoldRunOut puts two messages, for each of which many have to be asked, to
// where one reader waits for two: it gets both, as it would have if all had been asked at once. What comes while it
// waits on for the second is none of those that it waits for.
func TestAReaderOfTwoGetsBothWhenTheStepsOfAHoldRunOut(t *testing.T) {
	for _, later := range []int{-1, -2} {
		side := newTwinSide()
		s, q := side.s, side.qs[0]
		s.advance(time.Unix(1, 0))
		s.share = 10
		const many = 100
		told := ""
		wait := func(i, most int, where string) {
			w := &waiter{asker: asker{max: most, claimant: uint64(i + 1),
				from: []wanted{{q: q, where: holdsWhere(where)}}}}
			w.who = func(w *waiter) {
				for _, p := range w.asker.picks {
					told += fmt.Sprintf("%d takes %d, ", i, p.e.seq())
				}
				w.asker.picks = nil
				if w.gone {
					told += fmt.Sprintf("%d is served, ", i)
				}
			}
			s.wait(w)
		}
		put := func(ns ...int) {
			var group []applied
			for i, n := range ns {
				m := message.Message{}
				m.Attributes.Set("n", message.Int(int64(n)))
				seq := q.next + uint64(i)
				group = append(group, applied{at: s.now, event: &put{queue: q.id, seq: seq, head: appendHead(nil, &m)},
					addr: journal.Address{Position: journal.Position(seq)}})
			}
			if err := s.applyMost(group, 0); err != nil {
				t.Fatal(err)
			}
			s.serveAll()
		}
		for i := range many {
			wait(i, 1, fmt.Sprintf("n %% %d = %d", many, i))
		}
		wait(many, 3, "n = -1")
		put(-1, -2, -1)
		for n := 0; told == ""; n++ { // the first of them is taken
			if s.goOnServing(); n == 1000 {
				t.Fatal("nothing is taken")
			}
		}
		put(later) // comes behind those that it waits for
		for n := 0; len(s.offerings)+len(s.unserved) > 0; n++ {
			if s.goOnServing(); n == 1000 {
				t.Fatal("there is no end")
			}
		}
		first := q.next - 4
		want := fmt.Sprintf("%d takes %d, %d takes %d, %d is served, ", many, first, many, first+2, many)
		if told != want || len(q.waiting.part) != 0 {
			t.Errorf("%swant %s", told, want)
		}
	}
}

// TestAReaderThatWaitsOnForMoreHasWhatItTook lets a reader take the first of the two that it wants, while it has to be
// read whether somebody else wants the second. It gets both then; and the one, when it waits no longer, when its
// columns are altered meanwhile, or when the rest is gone.
func TestAReaderThatWaitsOnForMoreHasWhatItTook(t *testing.T) {
	for name, x := range map[string]struct {
		meanwhile func(*testing.T, *Store)
		want      string
	}{
		"both": {func(*testing.T, *Store) {}, "ab"},
		"time": {func(*testing.T, *Store) { time.Sleep(2 * time.Minute) }, "a"},
		"columns": {func(t *testing.T, s *Store) {
			if err := s.AlterQueue(t.Context(), news, Definition{Columns: columnsOf(t, "long text", "n int", "m int",
				"l int")}); err != nil {
				t.Fatal(err)
			}
		}, "a"},
		"gone": {func(t *testing.T, s *Store) {
			mustClaim(t, s, ClaimRequest{From: where(t, news, "m = 1"), Lease: time.Hour})
		}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := newMemory()
				s := open(t, m)
				if _, err := s.CreateQueue(t.Context(), news, Definition{Columns: columnsOf(t, "long text", "n int",
					"m int")}); err != nil {
					t.Fatal(err)
				}
				claim := func(r ClaimRequest) chan []Claim {
					got := make(chan []Claim, 1)
					go func() {
						cs, err := s.Claim(t.Context(), r)
						if err != nil && t.Context().Err() == nil {
							t.Error(err)
						}
						got <- cs
					}()
					time.Sleep(time.Second)
					return got
				}
				claim(ClaimRequest{From: where(t, news, "m = 1 and long like '%nobody has this'"), Wait: time.Hour})
				got := claim(ClaimRequest{From: where(t, news, "n = 1"), Max: 2, Wait: time.Minute, Lease: time.Hour})
				reading, read := make(chan struct{}), make(chan struct{})
				m.BeforeRead(func() {
					close(reading)
					<-read
				})
				row := func(text string, m int64) message.Message {
					return message.Message{Row: []message.Value{message.String(text + strings.Repeat(" long", 200)),
						message.Int(1), message.Int(m)}}
				}
				mustPut(t, s, news, row("a", 0), row("b", 1))
				<-reading
				// what it took is written down before more is looked for
				if err := m.Flush(); err != nil {
					t.Fatal(err)
				}
				died := open(t, m.after(false))
				if again := mustClaim(t, died, ClaimRequest{From: where(t, news, "m = 0")}); len(again) != 0 {
					t.Error("what it took is claimed again after the death of the process")
				}
				x.meanwhile(t, s)
				close(read)
				cs := <-got
				texts := ""
				for _, c := range cs {
					texts += c.Message.Row[0].AsString()[:1]
				}
				if texts != x.want {
					t.Errorf("it gets %q, want %q", texts, x.want)
				}
			})
		})
	}
}
