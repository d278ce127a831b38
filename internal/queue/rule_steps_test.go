package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// A walk over everything of a kind, which the tests below forbid, stumbles over a nil that they put there.
var stumble = Name{DefaultNamespace, "a walk over all of them panics here"}

// TestRuleAPutLooksAtNoSnapshot does what queues do all the time, and ends a snapshot, beside one that nobody may look
// at.
func TestRuleAPutLooksAtNoSnapshot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("a", "b")...)
		for i := range 3 {
			n := Name{DefaultNamespace, fmt.Sprint("s", i)}
			if _, err := s.TakeSnapshot(ctx, n, news,
				SnapshotOptions{Life: time.Duration(3-i) * time.Minute}); err != nil {
				t.Fatal(err)
			}
		}
		s.mu.Lock()
		s.state.snapshots[stumble] = nil
		s.mu.Unlock()
		for range 3 {
			mustPut(t, s, news, text("c")...)
			mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Second})
			time.Sleep(2 * time.Second) // its lease ends
			c := mustClaim(t, s, ClaimRequest{From: from(news)})
			settle(t, s, Settlement{Token: c[0].Token, Kind: Done})
			if _, err := s.Stats(t.Context(), news); err != nil {
				t.Fatal(err)
			}
		}
		ended := func(n int) {
			t.Helper()
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.state.snapshots) != 1+n {
				t.Errorf("%d snapshots are there, not %d", len(s.state.snapshots)-1, n)
			}
		}
		time.Sleep(time.Minute)
		ended(2)
		time.Sleep(time.Minute)
		ended(1)
		s.mu.Lock()
		delete(s.state.snapshots, stumble)
		s.mu.Unlock()
		s = open(t, m.after(true))
		s.mu.Lock()
		s.state.snapshots[stumble] = nil
		s.mu.Unlock()
		time.Sleep(time.Minute)
		ended(0)
		s.mu.Lock()
		delete(s.state.snapshots, stumble)
		s.mu.Unlock()
	})
}

// TestRuleARefusedPutLooksAtNoQueue fills the store with ids of many queues: a put is refused, and taken when their
// windows have ended, without a walk over all queues.
func TestRuleARefusedPutLooksAtNoQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory(), func(o *Options) { o.Limits.Bytes = 20_000 })
		body := make([]byte, 1000)
		queues := 0
		for {
			n := Name{DefaultNamespace, fmt.Sprint("q", queues)}
			if _, err := s.Put(ctx, n, []message.Message{{Body: body[:100], Dedup: "x"}}); err != nil {
				break
			}
			queues++
			c := mustClaim(t, s, ClaimRequest{From: from(n)})
			settle(t, s, Settlement{Token: c[0].Token, Kind: Done})
		}
		if queues < 100 {
			t.Fatalf("%d queues have filled the store", queues)
		}
		if _, err := s.CreateQueue(ctx, news, Definition{}); err != nil {
			t.Fatal(err)
		}
		const nobody = 1 << 30
		s.mu.Lock()
		s.state.queues[nobody] = nil
		s.mu.Unlock()
		if _, err := s.Put(ctx, news, []message.Message{{Body: body}}); !errors.Is(err, ErrQueueFull) {
			t.Fatalf("a full store answers %v", err)
		}
		time.Sleep(DefaultDedupWindow)
		mustPut(t, s, news, message.Message{Body: body})
		s.mu.Lock()
		delete(s.state.queues, nobody)
		s.mu.Unlock()
	})
}

// TestRuleIdsOfQueuesWithoutPutsAreForgotten lets windows end of queues that nobody puts to any more.
func TestRuleIdsOfQueuesWithoutPutsAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		left := func(s *Store) (n int, bytes int64) {
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, q := range s.state.queues {
				n += len(q.dedup) + len(q.forget)
			}
			return n, s.state.idBytes
		}
		fill := func(s *Store) {
			for i := range 5 {
				ms := make([]message.Message, 1000)
				for j := range ms {
					ms[j].Dedup = fmt.Sprint(j)
				}
				mustPut(t, s, Name{DefaultNamespace, fmt.Sprint("q", i)}, ms...)
			}
		}
		fill(s)
		time.Sleep(DefaultDedupWindow + 2*time.Second)
		if n, bytes := left(s); n != 0 || bytes != 0 {
			t.Errorf("%d ids are kept, %d bytes", n, bytes)
		}
		fill(s)
		s = open(t, m.after(true))
		if n, _ := left(s); n != 10_000 {
			t.Errorf("after a restart %d ids are kept", n)
		}
		if err := s.DeleteQueue(t.Context(), Name{DefaultNamespace, "q3"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(DefaultDedupWindow + 2*time.Second)
		if n, bytes := left(s); n != 0 || bytes != 0 {
			t.Errorf("after a restart and a window %d ids are kept, %d bytes", n, bytes)
		}
	})
}
