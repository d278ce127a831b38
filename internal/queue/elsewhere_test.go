package queue

import (
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// withLanes opens a Store to which names in the namespace far are another's.
func withLanes(t *testing.T, o Options) *Store {
	t.Helper()
	o.Journal = newMemory()
	o.Elsewhere = func(n Name, as Meaning) *Lane {
		if n.Namespace != "far" {
			return nil
		}
		lane := Name{"lanes", n.Name}
		if as == TopicBefore {
			lane.Name += "_or_topic"
		}
		return &Lane{Queue: lane, Definition: Definition{Labels: map[string]string{"to": n.String()}}}
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestWhatGoesToAnotherStoreWaitsInALane(t *testing.T) {
	s := withLanes(t, Options{})
	jobs := Name{"near", "jobs"}
	if _, err := s.CreateQueue(t.Context(), jobs, Definition{DeadLetter: "far/alarms"}); err != nil {
		t.Fatal(err)
	}
	letter := message.Message{Body: []byte("replay"), Death: &message.Death{Queue: "far/home"}}
	if _, err := s.Put(t.Context(), jobs, []message.Message{{Body: []byte("bury")}, letter}); err != nil {
		t.Fatal(err)
	}
	cs, err := s.Claim(t.Context(), ClaimRequest{From: from(jobs)})
	if err != nil || len(cs) != 1 {
		t.Fatal(cs, err)
	}
	if _, err := s.Settle(t.Context(), []Settlement{{Token: cs[0].Token, Kind: Dead}}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Replay(t.Context(), jobs, ReplayRequest{}); err != nil || r.Moved != 1 {
		t.Fatal(r, err)
	}
	for lane, want := range map[string]string{"alarms_or_topic": "bury", "home": "replay"} {
		ps, err := s.Peek(t.Context(), Name{"lanes", lane}, PeekRequest{})
		if err != nil || len(ps) != 1 || string(ps[0].Message.Body) != want {
			t.Errorf("lane %s has %v, %v; want %q", lane, ps, err, want)
		}
	}
	d, _, err := s.Definition(t.Context(), Name{"lanes", "home"})
	if err != nil || d.Labels["to"] != "far/home" {
		t.Errorf("the lane's labels are %v, %v", d.Labels, err)
	}
}

func TestAQueueOfAnotherStoreIsNotMade(t *testing.T) {
	s := withLanes(t, Options{OnDemand: true})
	far := Name{"far", "q"}
	_, put := s.Put(t.Context(), far, []message.Message{{}})
	_, claimed := s.Claim(t.Context(), ClaimRequest{From: from(far)})
	_, created := s.CreateQueue(t.Context(), far, Definition{})
	for what, err := range map[string]error{"put": put, "claim": claimed, "create": created} {
		if !errors.Is(err, ErrElsewhere) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if there, err := s.Has(t.Context(), far); err != nil || there {
		t.Errorf("it is there: %v, %v", there, err)
	}
}

func TestHasWaitsForADefinitionThatIsUnderWay(t *testing.T) {
	m := newMemory()
	s, err := Open(t.Context(), Options{Journal: m})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := Name{"near", "q"}
	m.Hold(true)
	defer m.Hold(false) // else Close would wait for ever in a test that failed
	made := make(chan error, 1)
	go func() {
		_, err := s.CreateQueue(t.Context(), n, Definition{})
		made <- err
	}()
	waittest.Until(t, "it is on its way", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.defining[n] != nil
	})
	has := make(chan bool, 1)
	go func() {
		there, err := s.Has(t.Context(), n)
		has <- there && err == nil
	}()
	m.Hold(false)
	if !<-has {
		t.Error("a queue that was on its way is not there")
	}
	if err := <-made; err != nil {
		t.Error(err)
	}
}

func TestNumbersOfQueuesStayBelowTheirBound(t *testing.T) {
	s, err := Open(t.Context(), Options{Journal: newMemory(), Numbers: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	made := 0
	for range 6 {
		if _, err = s.CreateQueue(t.Context(), Name{"near", "q"}, Definition{}); err != nil {
			break
		}
		made++
		if err := s.DeleteQueue(t.Context(), Name{"near", "q"}); err != nil {
			t.Fatal(err)
		}
	}
	if made != 3 || !errors.Is(err, ErrDefinition) {
		t.Errorf("%d queues had numbers below 4, then: %v", made, err)
	}
}

func TestTheStoresOwnWorkWaitsUntilItMayBegin(t *testing.T) {
	m := newMemory()
	s, err := Open(t.Context(), Options{Journal: m})
	if err != nil {
		t.Fatal(err)
	}
	n, dead := Name{"near", "q"}, Name{"near", "q_dead"}
	if _, err := s.CreateQueue(t.Context(), n, Definition{MaxAttempts: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), n, []message.Message{{}}); err != nil {
		t.Fatal(err)
	}
	o := s.NewOwner("dies with the process")
	if cs, err := s.Claim(t.Context(), ClaimRequest{From: from(n), Owner: o}); err != nil || len(cs) != 1 {
		t.Fatal(cs, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	begin := make(chan struct{})
	s, err = Open(t.Context(), Options{Journal: m, Begin: begin})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 100 {
		if _, err := s.Stats(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if there, err := s.Has(t.Context(), dead); err != nil || there {
			t.Fatalf("it buries before it may: %v", err)
		}
	}
	close(begin)
	waittest.Until(t, "the message is buried", func() bool {
		there, err := s.Has(t.Context(), dead)
		return there && err == nil
	})
}
