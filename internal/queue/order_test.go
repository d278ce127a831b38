package queue

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// The tests here are of things that overtake one another: what is on its way to the journal, and what time or somebody
// else does meanwhile.

// whileHeld runs calls one after the other up to the journal, where they wait; what meanwhile does happens before any
// of them is durable.
func whileHeld(t *testing.T, m *memory, meanwhile func(), calls ...func() error) {
	t.Helper()
	m.hold(true)
	var wg sync.WaitGroup
	for _, call := range calls {
		wg.Go(func() {
			if err := call(); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Millisecond)
	}
	meanwhile()
	m.hold(false)
	wg.Wait()
	time.Sleep(time.Second)
}

func TestAKeyIsHeldAcrossARestartFromAWrittenPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		ms := countedUp(0, 300)
		for i := range ms {
			ms[i].Key = "k"
		}
		mustPut(t, s, news, ms...)
		c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Hour})[0]
		checkpointNow(t, s)
		again := open(t, m.after(false))
		if got := mustClaim(t, again, ClaimRequest{From: from(news)}); len(got) != 0 {
			t.Errorf("while the key is held another reader gets %s", bodies(got))
		}
		if errs, err := again.Settle(t.Context(), []Settlement{{Token: c.Token}}); err != nil || errs[0] != nil {
			t.Fatal(errs, err)
		}
		if got := mustClaim(t, again, ClaimRequest{From: from(news)}); bodies(got) != "1" {
			t.Errorf("then the next is %q", bodies(got))
		}
	})
}

func TestASnapshotHoldsWhatIsPutBeforeItIsDurable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("a")...)
		sn := Name{DefaultNamespace, "sn"}
		whileHeld(t, m, func() {},
			func() error { _, err := s.TakeSnapshot(t.Context(), sn, news, SnapshotOptions{}); return err },
			func() error { _, err := s.Put(t.Context(), news, text("b")); return err })
		mustSeek(t, s, news, SeekTo{Snapshot: sn})
		if got := there(t, s, news); got != "a b" {
			t.Errorf("after a seek to the snapshot there are %q", got)
		}
	})
}

func TestWhatBecomesPastIsDecidedByTheTimeOfItsRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{History: time.Hour}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		mustPut(t, s, news, text("a")...)
		c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: 3 * time.Hour})[0]
		time.Sleep(time.Hour - time.Second)
		whileHeld(t, m, func() {
			time.Sleep(2 * time.Second)
			s.mu.Lock()
			s.catchUp()
			s.mu.Unlock()
		},
			func() error { _, err := s.Settle(t.Context(), []Settlement{{Token: c.Token}}); return err },
			func() error { _, err := s.Seek(t.Context(), news, SeekTo{Time: began}); return err })
		now, again := there(t, s, news), there(t, open(t, m.after(false)), news)
		if now != again {
			t.Errorf("there are %q, and after a restart %q", now, again)
		}
	})
}

func TestNothingIsForgottenWhileTheHistoryIsChanged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{History: time.Hour}); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, text("a")...)
		settleOldest(t, s, news, 1)
		time.Sleep(time.Hour - time.Second)
		whileHeld(t, m, func() {
			time.Sleep(2 * time.Second)
			s.mu.Lock()
			s.catchUp()
			s.mu.Unlock()
		}, func() error { return s.AlterQueue(t.Context(), news, Definition{History: 24 * time.Hour}) })
		again := open(t, m.after(false))
		if now, then := s.state.queueNames[news].all.past, again.state.queueNames[news].all.past; now != 1 ||
			then != 1 {
			t.Errorf("%d messages are past, and after a restart %d", now, then)
		}
	})
}

func TestAlarmsOfPagesThatAreGoneDoNotPileUp(t *testing.T) {
	withoutDetector(t)
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		if _, err := s.CreateQueue(t.Context(), news, Definition{Retention: 30 * 24 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		o := s.NewOwner("reader")
		defer o.Close()
		for range 1500 {
			mustPut(t, s, news, countedUp(0, pageSize)...)
			var ss []Settlement
			for _, c := range mustClaim(t, s, ClaimRequest{From: from(news), Max: pageSize, Owner: o}) {
				ss = append(ss, Settlement{Token: c.Token})
			}
			settle(t, s, ss...)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := s.state.alarms.Len(); n > 1200 {
			t.Errorf("%d alarms are set, %d messages wait", n, s.state.messages)
		}
	})
}

func TestLargeHeadsStayInTheCheckpointAndDoNotStopIt(t *testing.T) {
	j, err := file.Open(t.Context(), file.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s, err := Open(t.Context(), Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ms := countedUp(0, 3*pageSize)
	for i := range ms {
		ms[i].Key = strings.Repeat("k", 20<<10) + string(ms[i].Body)
	}
	for i := range 3 {
		mustPut(t, s, news, ms[i*pageSize:(i+1)*pageSize]...)
	}
	for range 2 {
		checkpointNow(t, s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.state.queueNames[news].all.pagesFrom(0) {
		if p.record.Position != 0 {
			t.Errorf("page %d, of %d bytes, was written", p.number, p.bytes())
		}
	}
}

func TestAMessageThatSeeksBroughtBackIsNotBuriedUnderItsReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{History: time.Hour, MaxAttempts: 1}); err != nil {
			t.Fatal(err)
		}
		full := func(on bool) {
			m.Fill(on)
		}
		began := time.Now()
		mustPut(t, s, news, text("a")...)
		mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Second})
		full(true)
		time.Sleep(5 * time.Second) // out of attempts, and the dead letter finds no room
		mustSeek(t, s, news, SeekTo{Time: time.Now()})
		mustSeek(t, s, news, SeekTo{Time: began})
		c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Minute})[0]
		full(false)
		time.Sleep(5 * time.Second)
		if errs, err := s.Settle(t.Context(), []Settlement{{Token: c.Token}}); err != nil || errs[0] != nil {
			t.Errorf("the reader settles it: %v, %v", errs, err)
		}
		if st, err := s.Stats(t.Context(), Name{DefaultNamespace, "news_dead"}); err == nil && st.TotalPut > 0 {
			t.Errorf("%d dead letters were made of it", st.TotalPut)
		}
	})
}
