package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// TestRuleARenamedQueueIsTheSameQueue renames a queue with everything that one can have, into another namespace, and
// looks at all of it by the new name; also after a restart, with a checkpoint and without.
func TestRuleARenamedQueueIsTheSameQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m, func(o *Options) { o.OnDemand = false })
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		topic, to, snapshot := Name{DefaultNamespace, "t"}, Name{"shop", "orders"}, Name{DefaultNamespace, "s"}
		_, err := s.CreateTopic(ctx, topic, nil)
		must(err)
		_, err = s.CreateQueue(ctx, news, Definition{Topic: "t", Filter: "n = 1", History: time.Hour})
		must(err)
		ms := text("taken", "kept", "delayed", "deduplicated")
		ms[2].NotBefore = time.Now().Add(time.Hour)
		ms[3].Dedup = "d"
		mustPut(t, s, news, ms...)
		settleOldest(t, s, news, 1)
		_, err = s.TakeSnapshot(ctx, snapshot, news, SnapshotOptions{})
		must(err)
		owner := s.NewOwner("o")
		held := mustClaim(t, s, ClaimRequest{From: from(news), Owner: owner})
		leased := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour})
		served := make(chan []Claim, 1)
		go func() {
			c, _ := s.Claim(ctx, ClaimRequest{From: from(news), Wait: time.Hour, Lease: time.Hour})
			served <- c
		}()
		synctest.Wait()
		must(s.RenameQueue(ctx, news, to))
		if _, err := s.Stats(t.Context(), news); !errors.Is(err, ErrNotFound) {
			t.Errorf("by the old name: %v", err)
		}
		if _, err := s.Put(ctx, news, text("x")); !errors.Is(err, ErrNotFound) {
			t.Errorf("a put to the old name: %v", err)
		}
		if got := there(t, s, to); got != "kept delayed deduplicated" {
			t.Errorf("by the new name there are %q", got)
		}
		published := message.Message{Body: []byte("published")}
		published.Attributes.Set("n", message.Int(1))
		_, err = s.Publish(ctx, topic, []message.Message{published, {Body: []byte("passed over")}})
		must(err)
		if c := <-served; len(c) != 1 || c[0].Queue != to || string(c[0].Message.Body) != "published" {
			t.Errorf("who waited was handed %+v", c)
		}
		if st, err := s.TopicStats(t.Context(), topic); err != nil || !slices.Equal(st.Subscriptions, []Name{to}) {
			t.Errorf("subscriptions are %v, %v", st.Subscriptions, err)
		}
		if r := mustPut(t, s, to, message.Message{Dedup: "d"}); !r[0].Duplicate {
			t.Error("deduplication ids are forgotten")
		}
		if d, _, err := s.Definition(t.Context(), to); err != nil || d.DeadLetter != "shop/orders_dead" {
			t.Errorf("dead letters go to %s, %v", d.DeadLetter, err)
		}
		settle(t, s, Settlement{Token: held[0].Token}, Settlement{Token: leased[0].Token, Kind: Dead})
		if got := there(t, s, Name{"shop", "orders_dead"}); got != "deduplicated" {
			t.Errorf("dead letters are %q", got)
		}
		if list, err := s.Snapshots(ctx); err != nil || len(list) != 1 || list[0].Queue != to {
			t.Errorf("snapshots are %+v", list)
		}
		now := portrayed(s)
		for _, checkpoint := range []bool{false, true} {
			if checkpoint {
				must(s.checkpoint(ctx))
			}
			again := open(t, m.after(true))
			if got := portrayed(again); got != now {
				t.Errorf("the state is\n%sand after a power cut (checkpoint: %v)\n%s", now, checkpoint, got)
			}
		}
		mustSeek(t, s, to, SeekTo{Snapshot: snapshot})
		if got := there(t, s, to); got != "kept delayed deduplicated published" {
			t.Errorf("the snapshot brings back %q", got)
		}
	})
}

// TestRuleDeadLettersFollowARenamedQueue renames queues that others send their dead letters to, and queues that dead
// letters come from.
func TestRuleDeadLettersFollowARenamedQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		name := func(n string) Name { return Name{DefaultNamespace, n} }
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		bury := func(n Name, body string) {
			t.Helper()
			mustPut(t, s, n, text(body)...)
			settle(t, s, Settlement{Token: mustClaim(t, s, ClaimRequest{From: from(n)})[0].Token, Kind: Dead})
		}
		_, err := s.CreateQueue(ctx, name("a"), Definition{})
		must(err)
		_, err = s.CreateQueue(ctx, name("b"), Definition{DeadLetter: "a_dead"})
		must(err)
		bury(name("a"), "1")
		must(s.RenameQueue(ctx, name("a_dead"), name("grave")))
		bury(name("a"), "2")
		bury(name("b"), "3")
		if got := there(t, s, name("grave")); got != "1 2 3" {
			t.Errorf("in the renamed dead-letter queue are %q", got)
		}
		must(s.RenameQueue(ctx, name("a"), name("c"))) // it has a dead-letter queue with a name of its own by now
		must(s.RenameQueue(ctx, name("c"), name("d")))
		bury(name("d"), "4")
		if got := there(t, s, name("grave")); got != "1 2 3 4" {
			t.Errorf("after the queue was renamed there are %q", got)
		}
		must(s.checkpoint(ctx))
		s = open(t, m.after(true))
		if r, err := s.Replay(ctx, name("grave"), ReplayRequest{}); err != nil || r != (Replayed{Moved: 4}) {
			t.Errorf("replayed %+v, %v", r, err)
		}
		if got := there(t, s, name("d")); got != "1 2 4" {
			t.Errorf("back where they came from are %q", got)
		}
		bury(name("d"), "5")
		_, err = s.CreateQueue(ctx, name("a"), Definition{}) // now somebody else has the name
		must(err)
		mustPut(t, s, name("grave"), message.Message{Body: []byte("6"), Death: &message.Death{Queue: "default/a"}})
		if _, err := s.Replay(ctx, name("grave"), ReplayRequest{}); err != nil {
			t.Error(err)
		}
		if got := there(t, s, name("a")); got != "6" {
			t.Errorf("in the queue that has the name are %q", got)
		}
		if err := s.RenameQueue(ctx, name("a"), name("a_dead")); err != nil { // a default name goes on: a_dead_dead
			t.Error(err)
		}
		if err := s.RenameQueue(ctx, name("d"), name("grave")); !errors.Is(err, ErrExists) {
			t.Errorf("onto a queue that is there: %v", err)
		}
		must(s.DeleteQueue(ctx, name("grave")))
		if err := s.RenameQueue(ctx, name("d"), name("grave")); !errors.Is(err, ErrDefinition) {
			t.Errorf("to the name of its own dead-letter queue: %v", err)
		}
	})
}

func TestARenameIsRefusedWhereItCannotBe(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory(), func(o *Options) { o.Namespaces = map[string][]string{DefaultNamespace: {"also"}} })
		name := func(n string) Name { return Name{DefaultNamespace, n} }
		if _, err := s.CreateTopic(ctx, name("t"), nil); err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{"a", "b"} {
			if _, err := s.CreateQueue(ctx, name(n), Definition{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range []struct {
			from, to Name
			want     error
		}{
			{name("a"), name("b"), ErrExists},
			{name("a"), Name{"also", "b"}, ErrExists},
			{name("a"), name("t"), ErrExists},
			{name("t"), name("u"), ErrNotFound},
			{name("nowhere"), name("u"), ErrNotFound},
			{name("a"), name("not a name"), ErrBadName},
			{name("a"), name("a"), nil},
			{Name{"also", "a"}, name("u"), nil},
		} {
			if err := s.RenameQueue(ctx, x.from, x.to); !errors.Is(err, x.want) {
				t.Errorf("%s to %s: %v", x.from, x.to, err)
			}
		}
		if got := must(s.Queues(t.Context())); !slices.Equal(got, []Name{name("b"), name("u")}) {
			t.Errorf("there are %v", got)
		}
	})
}

// TestPutsWaitForARename lets puts to both names come while it is on its way, and the journal refuse one.
func TestPutsWaitForARename(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		to, third := Name{DefaultNamespace, "to"}, Name{DefaultNamespace, "third"}
		mustPut(t, s, news, text("first")...)
		m.hold(true)
		answers := make(chan error)
		for _, f := range []func() error{
			func() error { return s.RenameQueue(ctx, news, to) },
			func() error { _, err := s.Put(ctx, to, text("to the new name")); return err },
			func() error { _, err := s.Put(ctx, news, text("to the old name")); return err }, // which is made anew
		} {
			go func() { answers <- f() }()
			synctest.Wait()
		}
		m.hold(false)
		for range 3 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if a, b := there(t, s, news), there(t, s, to); a != "to the old name" || b != "first to the new name" {
			t.Errorf("by the old name %q, by the new one %q", a, b)
		}
		m.Refuse(true)
		if err := s.RenameQueue(ctx, to, third); err == nil {
			t.Error("a rename that the journal refused says that it was done")
		}
		m.Refuse(false)
		if err := s.RenameQueue(ctx, to, third); err != nil {
			t.Errorf("once more: %v", err)
		}
	})
}

// TestAQueueIsFoundByItsLastFormerNames renames a queue again and again: what is remembered of its names stays bounded.
func TestAQueueIsFoundByItsLastFormerNames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory())
		name := func(i int) Name { return Name{DefaultNamespace, string(rune('a' + i))} }
		mustPut(t, s, name(0), text("x")...)
		for i := range 20 {
			if err := s.RenameQueue(ctx, name(i), name(i+1)); err != nil {
				t.Fatal(err)
			}
		}
		s.mu.Lock()
		for i := range 20 {
			if found := s.state.nowCalled(name(i)) == name(20); found != (i >= 20-maxFormer) {
				t.Errorf("found by name %d: %v", i, found)
			}
		}
		s.mu.Unlock()
		if _, err := s.CreateQueue(ctx, name(19), Definition{}); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteQueue(ctx, name(19)); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		if s.state.nowCalled(name(19)) != name(19) || s.state.nowCalled(name(18)) != name(20) {
			t.Error("a name that another queue had since is still one of its former names, or others are not")
		}
		s.mu.Unlock()
		if err := s.DeleteQueue(ctx, name(20)); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.state.former); n != 0 {
			t.Errorf("%d names of a queue that is gone are remembered", n)
		}
	})
}

// TestTokensFromBeforeARenameSettleAfterIt, also after a restart, with a checkpoint and without; and the former name is
// nobody's, until a queue is made of it: its tokens are others.
func TestTokensFromBeforeARenameSettleAfterIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		demandless := func(o *Options) { o.OnDemand = false }
		s := open(t, m, demandless)
		to := Name{"shop", "orders"}
		if _, err := s.CreateQueue(ctx, news, Definition{}); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, text("a", "b", "c")...)
		held := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour, Max: 3})
		if err := s.RenameQueue(ctx, news, to); err != nil {
			t.Fatal(err)
		}
		settle(t, s, Settlement{Token: held[0].Token})
		try := func(s *Store, token Token) error {
			t.Helper()
			errs, err := s.Settle(ctx, []Settlement{{Token: token}})
			return errors.Join(append(errs, err)...)
		}
		look := func(s *Store, when string) {
			t.Helper()
			if _, err := s.Put(ctx, news, text("x")); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: a put to the former name: %v", when, err)
			}
			if _, err := s.Claim(ctx, ClaimRequest{From: from(news)}); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: a claim from the former name: %v", when, err)
			}
			if err := try(s, held[0].Token); !errors.Is(err, ErrStale) {
				t.Errorf("%s: a token that is used up: %v", when, err)
			}
			if errs, err := s.Extend(ctx, []Token{held[1].Token}, time.Hour); err != nil || errs[0] != nil {
				t.Errorf("%s: a claim is extended: %v, %v", when, errs, err)
			}
			if n, ok, _ := s.QueueOf(t.Context(), held[1].Token); !ok || n != to {
				t.Errorf("%s: a token is of queue %s", when, n)
			}
		}
		look(s, "at once")
		for _, checkpoint := range []bool{false, true} {
			if checkpoint {
				checkpointNow(t, s)
			}
			when := fmt.Sprintf("after a restart (checkpoint: %v)", checkpoint)
			again := open(t, m.after(false), demandless)
			look(again, when)
			for _, c := range held[1:] {
				if err := try(again, c.Token); err != nil {
					t.Errorf("%s: a token from before: %v", when, err)
				}
			}
		}
		if _, err := s.CreateQueue(ctx, news, Definition{}); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, text("x", "y", "z")...)
		mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour, Max: 3})
		for _, c := range held[1:] {
			if err := try(s, c.Token); err != nil {
				t.Errorf("when another queue has the name: %v", err)
			}
		}
		if st, err := s.Stats(t.Context(), news); err != nil || st.Claimed != 3 {
			t.Errorf("of the other queue %d are claimed, %v", st.Claimed, err)
		}
	})
}
