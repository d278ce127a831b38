package queue

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// machine has a wall clock that somebody sets and a monotonic one that nobody does, and hears what the store says of
// them.
type machine struct {
	stepped
	began   time.Time
	mu      sync.Mutex
	noticed []ClockKind
}

func newMachine() *machine { return &machine{began: time.Now()} }

func (m *machine) use(o *Options) {
	o.Clock = func() time.Time { return m.now().Round(0) } // without a monotonic reading
	o.Monotonic = func() time.Duration { return time.Since(m.began) }
	o.Noticed = func(n ClockNotice) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.noticed = append(m.noticed, n.Kind)
	}
}

func (m *machine) told(t *testing.T, want ...ClockKind) {
	t.Helper()
	time.Sleep(longestSleep + time.Second)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Equal(slices.Compact(m.noticed), want) { // stores that were killed hear of it, too
		t.Errorf("told %v, not %v", m.noticed, want)
	}
	m.noticed = nil
}

// lasts claims a message with a lease and fails unless it comes back when the lease is over: no earlier, and no more
// than an eighth later.
func lasts(t *testing.T, s *Store, lease time.Duration) {
	t.Helper()
	c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: lease})
	if len(c) != 1 {
		t.Fatal("there is nothing to claim")
	}
	time.Sleep(lease - lease/100)
	if again := mustClaim(t, s, ClaimRequest{From: from(news)}); len(again) != 0 {
		t.Errorf("a lease of %v has ended early", lease)
	}
	time.Sleep(lease / 8)
	again := mustClaim(t, s, ClaimRequest{From: from(news)})
	if len(again) != 1 {
		t.Fatalf("a lease of %v lasts longer", lease)
	}
	settle(t, s, Settlement{Token: again[0].Token, Kind: Back})
}

// TestRuleLeasesLastAsLongAsWasSaidWhateverTheClockDoes sets the clock forward and back, also over restarts and for so
// long that it is believed.
func TestRuleLeasesLastAsLongAsWasSaidWhateverTheClockDoes(t *testing.T) {
	withoutDetector(t)
	bubble(t, func(t *testing.T) {
		const far = 4 * time.Hour // short, so that the test is
		clock := newMachine()
		m := newMemory()
		s := open(t, m, clock.use)
		mustPut(t, s, news, text("a")...)
		lasts(t, s, 200*time.Millisecond)
		clock.step(far)
		lasts(t, s, 200*time.Millisecond)
		clock.step(-far)
		lasts(t, s, 200*time.Millisecond)
		clock.told(t, ClockAhead, ClockWithdrawn)
		clock.step(far)
		time.Sleep(far/stepPatience + 2*longestSleep)
		clock.told(t, ClockAhead, ClockFollowed)
		lasts(t, s, time.Hour)
		clock.step(-far)
		lasts(t, s, 200*time.Millisecond)
		lasts(t, s, time.Hour)
		clock.told(t, ClockBehind)
		for range 2 {
			m = m.after(false)
			s = open(t, m, clock.use)
			lasts(t, s, 200*time.Millisecond)
			lasts(t, s, time.Hour)
			clock.told(t, ClockBehind)
		}
		time.Sleep(slowPart * far)
		clock.told(t, ClockCaughtUp)
		lasts(t, s, time.Hour)
	})
}

// TestRuleAStepOfTheClockExpiresNothingUntilItIsBelieved sets the clock forward by a year, by mistake and for good.
func TestRuleAStepOfTheClockExpiresNothingUntilItIsBelieved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const year = 365 * 24 * time.Hour
		clock := newMachine()
		s := open(t, newMemory(), clock.use)
		if _, err := s.CreateQueue(context.Background(), news, Definition{Retention: 30 * 24 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, news, text("a")...)
		kept := func(want int64) {
			t.Helper()
			if st, err := s.Stats(t.Context(), news); err != nil || st.Messages() != want {
				t.Fatalf("%d messages, %v; not %d", st.Messages(), err, want)
			}
		}
		clock.step(year)
		time.Sleep(longestPatience - time.Minute)
		kept(1)
		clock.step(-year)
		kept(1)
		clock.told(t, ClockAhead, ClockWithdrawn)
		clock.step(time.Minute) // as much is followed at once
		kept(1)
		clock.told(t, ClockForward)
		clock.step(year)
		time.Sleep(longestPatience + 2*longestSleep)
		kept(0)
		clock.told(t, ClockAhead, ClockFollowed)
	})
}

// TestTimesAreShownByTheWallClock holds the moments that callers name, and are told, to the wall clock while journaled
// time is ahead of it.
func TestTimesAreShownByTheWallClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const day = 24 * time.Hour
		ctx := context.Background()
		clock := newMachine()
		m := newMemory()
		clock.step(day)
		s := open(t, m, clock.use)
		mustPut(t, s, news, text("a")...)
		clock.step(-day)
		s = open(t, m.after(false), clock.use)
		near := func(what string, got, want time.Time) {
			t.Helper()
			if d := got.Sub(want).Abs(); d > time.Second {
				t.Errorf("%s is %v, not %v", what, got, want)
			}
		}
		c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Minute})
		near("the end of a lease", c[0].Deadline, time.Now().Add(time.Minute))
		ps, err := s.Peek(ctx, news, PeekRequest{})
		if err != nil || len(ps) != 1 {
			t.Fatal(ps, err)
		}
		near("the end of a lease, peeked,", ps[0].Until, time.Now().Add(time.Minute))
		until := time.Now().Add(10 * time.Minute)
		mustPut(t, s, news, message.Message{Body: []byte("later"), NotBefore: until},
			message.Message{Body: []byte("never"), Expires: until})
		settle(t, s, Settlement{Token: c[0].Token, Kind: Done})
		sn, err := s.TakeSnapshot(ctx, Name{DefaultNamespace, "s"}, news, SnapshotOptions{Life: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		near("the end of a snapshot", sn.Expires, time.Now().Add(time.Hour))
		time.Sleep(9 * time.Minute)
		if got := there(t, s, news); got != "later never" {
			t.Errorf("after nine minutes there is %q", got)
		}
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Second}); bodies(c) != "never" {
			t.Errorf("after nine minutes %q is claimed", bodies(c))
		}
		time.Sleep(2 * time.Minute)
		if c := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2}); bodies(c) != "later" {
			t.Errorf("after eleven minutes %q is claimed", bodies(c))
		}
	})
}

// TestJournaledTimeGoesOnWhateverTheClocksSay steps a wall clock at random: journaled time never runs backwards, never
// stands still for longer than the readings' rounding, and without steps both go alike in the end.
func TestJournaledTimeGoesOnWhateverTheClocksSay(t *testing.T) {
	withoutDetector(t)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var passed time.Duration
		var k timekeeper
		wall := time.UnixMicro(1 << 50)
		now := wall.UnixMicro() - r.Int64N(1<<40) + 1<<39
		k.hear(passed)
		now = k.read(now, wall)
		tick := func(d time.Duration) {
			passed, wall = passed+d, wall.Add(d)
			was := now
			k.hear(passed)
			now = k.read(now, wall)
			if least := d.Microseconds() * (slowPart - 1) / slowPart; now-was < least-clockSlack-2 {
				t.Fatalf("seed %d: %v passed and journaled time went on by %d µs", seed, d, now-was)
			}
		}
		for range 300 {
			switch r.IntN(4) {
			case 0:
				by := time.Duration(r.Int64N(1 << (10 + r.IntN(45))))
				if r.IntN(2) == 0 {
					by = -by
				}
				wall = wall.Add(by)
			default:
				tick(time.Duration(r.Int64N(1 << (10 + r.IntN(35)))))
			}
		}
		for n := 0; k.mode != following; n++ {
			if n > 1_000_000 {
				t.Fatalf("seed %d: the clocks never meet", seed)
			}
			tick(time.Hour)
		}
		if len(k.notices) > maxNotices {
			t.Errorf("seed %d: %d notices wait", seed, len(k.notices))
		}
	}
}
