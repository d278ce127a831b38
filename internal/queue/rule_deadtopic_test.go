package queue

import (
	"testing"
	"testing/synctest"
	"time"
)

// Rule (docs/store.md): dead letters for a topic go to each subscription whose filter they meet, but the one they come
// from; when none takes them, to the queue of that name.
func TestRuleDeadLettersForATopicGoToItsSubscriptions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		grave := Name{DefaultNamespace, "grave"}
		define := func(n string, d Definition) Name {
			t.Helper()
			name := Name{DefaultNamespace, n}
			if _, err := s.CreateQueue(t.Context(), name, d); err != nil {
				t.Fatal(err)
			}
			return name
		}
		if _, err := s.CreateTopic(t.Context(), grave, nil); err != nil {
			t.Fatal(err)
		}
		jobs := define("jobs", Definition{MaxAttempts: 2, DeadLetter: "grave", MaxMessages: 10})
		die := func(bodies ...string) {
			t.Helper()
			mustPut(t, s, jobs, text(bodies...)...)
			for range 2 {
				mustClaim(t, s, ClaimRequest{From: from(jobs), Max: 9, Lease: time.Second})
				time.Sleep(2 * time.Second)
				synctest.Wait()
			}
			if st, err := s.Stats(t.Context(), jobs); err != nil || st.Messages() != 0 {
				t.Fatalf("%+v %v", st, err)
			}
		}
		die("alone") // there is no subscription: nobody else would keep it
		if got := bodies(mustClaim(t, s, ClaimRequest{From: from(grave), Max: 9})); got != "alone" {
			t.Errorf("the queue named like the topic has %q", got)
		}
		all := define("all", Definition{Topic: "grave", MaxMessages: 1})
		define("some", Definition{Topic: "grave", Filter: "kind = 'other'"})
		own := define("own", Definition{Topic: "grave", MaxAttempts: 1, DeadLetter: "grave"})
		die("a", "b")
		for _, n := range []Name{all, own} { // bounds do not hold for dead letters
			got := mustClaim(t, s, ClaimRequest{From: from(n), Max: 9})
			if bodies(got) != "a b" {
				t.Errorf("%s has %q", n.Short(), bodies(got))
			}
			if d := got[0].Message.Death; d == nil || d.Queue != "default/jobs" || d.Attempts != 2 {
				t.Errorf("%s: %+v", n.Short(), d)
			}
			if n == all {
				settle(t, s, Settlement{Token: got[0].Token}, Settlement{Token: got[1].Token})
				continue
			}
			// What a subscription of the topic gives up comes not back to it, which would go on for ever.
			settle(t, s, Settlement{Token: got[0].Token, Kind: Dead, Reason: "given up"},
				Settlement{Token: got[1].Token})
			if st, err := s.Stats(t.Context(), own); err != nil || st.Messages() != 0 {
				t.Errorf("%+v %v", st, err)
			}
			if got := bodies(mustClaim(t, s, ClaimRequest{From: from(all), Max: 9})); got != "a" {
				t.Errorf("all has %q", got)
			}
		}
		if st, err := s.Stats(t.Context(), grave); err != nil || st.TotalPut != 1 {
			t.Errorf("the queue named like the topic: %+v %v", st, err)
		}
		if st, err := s.Stats(t.Context(), Name{DefaultNamespace, "some"}); err != nil || st.TotalPut != 0 {
			t.Errorf("a letter passed the filter: %+v %v", st, err)
		}
	})
}
