package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// TestRuleATokenSettlesItsOwnClaimAndNoOther tries tokens that differ from the claim's in one field, and those of
// claims that are over.
func TestRuleATokenSettlesItsOwnClaimAndNoOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		other := Name{DefaultNamespace, "other"}
		mustPut(t, s, news, text("one", "two")...)
		mustPut(t, s, other, text("one")...)
		first := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Second})[0].Token
		time.Sleep(time.Second)
		again := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2, Lease: time.Hour})
		mustClaim(t, s, ClaimRequest{From: from(other), Lease: time.Hour})
		m = m.after(false)
		s = open(t, m) // a new epoch
		now := again[0].Token
		wrong := []Token{first, {}}
		for _, change := range []func(*Token){
			func(t *Token) { t.Queue++ }, func(t *Token) { t.Queue-- }, func(t *Token) { t.Sequence++ },
			func(t *Token) { t.Sequence-- },
			func(t *Token) { t.Serial++ }, func(t *Token) { t.Serial-- }, func(t *Token) { t.Epoch++ },
			func(t *Token) { t.Epoch-- },
		} {
			w := now
			change(&w)
			wrong = append(wrong, w)
		}
		before := portrayed(s)
		for _, w := range wrong {
			if again, err := ParseToken(w.String()); err != nil || again != w {
				t.Errorf("token %+v is written as %s, which reads as %+v, %v", w, w, again, err)
			}
			for _, kind := range []SettleKind{Done, Back, Dead} {
				errs, err := s.Settle(ctx, []Settlement{{Token: w, Kind: kind}})
				if err != nil || !errors.Is(errs[0], ErrStale) {
					t.Errorf("token %+v, of which %+v is valid, settled as %d: %v %v", w, now, kind, errs, err)
				}
			}
			if errs, err := s.Extend(ctx, []Token{w}, time.Minute); err != nil || !errors.Is(errs[0], ErrStale) {
				t.Errorf("token %+v extended: %v %v", w, errs, err)
			}
		}
		if after := portrayed(s); after != before {
			t.Errorf("stale tokens changed\n%s\nto\n%s", before, after)
		}
		settle(t, s, Settlement{Token: now}, Settlement{Token: again[1].Token})
		if errs, err := s.Settle(ctx, []Settlement{{Token: now}}); err != nil || !errors.Is(errs[0], ErrStale) {
			t.Errorf("settled twice: %v %v", errs, err)
		}
	})
}

// TestRuleAClaimThatIsGivenUpWhileItBecomesDurableIsGivenBack: nobody has seen these messages, so the next reader gets
// them, at their first attempt.
func TestRuleAClaimThatIsGivenUpWhileItBecomesDurableIsGivenBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{ExactlyOnce: true}); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, text("one", "two", "three")...)
		m.hold(true)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error, 1)
		go func() {
			_, err := s.Claim(ctx, ClaimRequest{From: from(news), Max: 3, Lease: time.Hour})
			got <- err
		}()
		synctest.Wait() // it waits for the disk
		cancel()
		synctest.Wait()
		m.hold(false)
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		cs := mustClaim(t, s, ClaimRequest{From: from(news), Max: 3, Lease: time.Hour})
		if len(cs) != 3 {
			t.Errorf("%d of three are there again", len(cs))
		}
		for i, c := range cs {
			if want := []string{"one", "two", "three"}[i]; string(c.Body()) != want || c.Attempt != 1 {
				t.Errorf("%s comes as attempt %d, not %s as the first", c.Body(), c.Attempt, want)
			}
		}
	})
}

// TestRuleAClaimIsWrittenBeforeItIsHandedOverAndWaitsForNoSync: with a disk that answers no sync a claim is answered,
// and its record is there by then.
func TestRuleAClaimIsWrittenBeforeItIsHandedOverAndWaitsForNoSync(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("one", "two")...)
		m.hold(true)
		check := func(c []Claim) {
			t.Helper()
			last := m.last().Records
			_, e, err := decodeEvent(last[len(last)-1].Head)
			w, ok := e.(*claimed)
			if err != nil || !ok || len(c) != 1 || w.seq != c[0].Sequence || int(w.attempt) != c[0].Attempt ||
				w.serial != c[0].Token.Serial || w.epoch != c[0].Token.Epoch {
				t.Errorf("handed over %+v, the last record is %+v, %v", c, e, err)
			}
			if m.Synced() >= m.End() {
				t.Error("the claim waited for a sync")
			}
		}
		check(mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Minute}))
		check(mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour}))
		got := make(chan []Claim, 1)
		go func() { // one that waits, until the first lease ends
			got <- mustClaim(t, s, ClaimRequest{From: from(news), Wait: time.Hour, Lease: time.Hour})
		}()
		c := <-got
		synctest.Wait()
		check(c)
		m.hold(false)
	})
}

// TestRuleAClaimThatTheDiskHasNoRoomForIsGivenBack: nobody was told of it, and it did not count. Extensions say that
// they are not kept.
func TestRuleAClaimThatTheDiskHasNoRoomForIsGivenBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("held", "x")...)
		held := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour})
		m.FailFlush(journal.ErrFull)
		waiting := make(chan error, 1)
		for range 3 {
			if c, err := s.Claim(ctx, ClaimRequest{From: from(news)}); !errors.Is(err, ErrNoRoom) || len(c) != 0 {
				t.Errorf("on a full disk %q is claimed, %v", bodies(c), err)
			}
		}
		go func() {
			_, err := s.Claim(ctx, ClaimRequest{From: from(Name{DefaultNamespace, "other"}), Wait: time.Hour})
			waiting <- err
		}()
		synctest.Wait()
		mustPut(t, s, Name{DefaultNamespace, "other"}, text("y")...)
		if err := <-waiting; !errors.Is(err, ErrNoRoom) {
			t.Errorf("who waited is told %v", err)
		}
		if _, err := s.Extend(ctx, []Token{held[0].Token}, 2*time.Hour); !errors.Is(err, ErrNoRoom) {
			t.Errorf("an extension is answered %v", err)
		}
		m.FailFlush(nil)
		for _, n := range []Name{news, {DefaultNamespace, "other"}} {
			if c := mustClaim(t, s, ClaimRequest{From: from(n), Lease: time.Hour}); len(c) != 1 || c[0].Attempt != 1 {
				t.Errorf("with room again %+v is claimed", c)
			}
		}
	})
}

// TestRuleAttemptsAreExactAfterAKillAndNeverTooHighAfterAPowerCut hands a message out again and again, and at each
// moment looks at every beginning of the log that a crash may leave.
func TestRuleAttemptsAreExactAfterAKillAndNeverTooHighAfterAPowerCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		low := false
		for handed := 1; handed <= 8; handed++ {
			c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Second})
			if len(c) != 1 || c[0].Attempt != handed {
				t.Fatalf("hand-out %d: %+v", handed, c)
			}
			if handed == 4 {
				// waits for a sync: nothing before it can be lost
				settle(t, s, Settlement{Token: c[0].Token, Kind: Back})
			}
			synced, all := m.Synced(), m.End()
			for _, g := range m.Groups() {
				cut := g.Position
				if cut < synced {
					continue
				}
				j := m.after(false)
				j.Cut(cut)
				st, err := fold(ctx, j)
				if err != nil {
					t.Fatal(err)
				}
				j.Close()
				_, e := st.find(st.queueNames[news].id, 1)
				switch n := int(e.attempts()); {
				case n > handed:
					t.Errorf("after hand-out %d a power cut leaves %d attempts", handed, n)
				case n != handed && cut == all:
					t.Errorf("after hand-out %d a kill leaves %d attempts", handed, n)
				case n < handed && handed > 4 && n < 4:
					t.Errorf("%d attempts are left of %d, of which 4 were durable", n, handed)
				case n < handed:
					low = true
				}
			}
			time.Sleep(time.Second)
		}
		if !low {
			t.Error("no power cut lost a claim: the test looks at nothing")
		}
	})
}

// TestRuleWhatIsOutOfAttemptsGoesThoughTheClaimThatMetItWasRefused lowers the bound while a message waits. A claim that
// the journal does not take hands out nothing and counts for nothing; the message is out of attempts all the same. It
// is nowhere else before that is written, and once it is, every crash leaves it there.
func TestRuleWhatIsOutOfAttemptsGoesThoughTheClaimThatMetItWasRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("spent", "fresh")...)
		settle(t, s, Settlement{Token: mustClaim(t, s, ClaimRequest{From: from(news)})[0].Token, Kind: Back})
		if err := s.AlterQueue(ctx, news, Definition{MaxAttempts: 1}); err != nil {
			t.Fatal(err)
		}
		refuse := func(err error) {
			m.Break(err)
		}
		refuse(journal.ErrRefused)
		if c, err := s.Claim(ctx, ClaimRequest{From: from(news), Max: 2}); !errors.Is(err, journal.ErrRefused) ||
			len(c) != 0 {
			t.Errorf("claimed %q, %v", bodies(c), err)
		}
		time.Sleep(time.Minute)
		dead := Name{DefaultNamespace, "news_dead"}
		if qs := must(s.Queues(t.Context())); len(qs) != 1 {
			t.Errorf("with nothing written there are queues %v", qs)
		}
		if ps, err := s.Peek(ctx, news, PeekRequest{}); err != nil || len(ps) != 2 || ps[0].State != Claimed ||
			ps[1].State != Ready || ps[1].Attempts != 0 {
			t.Errorf("with nothing written there is %+v, %v", ps, err)
		}
		refuse(nil)
		time.Sleep(2 * retryWork)
		synctest.Wait()
		for _, s := range []*Store{s, open(t, m.after(true)), open(t, m.after(false))} {
			ps, err := s.Peek(ctx, dead, PeekRequest{})
			if err != nil || len(ps) != 1 || string(ps[0].Message.Body) != "spent" ||
				ps[0].Message.Death.Attempts != 1 {
				t.Errorf("dead letters: %+v, %v", ps, err)
			}
			if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2}); bodies(c) != "fresh" || c[0].Attempt != 1 {
				t.Errorf("claimed %+v", c)
			}
		}
	})
}
