package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// stepped is a clock that somebody sets.
type stepped struct{ by atomic.Int64 }

func (c *stepped) now() time.Time       { return time.Now().Add(time.Duration(c.by.Load())) }
func (c *stepped) step(d time.Duration) { c.by.Add(int64(d)) }

// journaled are the times of all records, in the order of the log.
func journaled(t *testing.T, m *memory) (times []int64) {
	t.Helper()
	for _, g := range m.Groups() {
		for _, r := range g.Records {
			at, _, err := decodeEvent(r.Head)
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, at)
		}
	}
	return times
}

// TestRuleJournaledTimeNeverRunsBackwards sets the clock forward and back, by little and by much, also while the
// process is down.
func TestRuleJournaledTimeNeverRunsBackwards(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		var clock stepped
		m := newMemory()
		withClock := func(o *Options) { o.Clock = clock.now }
		s := open(t, m, withClock)
		if _, err := s.CreateTopic(ctx, Name{DefaultNamespace, "t"}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.CreateQueue(ctx, news, Definition{Topic: "t"}); err != nil {
			t.Fatal(err)
		}
		work := func(s *Store) {
			t.Helper()
			if _, err := s.Publish(ctx, Name{DefaultNamespace, "t"}, text("x")); err != nil {
				t.Fatal(err)
			}
			c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Minute})
			if len(c) != 1 {
				t.Fatalf("claimed %d", len(c))
			}
			if errs, err := s.Extend(ctx, []Token{c[0].Token}, time.Minute); err != nil || errs[0] != nil {
				t.Fatal(errs, err)
			}
			settle(t, s, Settlement{Token: c[0].Token, Kind: Back})
			time.Sleep(time.Second)
		}
		for _, by := range []time.Duration{0, time.Hour, -2 * time.Hour, time.Millisecond, -24 * 365 * time.Hour,
			24 * time.Hour} {
			clock.step(by)
			work(s)
		}
		clock.step(-1000 * time.Hour)
		m = m.after(false)
		s = open(t, m, withClock)
		work(s)
		times := journaled(t, m)
		for i := range times[1:] {
			if times[i+1] < times[i] {
				t.Errorf("record %d is of %v, the one before of %v", i+1, timeOf(times[i+1]), timeOf(times[i]))
			}
		}
		ps, err := s.Peek(ctx, news, PeekRequest{})
		if err != nil || len(ps) != 7 {
			t.Fatal(len(ps), err)
		}
		for i := range ps[1:] {
			if ps[i+1].Message.Time.Before(ps[i].Message.Time) {
				t.Errorf("message %d was published at %v, the one before at %v", i+2, ps[i+1].Message.Time,
					ps[i].Message.Time)
			}
		}
	})
}

// TestRuleExpiryFollowsJournaledTime: what time has made due stays so when the clock is set back, and nothing is due
// before journaled time says so.
func TestRuleExpiryFollowsJournaledTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		at := time.Now()
		var clock atomic.Pointer[time.Time]
		clock.Store(&at)
		set := func(d time.Duration) {
			now := at.Add(d)
			clock.Store(&now)
		}
		s := open(t, newMemory(), func(o *Options) { o.Clock = func() time.Time { return *clock.Load() } })
		mustPut(t, s, news, message.Message{Body: []byte("leased")},
			message.Message{Body: []byte("short"), Expires: at.Add(time.Minute)},
			message.Message{Body: []byte("sleeper"), NotBefore: at.Add(time.Minute)})
		c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Minute})
		shows := func(want Stats) {
			t.Helper()
			synctest.Wait()
			st, err := s.Stats(t.Context(), news)
			if err != nil || st.Ready != want.Ready || st.Delayed != want.Delayed || st.Claimed != want.Claimed {
				t.Fatalf("%d ready, %d delayed, %d claimed, %v; want %d, %d, %d", st.Ready, st.Delayed, st.Claimed, err,
					want.Ready, want.Delayed, want.Claimed)
			}
		}
		time.Sleep(time.Hour) // while the clock stands
		shows(Stats{Ready: 1, Delayed: 1, Claimed: 1})
		set(-time.Hour)
		shows(Stats{Ready: 1, Delayed: 1, Claimed: 1})
		set(time.Minute)
		over := func(when string) {
			t.Helper()
			if errs, err := s.Settle(ctx, []Settlement{{Token: c[0].Token}}); err != nil ||
				!errors.Is(errs[0], ErrStale) {
				t.Errorf("a claim whose lease has ended is settled %s: %v %v", when, errs, err)
			}
		}
		over("before anybody has looked")
		if _, err := s.Stats(t.Context(), news); err != nil { // looks, and what has expired leaves
			t.Fatal(err)
		}
		shows(Stats{Ready: 2})
		set(-time.Hour)
		shows(Stats{Ready: 2})
		over("after the clock was set back")
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 9}); bodies(c) != "leased sleeper" {
			t.Errorf("claimed %q", bodies(c))
		}
	})
}

// TestRuleTheFoldReadsNoClock folds one journal at two times, years apart.
func TestRuleTheFoldReadsNoClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		m := newMemory()
		s := open(t, m)
		in := func(d time.Duration) time.Time { return time.Now().Add(d) }
		mustPut(t, s, news, message.Message{Dedup: "d"}, message.Message{Expires: in(time.Minute)},
			message.Message{NotBefore: in(time.Minute)}, message.Message{Key: "k"})
		mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Minute})
		if err := s.checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, message.Message{Dedup: "e", Expires: in(time.Second)},
			message.Message{NotBefore: in(time.Second)})
		mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Second})
		m = m.after(false)
		defer m.Close()
		if err := s.Close(); err != nil { // its own work would take long in twenty years
			t.Fatal(err)
		}
		for _, checkpoints := range []bool{true, false} {
			j := m.after(false)
			defer j.Close()
			if !checkpoints {
				j.ForgetCheckpoints()
			}
			var tells []string
			for range 2 {
				s, err := fold(ctx, j)
				if err != nil {
					t.Fatal(err)
				}
				tells = append(tells, timeOf(s.now).String()+"\n"+portrait(s))
				time.Sleep(20 * 365 * 24 * time.Hour)
			}
			if tells[0] != tells[1] {
				t.Errorf("the fold tells\n%s\nand twenty years later\n%s", tells[0], tells[1])
			}
		}
	})
}
