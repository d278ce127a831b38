package queue

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// fewSubscriptions makes a topic with some subscriptions in a store that takes ten copies at once.
func fewSubscriptions(t *testing.T, some int) (s *Store, topic Name, subscribed []Name) {
	t.Helper()
	s = open(t, newMemory(), func(o *Options) { o.Limits.Copies, o.Limits.Subscriptions = 10, 12 })
	topic = Name{DefaultNamespace, "topic"}
	if _, err := s.CreateTopic(t.Context(), topic, nil); err != nil {
		t.Fatal(err)
	}
	for i := range some {
		n := Name{DefaultNamespace, fmt.Sprintf("s%d", i)}
		if _, err := s.CreateQueue(t.Context(), n, Definition{Topic: topic.String()}); err != nil {
			t.Fatal(err)
		}
		subscribed = append(subscribed, n)
	}
	return s, topic, subscribed
}

// holds fails unless a queue has messages with these bodies, in this order.
func holds(t *testing.T, s *Store, n Name, bodies ...string) {
	t.Helper()
	ps, err := s.Peek(t.Context(), n, PeekRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range ps {
		got = append(got, string(ps[i].Body()))
	}
	if fmt.Sprint(got) != fmt.Sprint(bodies) {
		t.Errorf("%s has %v, want %v", n.Short(), got, bodies)
	}
}

func TestAGroupOfTooManyCopiesIsRefusedWhole(t *testing.T) {
	s, topic, subscribed := fewSubscriptions(t, 4)
	var many *CopiesError
	if _, err := s.Publish(t.Context(), topic, text("a", "b", "c")); !errors.As(err, &many) ||
		!errors.Is(err, ErrTooLarge) || many.Copies != 12 || many.Limit != 10 {
		t.Fatalf("twelve copies: %v", err)
	}
	_, _, err := s.Commit(t.Context(), Change{Puts: []QueuePut{
		{To: topic, Messages: text("a", "b")}, {To: topic, Messages: text("c")}, {To: news, Messages: text("d")}}})
	if !errors.As(err, &many) {
		t.Fatalf("twelve copies of two puts: %v", err)
	}
	for _, n := range subscribed {
		holds(t, s, n)
	}
	if _, err := s.Publish(t.Context(), topic, text("a", "b")); err != nil {
		t.Fatal(err)
	}
	rs, err := s.PublishEach(t.Context(), topic, text("c", "d", "e", "f", "g"))
	if err != nil || len(rs) != 5 {
		t.Fatalf("%v, %v", rs, err)
	}
	for _, n := range subscribed {
		holds(t, s, n, "a", "b", "c", "d", "e", "f", "g")
	}
	if rs, err := s.PublishEach(t.Context(), news, text("x", "y")); err != nil || len(rs) != 2 {
		t.Fatalf("to a queue: %v, %v", rs, err)
	}
}

func TestOneMessagePassesHoweverManySubscriptionsThereAre(t *testing.T) {
	s, topic, subscribed := fewSubscriptions(t, 12)
	if _, err := s.Publish(t.Context(), topic, text("a")); err != nil {
		t.Fatal(err)
	}
	if rs, err := s.PublishEach(t.Context(), topic, text("b", "c")); err != nil || len(rs) != 2 {
		t.Fatalf("%v, %v", rs, err)
	}
	for _, n := range subscribed {
		holds(t, s, n, "a", "b", "c")
	}
	_, err := s.CreateQueue(t.Context(), news, Definition{Topic: topic.String()})
	if !errors.Is(err, ErrDefinition) {
		t.Errorf("a thirteenth subscription: %v", err)
	}
	if err := s.DeleteQueue(t.Context(), subscribed[3]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateQueue(t.Context(), news, Definition{Topic: topic.String()}); err != nil {
		t.Errorf("in the place of one that was deleted: %v", err)
	}
}

// TestDeadLettersForATopicGoInGroupsOfFewCopies gives messages up at once, by their reader and by their attempts.
func TestDeadLettersForATopicGoInGroupsOfFewCopies(t *testing.T) {
	for name, end := range map[string]SettleKind{"by the reader": Dead, "by attempts": Back} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s, topic, subscribed := fewSubscriptions(t, 4)
				from := Name{DefaultNamespace, "from"}
				d := Definition{DeadLetter: topic.String(), MaxAttempts: 1}
				if _, err := s.CreateQueue(t.Context(), from, d); err != nil {
					t.Fatal(err)
				}
				mustPut(t, s, from, text("a", "b", "c", "d", "e", "f", "g")...)
				var ends []Settlement
				for _, c := range mustClaim(t, s, ClaimRequest{From: []From{{Queue: from}}, Max: 10}) {
					ends = append(ends, Settlement{Token: c.Token, Kind: end})
				}
				errs, err := s.Settle(t.Context(), ends)
				if err != nil || len(errs) != len(ends) || errors.Join(errs...) != nil {
					t.Fatalf("%v, %v", errs, err)
				}
				time.Sleep(time.Second)
				for _, n := range subscribed {
					holds(t, s, n, "a", "b", "c", "d", "e", "f", "g")
				}
				if st, err := s.Stats(t.Context(), from); err != nil || st.TotalDead != 7 || st.Messages() != 0 {
					t.Errorf("%d were given up, %d are left, %v", st.TotalDead, st.Messages(), err)
				}
			})
		})
	}
}
