package queue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// traced opens a store whose messages are traced, all of them or those alone that are worth it.
func traced(t *testing.T, all bool) (*Store, *journey.Store) {
	t.Helper()
	o := journey.Options{PerSecond: 1}
	if all {
		o.PerSecond = 1 << 20
	}
	trace := journey.New(o)
	for !all && trace.Stats().Every < 1<<20 { // then no other message is taken
		for range 1 << 19 {
			trace.Begin(&journey.Note{ID: message.ID{1}, Time: time.Now().UnixNano()})
		}
	}
	return open(t, newMemory(), func(o *Options) { o.Trace = trace }), trace
}

// journeyOf tells the steps of a message in a line.
func journeyOf(t *testing.T, trace *journey.Store, id message.ID) string {
	t.Helper()
	j, ok := trace.Find(id)
	if !ok {
		return "nothing"
	}
	var steps []string
	for _, s := range j.Steps {
		text := fmt.Sprintf("%v %s", s.Kind, s.Place.Name)
		if s.By != "" {
			text += " by " + s.By
		}
		if s.Attempt > 0 {
			text += fmt.Sprint(" #", s.Attempt)
		}
		if s.For > 0 {
			text += " for " + s.For.Round(time.Second).String()
		}
		if s.Text != "" {
			text += ": " + s.Text
		}
		steps = append(steps, text)
	}
	return strings.Join(steps, ", ")
}

func wantJourney(t *testing.T, trace *journey.Store, id message.ID, want string) {
	t.Helper()
	if got := journeyOf(t, trace, id); got != want {
		t.Errorf("the journey is\n%s\nand should be\n%s", got, want)
	}
}

func TestAJourneyTellsWhoHadTheMessageAndWhatBecameOfIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, trace := traced(t, true)
		ctx := journey.By(t.Context(), "http")
		put, err := s.Put(ctx, news, text("hello"))
		if err != nil {
			t.Fatal(err)
		}
		step := func() { time.Sleep(time.Second) } // of a clock that stands while anybody works
		step()
		claim := func() Claim {
			cs, err := s.Claim(ctx, ClaimRequest{From: from(news), Lease: 10 * time.Second})
			if err != nil || len(cs) != 1 {
				t.Fatal(cs, err)
			}
			step()
			return cs[0]
		}
		settle := func(st Settlement) {
			if errs, err := s.Settle(ctx, []Settlement{st}); err != nil || errs[0] != nil {
				t.Fatal(errs, err)
			}
			step()
		}
		settle(Settlement{Token: claim().Token, Kind: Back, Delay: 2 * time.Second})
		step()
		c := claim()
		if errs, err := s.Extend(ctx, []Token{c.Token}, time.Minute); err != nil || errs[0] != nil {
			t.Fatal(errs, err)
		}
		time.Sleep(2 * time.Minute)
		settle(Settlement{Token: claim().Token, Kind: Dead, Reason: "unknown user"})
		if r, err := s.Replay(ctx, Name{"default", "news_dead"}, ReplayRequest{}); err != nil || r.Moved != 1 {
			t.Fatal(r, err)
		}
		step()
		settle(Settlement{Token: claim().Token})
		wantJourney(t, trace, put[0].ID, "accepted news by http, durable news, claimed news by http #1 for 10s, "+
			"back news by http #1 for 2s, claimed news by http #2 for 10s, extended news by http #2 for 1m0s, "+
			"lapsed news #2, claimed news by http #3 for 10s, dead news by http #3: unknown user, "+
			"replayed news by http, claimed news by http #1 for 10s, done news by http #1")
	})
}

// It is durable in the moment in which it is accepted: the clock stands meanwhile.
func TestAMessageThatFailsIsTracedThoughItWasNotTakenAtFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, trace := traced(t, false)
		d := Definition{MaxAttempts: 1, Retention: 10 * time.Minute}
		if _, err := s.CreateQueue(t.Context(), news, d); err != nil {
			t.Fatal(err)
		}
		put, err := s.Put(t.Context(), news, text("settled", "lapses", "expires"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range put[:2] {
			cs := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Minute})
			if i > 0 {
				continue
			}
			if _, err := s.Settle(t.Context(), []Settlement{{Token: cs[0].Token}}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(20 * time.Minute)
		wantJourney(t, trace, put[0].ID, "nothing")
		wantJourney(t, trace, put[1].ID, "accepted news, claimed news, lapsed news #1, "+
			"dead news #1: out of attempts")
		wantJourney(t, trace, put[2].ID, "accepted news, expired news")
	})
}

func TestAJourneyHasAllSubscriptionsOfATopic(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, trace := traced(t, true)
		topic := Name{"default", "papers"}
		if _, err := s.CreateTopic(t.Context(), topic, nil); err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{"a", "b"} {
			d := Definition{Topic: topic.String()}
			if _, err := s.CreateQueue(t.Context(), Name{"default", n}, d); err != nil {
				t.Fatal(err)
			}
		}
		put, err := s.Publish(t.Context(), topic, text("hello"))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{"a", "b"} {
			time.Sleep(time.Second)
			mustClaim(t, s, ClaimRequest{From: from(Name{"default", n})})
		}
		wantJourney(t, trace, put[0].ID,
			"accepted papers, durable papers, claimed a #1 for 30s, claimed b #1 for 30s")
	})
}
