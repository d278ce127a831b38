package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestWhatIsTooLargeIsRefusedAndEverythingElseGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory(), func(o *Options) { o.Limits = Limits{MessageBytes: 100, PutMessages: 3} })
		ctx := context.Background()
		_, err := s.Put(ctx, news, text("fits", strings.Repeat("x", 101)))
		if !errors.Is(err, ErrTooLarge) ||
			!strings.Contains(err.Error(), "message 2 of 2 has 101 bytes, the limit is 100") {
			t.Errorf("got %v", err)
		}
		if _, err := s.Put(ctx, news, text("1", "2", "3", "4")); !errors.Is(err, ErrTooLarge) {
			t.Errorf("got %v", err)
		}
		if err := s.SetNotes(ctx, Note{Room: "r", Key: "k", Value: make([]byte, MaxNoteBytes+1)}); !errors.Is(err,
			ErrTooLarge) {
			t.Errorf("got %v", err)
		}
		mustPut(t, s, news, text("fits")...)
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 9}); bodies(c) != "fits" {
			t.Errorf("claimed %q", bodies(c))
		}
	})
}

func TestADeadLetterIsKeptWhateverTheBoundsAndTheColumnsAre(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory(), func(o *Options) { o.Limits = Limits{MessageBytes: 10} })
		columns, err := message.ParseColumns([]string{"n int not null"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CreateQueue(t.Context(), news, Definition{Columns: columns, MaxMessages: 1}); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, text(`{"n":1}`)...)
		dead := text("no row, and longer than ten bytes")
		dead[0].Death = &message.Death{Reason: "given up"}
		mustPut(t, s, news, dead...)
		ps, err := s.Peek(t.Context(), news, PeekRequest{})
		if err != nil || len(ps) != 2 || string(ps[1].Body()) != "no row, and longer than ten bytes" {
			t.Errorf("%+v %v", ps, err)
		}
	})
}

func TestTheStoresOwnLimitsHold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory(), func(o *Options) { o.Limits = Limits{Messages: 3, Queues: 2, Waiters: 1} })
		ctx := context.Background()
		mustPut(t, s, news, text("1", "2", "3")...)
		var full *FullError
		if _, err := s.Put(ctx, news, text("4")); !errors.As(err, &full) || full.Bound != "messages" ||
			full.Limit != 3 {
			t.Errorf("got %v", err)
		}
		// A dead letter is never refused.
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		settle(t, s, Settlement{Token: c[0].Token, Kind: Dead, Reason: "r"})
		if _, err := s.CreateQueue(ctx, Name{"a", "third"}, Definition{}); !errors.Is(err, ErrDefinition) {
			t.Errorf("a third queue: %v", err)
		}
		mustClaim(t, s, ClaimRequest{From: from(news), Max: 9})
		var waiting sync.WaitGroup
		waiting.Go(func() { mustClaim(t, s, ClaimRequest{From: from(news), Wait: time.Second}) })
		synctest.Wait()
		if _, err := s.Claim(ctx, ClaimRequest{From: from(news), Wait: time.Second}); !errors.Is(err,
			ErrTooManyWaiters) {
			t.Errorf("a second waiter: %v", err)
		}
		waiting.Wait()
	})
}

func TestWithoutOnDemandQueuesHaveToBeThere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory(), func(o *Options) { o.OnDemand = false })
		ctx := context.Background()
		if _, err := s.Put(ctx, news, text("x")); !errors.Is(err, ErrNotFound) ||
			!strings.Contains(err.Error(), "news") {
			t.Errorf("got %v", err)
		}
		if _, err := s.Claim(ctx, ClaimRequest{From: from(news)}); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v", err)
		}
		for _, bad := range []string{"", "a b", "x/y/z", strings.Repeat("n", 256), ".."} {
			if _, err := ParseName(bad); !errors.Is(err, ErrBadName) {
				t.Errorf("%q is a name: %v", bad, err)
			}
		}
	})
}

func TestAPurgeTakesClaimedMessagesTooAndADeleteTellsWaitingReaders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ctx := context.Background()
		mustPut(t, s, news, text("1", "2")...)
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		if n, err := s.Purge(ctx, news); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		if errs, err := s.Settle(ctx, []Settlement{{Token: c[0].Token}}); err != nil || !errors.Is(errs[0], ErrStale) {
			t.Errorf("%v %v", errs, err)
		}
		told := make(chan error, 1)
		go func() {
			_, err := s.Claim(ctx, ClaimRequest{From: from(news), Wait: time.Hour})
			told <- err
		}()
		synctest.Wait()
		if err := s.DeleteQueue(ctx, news); err != nil {
			t.Fatal(err)
		}
		if err := <-told; !errors.Is(err, ErrNotFound) {
			t.Errorf("a waiting reader is told %v", err)
		}
		if got := must(s.Queues(t.Context())); len(got) != 0 {
			t.Errorf("queues %v", got)
		}
	})
}

func TestSubscriptionsFilterAndMayHaveColumns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		ctx := context.Background()
		events := Name{DefaultNamespace, "events"}
		rows, ja := Name{DefaultNamespace, "rows"}, Name{DefaultNamespace, "ja"}
		columns, err := message.ParseColumns([]string{"n int not null"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CreateQueue(ctx, ja, Definition{Topic: "events"}); !errors.Is(err, ErrNotFound) {
			t.Errorf("a subscription to no topic: %v", err)
		}
		if _, err := s.CreateTopic(ctx, events, nil); err != nil {
			t.Fatal(err)
		}
		for n, d := range map[Name]Definition{rows: {Topic: "events", Columns: columns},
			ja: {Topic: "events", Filter: "lang = 'ja'"}} {
			if _, err := s.CreateQueue(ctx, n, d); err != nil {
				t.Fatal(err)
			}
		}
		one := text(`{"n":1}`)
		one[0].Attributes.Set("lang", message.String("ja"))
		if _, err := s.Publish(ctx, events, append(one, text(`{"n":2}`)...)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Publish(ctx, events, text(`not json`)); !errors.Is(err, ErrMismatch) {
			t.Errorf("what a subscription cannot take is refused: %v", err)
		}
		if st, err := s.TopicStats(t.Context(), events); err != nil || len(st.Subscriptions) != 2 ||
			st.TotalPublish != 1 {
			t.Errorf("%+v %v", st, err)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(ja), Max: 9}); bodies(c) != `{"n":1}` {
			t.Errorf("ja has %q", bodies(c))
		}
		c := mustClaim(t, s, ClaimRequest{From: where(t, rows, "n > 1"), Max: 9})
		if len(c) != 1 || c[0].Message.Row[0] != message.Int(2) {
			t.Errorf("rows has %+v", c)
		}
		again := open(t, m.after(true))
		if st, _ := again.Stats(t.Context(), rows); st.Messages() != 2 {
			t.Errorf("after a restart rows has %d", st.Messages())
		}
	})
}

func TestAClaimIsBoundedInBytesButNeverToNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text("12345", "67890", "x", "y", "a very long one")...)
		for _, want := range []string{"12345", "67890 x", "y", "a very long one", ""} {
			if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 9, Bytes: 6}); bodies(c) != want {
				t.Errorf("claimed %q, want %q", bodies(c), want)
			}
		}
	})
}

func TestPeekPagesAndShowsWhereMessagesStand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ctx := context.Background()
		ms := text("claimed", "ready", "delayed")
		ms[2].NotBefore = time.Now().Add(time.Minute)
		mustPut(t, s, news, ms...)
		mustClaim(t, s, ClaimRequest{From: from(news)})
		var got []string
		for after := uint64(0); ; {
			ps, err := s.Peek(ctx, news, PeekRequest{After: after, Max: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(ps) == 0 {
				break
			}
			after = ps[0].Sequence
			got = append(got, fmt.Sprintf("%s: %s", ps[0].Message.Body, ps[0].State))
		}
		if want := []string{"claimed: claimed", "ready: ready", "delayed: delayed"}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
		if ps, _ := s.Peek(ctx, news, PeekRequest{Ready: true, NoBody: true}); len(ps) != 1 ||
			len(ps[0].Message.Body) != 0 {
			t.Errorf("%+v", ps)
		}
	})
}

func TestIdleSeesWhatIsReadyClaimedDelayedAndOnItsWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		e, err := condition.Parse("n = 1")
		if err != nil {
			t.Fatal(err)
		}
		idle := func(want bool) {
			t.Helper()
			if got := must(s.Idle(t.Context(), news, e)); got != want {
				t.Errorf("idle is %v", got)
			}
		}
		idle(true)
		other := text("x")
		other[0].Attributes.Set("n", message.Int(2))
		mustPut(t, s, news, other...)
		idle(true)
		m.hold(true)
		mine := text("y")
		mine[0].Attributes.Set("n", message.Int(1))
		var putting sync.WaitGroup
		putting.Go(func() { mustPut(t, s, news, mine...) })
		synctest.Wait()
		idle(false)
		m.hold(false)
		putting.Wait()
		idle(false)
		c := mustClaim(t, s, ClaimRequest{From: []From{{Queue: news, Where: e}}})
		idle(false)
		settle(t, s, Settlement{Token: c[0].Token, Kind: Back, Delay: time.Minute})
		idle(false)
		time.Sleep(time.Minute)
		c = mustClaim(t, s, ClaimRequest{From: []From{{Queue: news, Where: e}}})
		settle(t, s, Settlement{Token: c[0].Token})
		idle(true)
	})
}

// TestManyReadersAndWritersShareAQueue counts: every message is handed out once, to one reader, though forty work at
// once.
func TestManyReadersAndWritersShareAQueue(t *testing.T) {
	s, j, err := openFile(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	defer s.Close()
	const writers, each = 20, 100
	ctx := t.Context()
	var seen sync.Map
	var taken atomic.Int64
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if _, err := s.Put(ctx, news, text(fmt.Sprintf("%d/%d", w, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		all.Go(func() {
			for taken.Load() < writers*each {
				cs, err := s.Claim(ctx, ClaimRequest{From: from(news), Max: 3, Wait: 100 * time.Millisecond})
				if err != nil {
					t.Error(err)
					return
				}
				for _, c := range cs {
					if _, twice := seen.LoadOrStore(string(c.Message.Body), true); twice {
						t.Errorf("%s was handed out twice", c.Message.Body)
					}
					taken.Add(1)
					if errs, err := s.Settle(ctx, []Settlement{{Token: c.Token}}); err != nil || errs[0] != nil {
						t.Error(err, errs)
					}
				}
			}
		})
	}
	all.Wait()
	if st, _ := s.Stats(t.Context(), news); st.Messages() != 0 || st.TotalDone != writers*each {
		t.Errorf("%+v", st)
	}
}

func ExampleParseToken() {
	t := Token{Queue: 1, Sequence: 7, Serial: 2, Epoch: 3}
	back, err := ParseToken(t.String())
	fmt.Println(t, back == t, err)
	_, err = ParseToken("nonsense")
	fmt.Println(err)
	// Output:
	// 0000000100000000000000070000000200000003 true <nil>
	// not a claim token: "nonsense"
}

// TestDeduplicationIDsCountAgainstTheLimitOfBytes settles every message at once: only the ids stay, and when their
// window has ended there is room.
func TestDeduplicationIDsCountAgainstTheLimitOfBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory(), func(o *Options) { o.Limits.Bytes = 100_000 })
		put := func(i int) error {
			_, err := s.Put(t.Context(), news, []message.Message{{Dedup: fmt.Sprint(i)}})
			return err
		}
		n := 0
		for ; n < 10_000; n++ {
			if err := put(n); errors.Is(err, ErrQueueFull) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			settleOldest(t, s, news, 1)
		}
		if n == 10_000 || n < 100 {
			t.Errorf("%d ids are remembered within 100,000 bytes", n)
		}
		time.Sleep(DefaultDedupWindow)
		if err := put(n); err != nil {
			t.Errorf("when their window has ended: %v", err)
		}
	})
}

// TestAMarkHoldsForThePutsBehindItInItsGroup says within one group that nothing below an offset is coming, and sends it
// all the same.
func TestAMarkHoldsForThePutsBehindItInItsGroup(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ms := text("a", "b", "c")
		ms[0].Origin = message.Origin{Source: "file", Offset: 1}
		ms[1].Origin = message.Origin{Source: "file", Offset: 7, Mark: 5}
		ms[2].Origin = message.Origin{Source: "file", Offset: 4}
		if rs := mustPut(t, s, news, ms...); rs[0].Duplicate || rs[1].Duplicate || !rs[2].Duplicate {
			t.Errorf("%+v", rs)
		}
		if got := there(t, s, news); got != "a b" {
			t.Errorf("there are %q", got)
		}
	})
}
