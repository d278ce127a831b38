package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// numbered makes messages with n as an attribute and as body.
func numbered(ns ...int64) (ms []message.Message) {
	for _, n := range ns {
		m := message.Message{Body: fmt.Append(nil, n)}
		m.Attributes.Set("n", message.Int(n))
		ms = append(ms, m)
	}
	return ms
}

func parse(t *testing.T, text string) *condition.Expr {
	t.Helper()
	e, err := condition.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestRuleADurableGroupIsOfferedWhole puts a group of priorities 1, 0, 1 for a reader that wants 0 before 1.
func TestRuleADurableGroupIsOfferedWhole(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		got := make(chan string, 2)
		wait := func(max int) {
			c := mustClaim(t, s, ClaimRequest{From: []From{{news, parse(t, "n = 0")}, {news, parse(t, "n = 1")}},
				Max: max, Wait: time.Hour})
			got <- bodies(c)
		}
		go wait(1)
		synctest.Wait()
		mustPut(t, s, news, numbered(1, 0, 1)...)
		if g := <-got; g != "0" {
			t.Errorf("the reader was given %q", g)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 9}); bodies(c) != "1 1" {
			t.Errorf("left are %q", bodies(c))
		}
		go wait(2) // several, over several queues of one group
		synctest.Wait()
		if _, _, err := s.Commit(context.Background(), Change{Puts: []QueuePut{
			{To: Name{DefaultNamespace, "other"}, Messages: numbered(0)}, {To: news, Messages: numbered(1, 1)},
			{To: news, Messages: numbered(0)},
		}}); err != nil {
			t.Fatal(err)
		}
		if g := <-got; g != "0 1" {
			t.Errorf("the reader was given %q", g)
		}
	})
}

// TestRuleIndexesHoldOnlyWhatCanBeClaimed makes messages unclaimable in every way and looks at what the index holds;
// each comes back at its old place.
func TestRuleIndexesHoldOnlyWhatCanBeClaimed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory())
		ms := numbered(1, 1, 1, 1, 1)
		ms[1].Key, ms[2].Key = "k", "k"                 // 3 is behind 2
		ms[3].NotBefore = time.Now().Add(time.Minute)   // 4 sleeps
		ms[4].Expires = time.Now().Add(3 * time.Minute) // 5 will expire
		mustPut(t, s, news, ms...)
		r := ClaimRequest{From: []From{{news, parse(t, "n >= 1 and n < 2")}}, Lease: time.Hour}
		holds := func(when string, want ...uint64) {
			t.Helper()
			synctest.Wait()
			if _, err := s.Stats(t.Context(), news); err != nil { // what is due by now is done
				t.Fatal(err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			q := s.state.queueNames[news]
			x := q.views[0].(*indexed)
			plan := r.From[0].Where.Plan()
			lo, hi := x.bounds(&plan.Branches[0])
			var got []uint64
			for seq := range x.tree.Ascend(lo, hi) {
				got = append(got, seq)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || x.tree.Len() != len(want) {
				t.Errorf("%s the index holds %v, not %v", when, got, want)
			}
		}
		first := mustClaim(t, s, r)
		holds("with 1 claimed, 3 behind 2 and 4 asleep", 2, 5)
		second := mustClaim(t, s, r)
		holds("with 2 claimed too", 5)
		settle(t, s, Settlement{Token: first[0].Token, Kind: Back})
		holds("with 1 put back", 1, 5)
		settle(t, s, Settlement{Token: second[0].Token})
		holds("with 2 settled", 1, 3, 5)
		time.Sleep(time.Minute)
		holds("with 4 awake", 1, 3, 4, 5)
		first = mustClaim(t, s, r)
		settle(t, s, Settlement{Token: first[0].Token, Kind: Back, Delay: time.Minute})
		holds("with 1 put back asleep", 3, 4, 5)
		time.Sleep(2 * time.Minute)
		holds("with 5 expired and 1 awake", 1, 3, 4)
		if _, err := s.Purge(ctx, news); err != nil {
			t.Fatal(err)
		}
		if c := mustClaim(t, s, r); len(c) != 0 {
			t.Errorf("claimed %q of a purged queue", bodies(c))
		}
		holds("purged")
	})
}

// TestRuleAConditionThatNoIndexServesLooksAtEachMessageOnce counts what claims look at, with the same text and with new
// constants.
func TestRuleAConditionThatNoIndexServesLooksAtEachMessageOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		const depth = 3000
		for n := range int64(depth / 100) {
			ns := make([]int64, 100)
			for i := range ns {
				ns[i] = n*100 + int64(i)
			}
			mustPut(t, s, news, numbered(ns...)...)
		}
		looks := func(text string, want int) uint64 {
			t.Helper()
			q := s.state.queueNames[news]
			before := q.scanned
			if c := mustClaim(t, s, ClaimRequest{From: where(t, news, text), Max: 5}); len(c) != want {
				t.Fatalf("%s: claimed %d, not %d", text, len(c), want)
			}
			return q.scanned - before
		}
		const rare = "n % 1000 = 999 and n + 0 > 5"
		if n := looks(rare, 3); n < depth-1000 || n > depth {
			t.Errorf("the first use looked at %d messages of %d", n, depth)
		}
		for range 50 {
			if n := looks(rare, 0); n != 0 {
				t.Errorf("a later use looked at %d messages", n)
			}
		}
		mustPut(t, s, news, numbered(3999, 4000)...)
		if n := looks(rare, 1); n > 2 {
			t.Errorf("with two new messages it looked at %d", n)
		}
		if n := looks("n % 1000 = 998 and n + 0 > 6", 3); n > depth {
			t.Errorf("with other constants it looked at %d messages of %d", n, depth)
		}
	})
}

// TestRuleAFirstUseBuildRunsBesideTheQueue has a claim build an index over many messages and gets hold of the queue in
// the middle of it.
func TestRuleAFirstUseBuildRunsBesideTheQueue(t *testing.T) {
	for range 20 { // a busy machine may leave the one that looks aside for a whole build, but not for each
		if buildBeside(t) > 0 {
			return
		}
	}
	t.Error("nobody got hold of the queue while the index was built")
}

// buildBeside has a claim build an index, and says how often the queue was got hold of meanwhile.
func buildBeside(t *testing.T) (inBetween int) {
	s := open(t, newMemory())
	const depth = 30_000
	for range depth / 10_000 {
		ms := make([]message.Message, 10_000)
		for i := range ms {
			ms[i].Attributes.Set("n", message.Int(int64(i)))
		}
		mustPut(t, s, news, ms...)
	}
	var once sync.WaitGroup
	var claims []Claim
	var err error
	once.Go(func() {
		claims, err = s.Claim(context.Background(), ClaimRequest{From: []From{{news, parse(t, "n = 9999")}}})
	})
	for done := false; !done; {
		s.mu.Lock()
		q := s.state.queueNames[news]
		if len(q.views) > 0 {
			b := q.views[0].progress()
			if done = b.done; !done && b.upto > 0 {
				inBetween++
			}
		}
		s.mu.Unlock()
		runtime.Gosched()
	}
	once.Wait()
	if err != nil || len(claims) != 1 || claims[0].Sequence != 10_000 {
		t.Errorf("claimed %+v, %v", claims, err)
	}
	return inBetween
}

// TestRuleAThousandWaitersOnDistinctConditionsGetTheirOwn: each message goes to the one reader that waits for it, and
// nobody else is woken.
func TestRuleAThousandWaitersOnDistinctConditionsGetTheirOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const readers = 1000
		s := open(t, newMemory())
		got := make([]string, readers)
		var all sync.WaitGroup
		for i := range readers {
			text := fmt.Sprintf("n = %d", i)
			switch i % 4 {
			case 1:
				text = fmt.Sprintf("n > %d and n <= %d", i-1, i)
			case 2:
				text = fmt.Sprintf("n in (%d, %d)", i, i+readers*10)
			case 3:
				text = fmt.Sprintf("n + 1 = %d", i+1) // no index serves it
			}
			all.Go(func() {
				c, err := s.Claim(context.Background(),
					ClaimRequest{From: []From{{news, parse(t, text)}}, Wait: 2 * time.Hour})
				got[i] = fmt.Sprint(bodies(c), errors.Join(err))
			})
		}
		synctest.Wait()
		if st, err := s.Stats(t.Context(), news); err != nil || st.Waiters != readers {
			t.Fatalf("%d wait, %v", st.Waiters, err)
		}
		mustPut(t, s, news, numbered(-1, 100_000)...) // nobody's
		time.Sleep(time.Hour)                         // they idle
		for i := range readers {
			n := int64((i * 7) % readers)
			mustPut(t, s, news, numbered(n)...)
			synctest.Wait()
			if st, err := s.Stats(t.Context(), news); err != nil || st.Waiters != readers-i-1 || st.Ready != 2 {
				t.Fatalf("after message %d: %d wait, %d messages are ready, %v", n, st.Waiters, st.Ready, err)
			}
		}
		all.Wait()
		for i, g := range got {
			if g != fmt.Sprint(i, "<nil>") && g != fmt.Sprintf("%d<nil>", i) {
				t.Errorf("reader %d was handed %q", i, g)
			}
		}
	})
}
