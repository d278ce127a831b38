package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// keyed makes messages of one key.
func keyed(key string, bodies ...string) []message.Message {
	ms := text(bodies...)
	for i := range ms {
		ms[i].Key = key
	}
	return ms
}

func TestATokenThatWentBackUncountedNeverFitsTheNextClaim(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, keyed("k", "1", "2")...)
		first := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2})
		settle(t, s, Settlement{Token: first[0].Token, Kind: Back})
		again := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2})
		if bodies(again) != "1 2" || again[1].Attempt != 1 {
			t.Fatalf("claimed %v", again)
		}
		errs, err := s.Settle(context.Background(), []Settlement{{Token: first[1].Token}})
		if err != nil || !errors.Is(errs[0], ErrStale) {
			t.Errorf("a late reader settled somebody else's claim: %v %v", errs, err)
		}
		settle(t, s, Settlement{Token: again[1].Token})
	})
}

func TestLeasesThatEndedTogetherAreCountedTheSameAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, keyed("k", "1", "2")...)
		mustClaim(t, s, ClaimRequest{From: from(news), Max: 2, Lease: 5 * time.Second})
		time.Sleep(6 * time.Second)
		settle(t, s, Settlement{Token: mustClaim(t, s, ClaimRequest{From: from(news)})[0].Token})
		for _, s := range []*Store{s, open(t, m.after(false))} {
			p, err := s.Peek(context.Background(), news, PeekRequest{})
			if err != nil || len(p) != 1 || p[0].Attempts != 0 || p[0].State != Ready {
				t.Errorf("%+v %v", p, err)
			}
		}
	})
}

func TestADeadLetterOutlivesTheDeletionOfItsQueueOnTheWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		dead := Name{DefaultNamespace, "news_dead"}
		if _, err := s.CreateQueue(t.Context(), dead, Definition{}); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, text("x")...)
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		m.hold(true)
		deleted := make(chan error, 1)
		go func() { deleted <- s.DeleteQueue(context.Background(), dead) }()
		synctest.Wait()
		settled := make(chan error, 1)
		go func() {
			_, err := s.Settle(context.Background(), []Settlement{{Token: c[0].Token, Kind: Dead, Reason: "no"}})
			settled <- err
		}()
		synctest.Wait()
		m.hold(false)
		if err := errors.Join(<-deleted, <-settled); err != nil {
			t.Fatal(err)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(dead)}); bodies(c) != "x" {
			t.Errorf("the dead letter is lost: %v", c)
		}
	})
}

func TestAReplayedMessageIsNotTakenForADuplicate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		other := Name{DefaultNamespace, "other"}
		m := message.Message{Body: []byte("a"), Dedup: "d"}
		mustPut(t, s, news, m)
		m.Body = []byte("b")
		mustPut(t, s, other, m)
		if r, err := s.Replay(t.Context(), news, ReplayRequest{To: other}); err != nil || r.Moved != 1 {
			t.Fatal(r, err)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(other), Max: 9}); bodies(c) != "b a" {
			t.Errorf("there is only %q", bodies(c))
		}
	})
}

func TestAReplayBringsNothingBackThatWasPurgedMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		other := Name{DefaultNamespace, "other"}
		mustPut(t, s, news, text("x")...)
		mustPut(t, s, other, text("y")...)
		m.BeforeRead(func() {
			if _, err := s.Purge(context.Background(), news); err != nil {
				t.Error(err)
			}
		})
		r, err := s.Replay(t.Context(), news, ReplayRequest{To: other})
		if err != nil || r.Moved != 0 {
			t.Error(r, err)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(other), Max: 9}); bodies(c) != "y" {
			t.Errorf("claimed %q", bodies(c))
		}
	})
}

func TestAReplayThatIsGivenUpFinishesItsGroupAndCountsIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		other := Name{DefaultNamespace, "other"}
		for i := range 2 * movedAtOnce {
			mustPut(t, s, news, text(fmt.Sprint(i))...)
		}
		mustPut(t, s, other, text("y")...)
		m.hold(true)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		type outcome struct {
			Replayed
			err error
		}
		ended := make(chan outcome, 1)
		go func() {
			r, err := s.Replay(ctx, news, ReplayRequest{To: other})
			ended <- outcome{r, err}
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if c := mustClaim(t, s, ClaimRequest{From: from(news)}); len(c) != 1 ||
			string(c[0].Message.Body) != fmt.Sprint(movedAtOnce) {
			t.Errorf("%q is handed out while %d messages before it move", bodies(c), movedAtOnce)
		}
		m.hold(false)
		if o := <-ended; !errors.Is(o.err, context.Canceled) || o.Moved != movedAtOnce {
			t.Error(o)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(other), Max: 999}); len(c) != 1+movedAtOnce {
			t.Errorf("claimed %q", bodies(c))
		}
	})
}

func TestAReaderThatWaitsForAnOwnerEndsWithIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text("x")...)
		settle(t, s, Settlement{Token: mustClaim(t, s, ClaimRequest{From: from(news)})[0].Token})
		o := s.NewOwner("connection")
		ended := make(chan error, 1)
		go func() {
			_, err := s.Claim(context.Background(), ClaimRequest{From: from(news), Owner: o, Wait: time.Hour})
			ended <- err
		}()
		synctest.Wait()
		o.Close()
		mustPut(t, s, news, text("y")...)
		if c := mustClaim(t, s, ClaimRequest{From: from(news)}); bodies(c) != "y" {
			t.Errorf("the message went to an owner that is closed: %v", c)
		}
		if err := <-ended; !errors.Is(err, ErrStale) {
			t.Error(err)
		}
	})
}

func TestAnOwnerThatClosesDuringACheckpointTakesBackOnlyItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		o := s.NewOwner("slow")
		mustClaim(t, s, ClaimRequest{From: from(news), Owner: o, Lease: 5 * time.Second})
		served := make(chan []Claim, 1)
		go func() {
			c, _ := s.Claim(context.Background(), ClaimRequest{From: from(news), Wait: time.Hour, Lease: time.Hour})
			served <- c
		}()
		synctest.Wait()
		m.hold(true)
		go func() { _, _ = s.Put(context.Background(), Name{DefaultNamespace, "news2"}, text("held")) }()
		synctest.Wait()
		checked := make(chan error, 1)
		go func() { checked <- s.checkpoint(context.Background()) }()
		synctest.Wait()
		closed := make(chan struct{})
		go func() { o.Close(); close(closed) }()
		synctest.Wait()
		time.Sleep(6 * time.Second)
		if _, err := s.Stats(t.Context(), news); err != nil {
			t.Fatal(err)
		}
		m.hold(false)
		<-closed
		if err := <-checked; err != nil {
			t.Fatal(err)
		}
		settle(t, s, Settlement{Token: (<-served)[0].Token})
	})
}

func TestAnAlterationThatIsGivenUpLeavesTheCheckpointItsPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{History: time.Hour}); err != nil {
			t.Fatal(err)
		}
		results := make(chan error, 3)
		begin := func(act func() error) {
			go func() { results <- act() }()
			synctest.Wait()
		}
		m.hold(true)
		begin(func() error { _, err := s.Seek(context.Background(), news, SeekTo{Time: time.Now()}); return err })
		ctx, giveUp := context.WithCancel(t.Context())
		altered := make(chan error, 1)
		go func() { altered <- s.AlterQueue(ctx, news, Definition{History: 2 * time.Hour}) }() // waits for the seek
		synctest.Wait()
		begin(func() error { return s.checkpoint(context.Background()) })
		giveUp()
		if err := <-altered; !errors.Is(err, context.Canceled) {
			t.Errorf("an alteration that was given up answers %v", err)
		}
		groups := func() int { return len(m.Groups()) }
		before := groups()
		begin(func() error { _, err := s.Put(context.Background(), news, text("later")); return err })
		if n := groups(); n != before {
			t.Errorf("%d groups are begun while a checkpoint waits for those under way", n-before)
		}
		m.hold(false)
		for range cap(results) {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAKeyOnItsWayBackIsNotTakenFromFurther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, keyed("k", "1", "2")...)
		o := s.NewOwner("reader")
		first := mustClaim(t, s, ClaimRequest{From: from(news), Owner: o})
		m.hold(true)
		settled := make(chan error, 1)
		go func() {
			_, err := s.Settle(context.Background(), []Settlement{{Token: first[0].Token, Kind: Back}})
			settled <- err
		}()
		synctest.Wait()
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Owner: o}); len(c) != 0 {
			t.Errorf("%q is handed out while the one before it goes back", bodies(c))
		}
		m.hold(false)
		if err := <-settled; err != nil {
			t.Fatal(err)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Owner: o, Max: 9}); bodies(c) != "1 2" {
			t.Errorf("claimed %q", bodies(c))
		}
	})
}

func TestTheHolderOfAKeyIsServedWhenWhatStoodBetweenExpires(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		ms := keyed("k", "1", "2", "3")
		ms[1].Expires = time.Now().Add(5 * time.Second)
		mustPut(t, s, news, ms...)
		o := s.NewOwner("reader")
		mustClaim(t, s, ClaimRequest{From: from(news), Owner: o, Max: 1})
		c := mustClaim(t, s, ClaimRequest{From: from(news), Owner: o})
		settle(t, s, Settlement{Token: c[0].Token, Kind: Back, Delay: time.Hour})
		got := mustClaim(t, s, ClaimRequest{From: from(news), Owner: o, Wait: time.Minute})
		if bodies(got) != "3" {
			t.Errorf("claimed %q", bodies(got))
		}
	})
}

func TestABoundThatAJournalCannotKeepIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{MaxAttempts: math.MaxInt64}); !errors.Is(err,
			ErrDefinition) {
			t.Error(err)
		}
		open(t, m.after(false))
	})
}

func TestTheFirstInstantOf1970IsKept(t *testing.T) {
	r := &reader{b: putValue(nil, message.Time(time.Unix(0, 0)))}
	if v := r.value(); v != message.Time(time.Unix(0, 0)) {
		t.Errorf("it reads as %v", v.AsTime())
	}
}

func TestPurgesAtTheSameTimeCountEachMessageOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("1", "2", "3")...)
		m.hold(true)
		counts := make(chan int, 2)
		for range 2 {
			go func() {
				n, err := s.Purge(context.Background(), news)
				if err != nil {
					t.Error(err)
				}
				counts <- n
			}()
		}
		synctest.Wait()
		m.hold(false)
		if n := <-counts + <-counts; n != 3 {
			t.Errorf("%d of 3 were purged", n)
		}
	})
}

func TestADuplicateIsNoneTooManyForAFullQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{MaxMessages: 1}); err != nil {
			t.Fatal(err)
		}
		m.hold(true)
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := s.Put(context.Background(), news, []message.Message{{Dedup: "d"}})
				errs <- err
			}()
		}
		synctest.Wait()
		m.hold(false)
		if err := errors.Join(<-errs, <-errs); err != nil {
			t.Error(err)
		}
	})
}

func TestANoteIsACopy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		v := []byte("before")
		if err := s.SetNotes(t.Context(), Note{"room", "key", v}); err != nil {
			t.Fatal(err)
		}
		copy(v, "after.")
		got, _, _ := s.Note(t.Context(), "room", "key")
		if string(got) != "before" {
			t.Errorf("the note became %q", got)
		}
		copy(got, "after.")
		if got, _, _ := s.Note(t.Context(), "room", "key"); string(got) != "before" {
			t.Errorf("the note became %q", got)
		}
	})
}

func TestAPublishWaitsForTheNewDefinitionOfASubscription(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		topic := Name{DefaultNamespace, "topic"}
		if _, err := s.CreateTopic(t.Context(), topic, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.CreateQueue(t.Context(), news, Definition{Topic: "default/topic"}); err != nil {
			t.Fatal(err)
		}
		columns, err := message.ParseColumns([]string{"a int"})
		if err != nil {
			t.Fatal(err)
		}
		m.hold(true)
		errs := make(chan error, 2)
		go func() { errs <- s.AlterQueue(context.Background(), news, Definition{Columns: columns}) }()
		synctest.Wait()
		go func() {
			_, err := s.Publish(context.Background(), topic, text(`{"a": 7}`))
			errs <- err
		}()
		synctest.Wait()
		m.hold(false)
		if err := errors.Join(<-errs, <-errs); err != nil {
			t.Fatal(err)
		}
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		if len(c) != 1 || len(c[0].Message.Row) != 1 {
			t.Errorf("claimed %+v", c)
		}
	})
}

func TestTheLongestNameHasADeadLetterQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		n := Name{DefaultNamespace, strings.Repeat("飛", 85)}
		mustPut(t, s, n, text("x")...)
		c := mustClaim(t, s, ClaimRequest{From: from(n)})
		settle(t, s, Settlement{Token: c[0].Token, Kind: Dead, Reason: "no"})
		if len(must(s.Queues(t.Context()))) != 2 {
			t.Error(s.Queues(t.Context()))
		}
	})
}

func TestDeadLettersOfADeletedQueueMakeNoQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{MaxAttempts: 1}); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, text("x")...)
		mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Second})
		s.mu.Lock()
		q := s.state.queueNames[news]
		e, _ := q.all.Get(1)
		d := doomed{q, e, e.size()}
		s.mu.Unlock()
		if err := s.DeleteQueue(t.Context(), news); err != nil {
			t.Fatal(err)
		}
		if again := s.bury(t.Context(), []doomed{d}); len(again) != 0 {
			t.Error(again)
		}
		if len(must(s.Queues(t.Context()))) != 0 {
			t.Error(s.Queues(t.Context()))
		}
	})
}

func TestManyDeadLettersLeaveTogetherAndInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{MaxAttempts: 1}); err != nil {
			t.Fatal(err)
		}
		const n = 250
		mustPut(t, s, news, make([]message.Message, n)...)
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: n, Lease: time.Second}); len(c) != n {
			t.Fatalf("claimed %d", len(c))
		}
		before := s.JournalStats().Groups
		time.Sleep(2 * time.Second)
		synctest.Wait()
		dead := Name{DefaultNamespace, "news_dead"}
		p, err := s.Peek(t.Context(), dead, PeekRequest{Max: n + 1})
		if err != nil || len(p) != n {
			t.Fatalf("%d dead letters: %v", len(p), err)
		}
		for i := 1; i < n; i++ {
			if p[i].Message.Death.Attempts != 1 || string(p[i-1].Message.ID[:]) > string(p[i].Message.ID[:]) {
				t.Fatalf("dead letter %d: %+v", i, p[i].Message)
			}
		}
		if groups := s.JournalStats().Groups - before; groups > 10 {
			t.Errorf("%d groups were written for %d dead letters", groups, n)
		}
	})
}

func TestAReasonIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text("x")...)
		c := mustClaim(t, s, ClaimRequest{From: from(news)})
		settle(t, s, Settlement{Token: c[0].Token, Kind: Dead, Reason: strings.Repeat("飛", 1<<20)})
		d := mustClaim(t, s, ClaimRequest{From: from(Name{DefaultNamespace, "news_dead"})})
		if reason := d[0].Message.Death.Reason; len(reason) > maxReason || strings.Trim(reason, "飛") != "" {
			t.Errorf("the reason has %d bytes", len(reason))
		}
	})
}

func TestWhatAnOwnerCouldNotSettleGoesBackWhenItIsGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("x")...)
		o := s.NewOwner("connection")
		c := mustClaim(t, s, ClaimRequest{From: from(news), Owner: o})
		refuse := func(on bool) {
			m.Refuse(on)
		}
		m.hold(true)
		refuse(true)
		settled := make(chan error, 1)
		go func() {
			_, err := s.Settle(context.Background(), []Settlement{{Token: c[0].Token}})
			settled <- err
		}()
		synctest.Wait()
		o.Close()
		refuse(false)
		m.hold(false)
		if err := <-settled; !errors.Is(err, journal.ErrRefused) {
			t.Fatal(err)
		}
		for _, s := range []*Store{s, open(t, m.after(false))} {
			if c := mustClaim(t, s, ClaimRequest{From: from(news)}); bodies(c) != "x" || c[0].Attempt != 2 {
				t.Errorf("claimed %v", c)
			}
		}
	})
}
