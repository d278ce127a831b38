package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

var news = Name{DefaultNamespace, "news"}

// open starts a Store over m; the test closes both at its end.
func open(t *testing.T, m *memory, change ...func(*Options)) *Store {
	t.Helper()
	o := Options{Journal: m, OnDemand: true}
	for _, c := range change {
		c(&o)
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		m.Close()
	})
	return s
}

// must is the value of what does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// bubble runs f in a world whose time passes only while everybody waits.
func bubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

func text(bodies ...string) (ms []message.Message) {
	for _, b := range bodies {
		ms = append(ms, message.Message{Body: []byte(b)})
	}
	return ms
}

func mustPut(t *testing.T, s *Store, n Name, ms ...message.Message) []PutResult {
	t.Helper()
	r, err := s.Put(context.Background(), n, ms)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustClaim(t *testing.T, s *Store, r ClaimRequest) []Claim {
	t.Helper()
	cs, err := s.Claim(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

func from(n Name) []From { return []From{{Queue: n}} }

func where(t *testing.T, n Name, text string) []From {
	t.Helper()
	e, err := condition.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return []From{{Queue: n, Where: e}}
}

func settle(t *testing.T, s *Store, ss ...Settlement) {
	t.Helper()
	errs, err := s.Settle(context.Background(), ss)
	if err = errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
}

func bodies(cs []Claim) string {
	var b []string
	for _, c := range cs {
		b = append(b, string(c.Message.Body))
	}
	return strings.Join(b, " ")
}

func TestAPutMessageIsClaimedWithEverythingItHad(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		m := message.Message{Body: []byte("hello"), Key: "k", Dedup: "d",
			Time: time.Now().UTC().Truncate(time.Microsecond)}
		m.Attributes.Set("lang", message.String("ja"))
		m.Attributes.Set("n", message.Uint(1<<63))
		r := mustPut(t, s, news, m)
		c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 5})
		if len(c) != 1 {
			t.Fatalf("claimed %d messages", len(c))
		}
		got := c[0].Message
		if got.ID != r[0].ID || string(got.Body) != "hello" || got.Key != "k" || got.Dedup != "d" ||
			!got.Time.Equal(m.Time) {
			t.Errorf("claimed %+v", got)
		}
		if v, _ := got.Attributes.Get("n"); v != message.Uint(1<<63) {
			t.Errorf("n is %#v", v)
		}
		if c[0].Attempt != 1 || c[0].Sequence != 1 || c[0].Queue != news {
			t.Errorf("claim %+v", c[0])
		}
		for _, h := range []message.Hop{message.Accepted, message.Claimed} {
			if got.Hops[h] == 0 {
				t.Errorf("hop %s is not marked", h)
			}
		}
		if again := mustClaim(t, s, ClaimRequest{From: from(news)}); len(again) != 0 {
			t.Errorf("claimed twice: %v", again)
		}
	})
}

func TestNothingIsVisibleBeforeItIsDurable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("first")...)
		m.hold(true)
		put := make(chan error, 1)
		go func() {
			_, err := s.Put(context.Background(), news, text("second"))
			put <- err
		}()
		synctest.Wait()
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 9}); bodies(c) != "first" {
			t.Errorf("before the sync a reader sees %q", bodies(c))
		}
		select {
		case err := <-put:
			t.Fatalf("answered before the sync: %v", err)
		default:
		}
		m.hold(false)
		if err := <-put; err != nil {
			t.Fatal(err)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 9}); bodies(c) != "second" {
			t.Errorf("after the sync a reader sees %q", bodies(c))
		}
	})
}

func TestAWaitingReaderIsHandedTheMessage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		got := make(chan string, 2)
		var wg sync.WaitGroup
		for _, cond := range []string{"n = 2", "n = 1"} {
			wg.Go(func() {
				start := time.Now()
				c, err := s.Claim(context.Background(), ClaimRequest{From: where(t, news, cond), Wait: time.Hour})
				if err != nil {
					t.Error(err)
				}
				if time.Since(start) != time.Minute {
					t.Errorf("waited %v", time.Since(start))
				}
				got <- cond + ": " + bodies(c)
			})
		}
		time.Sleep(time.Minute)
		m := text("one")
		m[0].Attributes.Set("n", message.Int(1))
		mustPut(t, s, news, m...)
		if g := <-got; g != "n = 1: one" {
			t.Error(g)
		}
		m[0].Attributes.Set("n", message.Int(2))
		m[0].Body = []byte("two")
		mustPut(t, s, news, m...)
		if g := <-got; g != "n = 2: two" {
			t.Error(g)
		}
		wg.Wait()
	})
}

func TestAReaderThatGivesUpLeavesNothingClaimed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := s.Claim(ctx, ClaimRequest{From: from(news), Wait: time.Hour})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		mustPut(t, s, news, text("x")...)
		if c := mustClaim(t, s, ClaimRequest{From: from(news)}); bodies(c) != "x" || c[0].Attempt != 1 {
			t.Errorf("the next reader gets %q", bodies(c))
		}
		start := time.Now()
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Wait: 3 * time.Second}); len(c) != 0 ||
			time.Since(start) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(start), c)
		}
	})
}

func TestALeaseEndsInTimeAndItsTokenIsStale(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text("x")...)
		first := mustClaim(t, s, ClaimRequest{From: from(news), Lease: 10 * time.Second})
		time.Sleep(5 * time.Second)
		if errs, err := s.Extend(context.Background(), []Token{first[0].Token}, 10*time.Second); err != nil ||
			errs[0] != nil {
			t.Fatal(err, errs)
		}
		start := time.Now()
		second := mustClaim(t, s, ClaimRequest{From: from(news), Wait: time.Hour})
		if bodies(second) != "x" || second[0].Attempt != 2 || time.Since(start) != 10*time.Second {
			t.Errorf("after %v: %+v", time.Since(start), second)
		}
		errs, err := s.Settle(context.Background(), []Settlement{{Token: first[0].Token}, {Token: second[0].Token}})
		if err != nil || !errors.Is(errs[0], ErrStale) || errs[1] != nil {
			t.Errorf("%v %v", errs, err)
		}
	})
}

func TestOutOfAttemptsAMessageBecomesADeadLetterAndCanBeReplayed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ctx := context.Background()
		if _, err := s.CreateQueue(ctx, news, Definition{MaxAttempts: 2}); err != nil {
			t.Fatal(err)
		}
		id := mustPut(t, s, news, text("x")...)[0].ID
		for range 2 {
			c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Second, Wait: time.Minute})
			if bodies(c) != "x" {
				t.Fatalf("claimed %q", bodies(c))
			}
		}
		dead := Name{DefaultNamespace, "news_dead"}
		c := mustClaim(t, s, ClaimRequest{From: from(dead), Wait: time.Minute})
		if bodies(c) != "x" || c[0].Message.ID != id {
			t.Fatalf("dead letters: %+v", c)
		}
		d := c[0].Message.Death
		if d == nil || d.Queue != "default/news" || d.Attempts != 2 || d.Reason != "out of attempts" {
			t.Errorf("death %+v", d)
		}
		settle(t, s, Settlement{Token: c[0].Token, Kind: Back})
		r, err := s.Replay(ctx, dead, ReplayRequest{})
		if err != nil || r.Moved != 1 {
			t.Fatal(r, err)
		}
		c = mustClaim(t, s, ClaimRequest{From: from(news)})
		if bodies(c) != "x" || c[0].Message.ID != id || c[0].Attempt != 1 || c[0].Message.Death != nil {
			t.Errorf("replayed %+v", c)
		}
		if st, _ := s.Stats(t.Context(), dead); st.Messages() != 0 {
			t.Errorf("the dead-letter queue still holds %d", st.Messages())
		}
	})
}

func TestADeadSettlementKeepsReasonAndStepAndAReplayGoesToThatStepOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text("bad", "good")...)
		c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2})
		settle(t, s, Settlement{Token: c[0].Token, Kind: Dead, Reason: "no such row", Step: "archive"},
			Settlement{Token: c[1].Token})
		dead := Name{DefaultNamespace, "news_dead"}
		p, err := s.Peek(context.Background(), dead, PeekRequest{})
		if err != nil || len(p) != 1 || string(p[0].Message.Body) != "bad" || p[0].Message.Death.Step != "archive" {
			t.Fatalf("%+v %v", p, err)
		}
		if r, err := s.Replay(context.Background(), dead, ReplayRequest{Max: 1}); err != nil || r.Moved != 1 {
			t.Fatal(r, err)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(news)}); c[0].Message.Only != "archive" {
			t.Errorf("replayed for %q", c[0].Message.Only)
		}
	})
}

func TestDuplicatesOnTheirWayAnswerTheFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		m.hold(true)
		results := make(chan PutResult, 3)
		for range 3 {
			go func() {
				r, err := s.Put(context.Background(), news, []message.Message{{Body: []byte("y"), Dedup: "same"}})
				if err != nil {
					t.Error(err)
					return
				}
				results <- r[0]
			}()
		}
		synctest.Wait()
		m.hold(false)
		first := 0
		ids := map[message.ID]bool{}
		for range 3 {
			r := <-results
			ids[r.ID] = true
			if !r.Duplicate {
				first++
			}
		}
		if first != 1 || len(ids) != 1 {
			t.Errorf("%d firsts, ids %v", first, ids)
		}
		if st, _ := s.Stats(t.Context(), news); st.TotalDuplicate != 2 || st.Messages() != 2 {
			t.Errorf("%+v", st)
		}
	})
}

func TestAGroupSpansQueuesAndSettlements(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		other := Name{"shop", "orders"}
		groups := m.Stats().Groups
		mustPut(t, s, other) // makes the queue
		_, errs, err := s.Commit(context.Background(), Change{
			Puts:    []QueuePut{{To: other, Messages: text("made of x")}},
			Settles: []Settlement{{Token: c[0].Token}},
			Notes:   []Note{{Room: "test", Key: "k", Value: []byte("v")}},
		})
		if err != nil || errs[0] != nil {
			t.Fatal(err, errs)
		}
		if got := m.Stats().Groups - groups; got != 2 {
			t.Errorf("it took %d groups", got)
		}
		again := open(t, m.after(true))
		if c := mustClaim(t, again, ClaimRequest{From: from(other)}); bodies(c) != "made of x" {
			t.Errorf("claimed %q", bodies(c))
		}
		if v, ok, _ := again.Note(t.Context(), "test", "k"); !ok || string(v) != "v" {
			t.Errorf("note %q %v", v, ok)
		}
		if st, _ := again.Stats(t.Context(), news); st.Messages() != 0 {
			t.Errorf("news holds %d", st.Messages())
		}
	})
}

func TestAFullDiskRefusesPutsAndLetsSettlesThrough(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		m.Fill(true)
		if _, err := s.Put(context.Background(), news, text("y")); !errors.Is(err, ErrNoRoom) {
			t.Errorf("put answers %v", err)
		}
		settle(t, s, Settlement{Token: c[0].Token})
		m.Fill(false)
		mustPut(t, s, news, text("z")...)
		if st, _ := s.Stats(t.Context(), news); st.Messages() != 1 {
			t.Errorf("%d messages", st.Messages())
		}
	})
}

func TestAFailedJournalMakesTheStoreUnavailable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		m.Break(journal.ErrFailed)
		if _, err := s.Put(context.Background(), news, text("y")); !errors.Is(err, ErrUnavailable) {
			t.Errorf("put answers %v", err)
		}
		if _, err := s.Claim(context.Background(), ClaimRequest{From: from(news)}); !errors.Is(err, ErrUnavailable) {
			t.Errorf("claim answers %v", err)
		}
	})
}

func TestADamagedBodyIsSetAsideAndTheOthersGoOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("bad")...)
		m.Damage(journal.Address{Position: m.End()})
		mustPut(t, s, news, text("good")...)
		if c := mustClaim(t, s, ClaimRequest{From: from(news)}); bodies(c) != "good" {
			t.Errorf("claimed %q", bodies(c))
		}
		p, err := s.Peek(context.Background(), Name{DefaultNamespace, "news_dead"}, PeekRequest{})
		if err != nil || len(p) != 1 || !strings.Contains(p[0].Message.Death.Reason, "flipped bit") {
			t.Errorf("set aside: %+v %v", p, err)
		}
	})
}

func TestColumnsMakeRowsOfJSONAndRefuseWhatDoesNotFit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ctx := context.Background()
		columns, err := message.ParseColumns([]string{"id varchar(20) not null", "payload text not null",
			"at int unsigned not null"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CreateQueue(ctx, news, Definition{Columns: columns}); err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("長", 500)
		mustPut(t, s, news, text(`{"id":"a","payload":"`+long+`","at":7}`, `{"id":"b","payload":"short","at":8}`)...)
		_, err = s.Put(ctx, news, text(`{"id":"c","payload":"p","at":-1}`))
		var ce *message.ColumnError
		if !errors.Is(err, ErrMismatch) || !errors.As(err, &ce) || ce.Column != "at" {
			t.Errorf("got %v", err)
		}
		c := mustClaim(t, s, ClaimRequest{From: where(t, news, "payload like '長長%' and at = 7")})
		if len(c) != 1 || string(c[0].Body()) != `{"id":"a","payload":"`+long+`","at":7}` {
			t.Errorf("claimed %d: %.200s", len(c), bodies(c))
		}
		if _, err := s.Claim(ctx, ClaimRequest{From: where(t, news, "payloat = 1")}); !errors.Is(err, ErrCondition) ||
			!strings.Contains(err.Error(), "payload") {
			t.Errorf("got %v", err)
		}
		settle(t, s, Settlement{Token: c[0].Token, Kind: Dead, Reason: "why not"})
		if r, err := s.Replay(ctx, Name{DefaultNamespace, "news_dead"}, ReplayRequest{}); err != nil || r.Moved != 1 {
			t.Fatal(r, err)
		}
		if c := mustClaim(t, s, ClaimRequest{From: where(t, news, "at = 7")}); len(c) != 1 ||
			c[0].Message.Row[1].AsString() != long {
			t.Errorf("after the replay: %v", c)
		}
	})
}

func TestADefinitionThatDiffersIsShown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ctx := context.Background()
		d := Definition{MaxAttempts: 3, DeadLetter: "news_dead"}
		if made, err := s.CreateQueue(ctx, news, d); err != nil || !made {
			t.Fatal(made, err)
		}
		if made, err := s.CreateQueue(ctx, news, Definition{MaxAttempts: 3}); err != nil || made {
			t.Errorf("the default written out is the same: %v %v", made, err)
		}
		_, err := s.CreateQueue(ctx, news, Definition{MaxAttempts: 5})
		var diff *DifferentError
		if !errors.As(err, &diff) || !errors.Is(err, ErrExists) || err.Error() != "queue news already exists with "+
			"another definition: max_attempts is 3, not 5" {
			t.Errorf("got %v", err)
		}
		if err := s.AlterQueue(ctx, news, Definition{MaxAttempts: 5}); err != nil {
			t.Fatal(err)
		}
		if st, _ := s.Stats(t.Context(), news); st.Definition.MaxAttempts != 5 {
			t.Errorf("%+v", st.Definition)
		}
	})
}

func TestNamespacesHaveOtherNames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory(), func(o *Options) {
			o.Namespaces = map[string][]string{"default": {"test", "local", "000000000000"}}
		})
		mustPut(t, s, Name{"test", "news"}, text("x")...)
		if c := mustClaim(t, s, ClaimRequest{From: from(Name{"000000000000", "news"})}); bodies(c) != "x" ||
			c[0].Queue != news {
			t.Errorf("%+v", c)
		}
	})
}

func TestAnEndedStoreTellsWhoWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		done := make(chan error, 1)
		go func() {
			_, err := s.Claim(context.Background(), ClaimRequest{From: from(news), Wait: time.Hour})
			done <- err
		}()
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
		if _, err := s.Put(context.Background(), news, text("x")); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestACheckpointAndWhatFollowsGiveTheSameState(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m, func(o *Options) { o.CheckpointBytes = 2000 })
		for i := range 200 {
			mustPut(t, s, news, text(fmt.Sprintf("message %d", i))...)
			if i%3 == 0 {
				c := mustClaim(t, s, ClaimRequest{From: from(news)})
				settle(t, s, Settlement{Token: c[0].Token})
			}
			time.Sleep(100 * time.Millisecond)
		}
		if len(m.Checkpoints()) == 0 {
			t.Fatal("no checkpoint was saved")
		}
		again := open(t, m.after(true))
		a, _ := s.Stats(t.Context(), news)
		b, _ := again.Stats(t.Context(), news)
		if a.Ready != b.Ready || a.TotalPut != b.TotalPut || a.TotalDone != b.TotalDone || a.Bytes != b.Bytes ||
			a.NextSequence != b.NextSequence {
			t.Errorf("before %+v\nafter %+v", a, b)
		}
	})
}

func TestClaimsOfAnOwnerGoBackAtARestartWhateverTheirLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("owned", "leased")...)
		o := s.NewOwner("pipeline")
		mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour, Owner: o})
		mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour})
		again := open(t, m.after(false))
		if c := mustClaim(t, again, ClaimRequest{From: from(news), Max: 9}); bodies(c) != "owned" || c[0].Attempt != 2 {
			t.Errorf("after a restart %q", bodies(c))
		}
	})
}
