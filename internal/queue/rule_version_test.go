package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// TestRuleAVersionIsOfOneDefinitionAlone changes a queue in every way there is, a start among them: each gives a
// version that nothing had before.
func TestRuleAVersionIsOfOneDefinitionAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		topic := Name{DefaultNamespace, "t"}
		if _, err := s.CreateTopic(ctx, topic, nil); err != nil {
			t.Fatal(err)
		}
		seen := map[uint64]string{}
		is := func(what string, changed bool) {
			t.Helper()
			d, version, err := s.Definition(t.Context(), news)
			if err != nil {
				t.Fatal(err)
			}
			if had, known := seen[version]; known == changed || version == 0 {
				t.Errorf("after %s the version is %d, as after %q", what, version, had)
			}
			seen[version] = what
			if st, err := s.Stats(t.Context(), news); err != nil || differences(st.Definition, d) != nil {
				t.Errorf("the definition is %+v, the statistics say %+v, %v", d, st.Definition, err)
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := s.Definition(t.Context(), news); !errors.Is(err, ErrNotFound) {
			t.Errorf("before it is made: %v", err)
		}
		_, err := s.CreateQueue(ctx, news, Definition{Topic: "t"})
		must(err)
		is("creation", true)
		_, err = s.CreateQueue(ctx, news, Definition{Topic: "t"})
		must(err)
		mustPut(t, s, news, text("a")...)
		mustClaim(t, s, ClaimRequest{From: from(news)})
		is("creating it again, a put and a claim", false)
		must(s.AlterQueue(ctx, news, Definition{MaxAttempts: 5}))
		is("alteration", true)
		must(s.DeleteTopic(ctx, topic))
		is("the end of its topic", true)
		must(s.DeleteQueue(ctx, news))
		_, err = s.CreateQueue(ctx, news, Definition{})
		must(err)
		is("making it anew", true)
		m = m.after(true)
		s = open(t, m)
		is("a start", true)
		checkpointNow(t, s)
		s = open(t, m.after(true))
		is("a start from a checkpoint", true)
		must(s.AlterQueue(ctx, news, Definition{MaxAttempts: 3}))
		is("an alteration then", true)
	})
}

// TestRuleAnIDIsOfOneQueueAlone changes, renames and deletes queues, before and after starts.
func TestRuleAnIDIsOfOneQueueAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m, other := newMemory(), Name{DefaultNamespace, "other"}
		s := open(t, m)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		idOf := func(n Name) uint32 {
			t.Helper()
			st, err := s.Stats(t.Context(), n)
			must(err)
			return st.ID
		}
		create := func() uint32 {
			t.Helper()
			created, err := s.CreateQueue(ctx, news, Definition{})
			must(err)
			if !created {
				t.Fatal("it was there")
			}
			return idOf(news)
		}
		seen := map[uint32]bool{}
		for round := range 4 {
			id := create()
			if id == 0 || seen[id] {
				t.Errorf("round %d: the id is %d, after %v", round, id, seen)
			}
			seen[id] = true
			mustPut(t, s, news, text("a")...)
			if c := mustClaim(t, s, ClaimRequest{From: from(news)}); c[0].Token.Queue != id {
				t.Errorf("the token is of queue %d, the id is %d", c[0].Token.Queue, id)
			}
			must(s.AlterQueue(ctx, news, Definition{MaxAttempts: 5}))
			must(s.RenameQueue(ctx, news, other))
			must(s.RenameQueue(ctx, other, news))
			if got := idOf(news); got != id {
				t.Errorf("after changes the id is %d, it was %d", got, id)
			}
			m = m.after(true)
			s = open(t, m)
			if got := idOf(news); got != id {
				t.Errorf("after a start the id is %d, it was %d", got, id)
			}
			must(s.DeleteQueue(ctx, news))
		}
	})
}

// TestLookShowsOneMessageWhateverItsState looks at messages one by one, and at what is not there.
func TestLookShowsOneMessageWhateverItsState(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		ms := text("claimed", "sleeps", "head", "behind", "settled", "ready")
		ms[1].NotBefore = time.Now().Add(time.Hour)
		ms[2].Key, ms[3].Key = "k", "k"
		mustPut(t, s, news, ms...)
		c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Minute})
		owner := s.NewOwner("o")
		mustClaim(t, s, ClaimRequest{From: from(news), Owner: owner})
		settle(t, s, Settlement{Token: mustClaim(t, s, ClaimRequest{From: from(news)})[0].Token})
		for seq, want := range []MessageState{"", Claimed, Delayed, Claimed, Waiting, "", Ready, ""} {
			p, err := s.Look(ctx, news, uint64(seq))
			if want == "" {
				if !errors.Is(err, ErrGone) {
					t.Errorf("message %d: %v", seq, err)
				}
				continue
			}
			if err != nil || p.State != want || p.Sequence != uint64(seq) ||
				string(p.Message.Body) != string(ms[seq-1].Body) {
				t.Errorf("message %d: %+v, %v", seq, p, err)
			}
		}
		if p, _ := s.Look(ctx, news, 1); !p.Until.Equal(c[0].Deadline) || p.Attempts != 1 {
			t.Errorf("what is claimed shows as %+v", p)
		}
		s.mu.Lock()
		damaged, _ := s.state.queueNames[news].all.Get(6)
		s.mu.Unlock()
		m.Damage(damaged.addr())
		if p, err := s.Look(ctx, news, 6); err != nil || p.Damage == "" {
			t.Errorf("what is damaged shows as %+v, %v", p, err)
		}
		if _, err := s.Look(ctx, Name{DefaultNamespace, "nowhere"}, 1); !errors.Is(err, ErrNotFound) {
			t.Errorf("in a queue that is not there: %v", err)
		}
	})
}

// TestAReaderOfSeveralQueuesIsToldAtOnceThatOneWasDeleted waits with and without an owner.
func TestAReaderOfSeveralQueuesIsToldAtOnceThatOneWasDeleted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory())
		a, b := Name{DefaultNamespace, "a"}, Name{DefaultNamespace, "b"}
		owner := s.NewOwner("o")
		for _, o := range []Owner{nil, owner} {
			for _, n := range []Name{a, b} {
				if _, err := s.CreateQueue(ctx, n, Definition{}); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			told := make(chan error, 1)
			go func() {
				_, err := s.Claim(ctx, ClaimRequest{From: append(where(t, a, "n = 1"), from(b)...), Wait: time.Hour,
					Owner: o})
				told <- err
			}()
			synctest.Wait()
			if err := s.DeleteQueue(ctx, b); err != nil {
				t.Fatal(err)
			}
			if err := <-told; !errors.Is(err, ErrNotFound) || time.Since(began) > time.Second {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			if n := s.state.queueNames[a].waiting.Len(); n != 0 {
				t.Errorf("%d still wait in the other queue", n)
			}
		}
		if m := mustPut(t, s, a, message.Message{Body: []byte("x")}); len(mustClaim(t, s,
			ClaimRequest{From: from(a), Owner: owner})) != 1 {
			t.Errorf("the owner claims nothing more: %v", m)
		}
	})
}
