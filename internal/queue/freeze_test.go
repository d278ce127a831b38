package queue

import (
	"context"
	"testing"
	"time"
)

// frozen keeps everybody from the store for a while, as a process that is stopped does.
func frozen(s *Store, d time.Duration) {
	s.locked(func() { s.paused++ })
	time.Sleep(d)
	s.locked(func() {
		s.paused--
		s.landing.Broadcast()
	})
}

// held claims one message for ten seconds.
func held(t *testing.T, s *Store) Claim {
	t.Helper()
	mustPut(t, s, news, text("a")...)
	claims := mustClaim(t, s, ClaimRequest{From: from(news), Lease: 10 * time.Second})
	if len(claims) != 1 {
		t.Fatalf("%d claims", len(claims))
	}
	return claims[0]
}

// back claims what comes back, and returns after how long it came.
func back(t *testing.T, s *Store, c Claim) time.Duration {
	t.Helper()
	began := time.Now()
	again := mustClaim(t, s, ClaimRequest{From: from(news), Lease: time.Second, Wait: time.Minute})
	if len(again) != 1 || again[0].Token == c.Token {
		t.Fatalf("%v came back", again)
	}
	return time.Since(began)
}

func TestWhatIsDoneInAFreezeIsSettledAfterIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		c := held(t, s)
		frozen(s, 15*time.Second)
		time.Sleep(regained / 2)
		if errs, err := s.Settle(t.Context(), []Settlement{{Token: c.Token}}); err != nil || errs[0] != nil {
			t.Errorf("%v, %v", errs, err)
		}
	})
}

// TestAFreezeIsFoundOut: whether the timer slept, had slept, or was woken for a lease and did not get to it.
func TestAFreezeIsFoundOut(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		last, sleep time.Duration // before now; sleep 0: it was woken
		froze       time.Duration
	}{
		"asleep":     {last: 9 * time.Second, sleep: -time.Second},
		"overslept":  {last: 9 * time.Second, sleep: 3 * time.Second, froze: 3 * time.Second},
		"woken":      {last: 2 * time.Second, froze: 2 * time.Second},
		"in time":    {last: time.Millisecond, sleep: 3 * time.Second},
		"a bit late": {last: 9 * time.Second, sleep: freeze / 2},
	} {
		l := lateness{seen: now.Add(-c.last)}
		if c.sleep != 0 {
			l.sleep = now.Add(-c.sleep)
		}
		if froze := l.look(now); froze != c.froze {
			t.Errorf("%s: it was frozen for %v, not %v", name, froze, c.froze)
		}
	}
	if froze := new(lateness).look(now); froze != 0 {
		t.Errorf("at its first look it was frozen for %v", froze)
	}
}

func TestALeaseIsExtendedAfterAFreeze(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		c := held(t, s)
		frozen(s, 15*time.Second)
		if errs, err := s.Extend(t.Context(), []Token{c.Token}, 10*time.Second); err != nil || errs[0] != nil {
			t.Fatalf("%v, %v", errs, err)
		}
		if took := back(t, s, c); took != 10*time.Second {
			t.Errorf("it came back after %v", took)
		}
	})
}

func TestALeaseThatNobodyExtendsEndsSoonAfterAFreeze(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		c := held(t, s)
		frozen(s, 15*time.Second)
		if took := back(t, s, c); took != regained {
			t.Errorf("it came back after %v", took)
		}
	})
}

// TestLeasesEndHoweverOftenTheStoreFreezes: without an end to what is given, nothing that a dead reader holds came
// back on a machine that has too little processor time.
func TestLeasesEndHoweverOftenTheStoreFreezes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		c := held(t, s)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			for ctx.Err() == nil {
				frozen(s, 2*freeze)
				time.Sleep(freeze)
			}
		}()
		if took := back(t, s, c); took > 10*time.Second+mostFreezes*(regained+3*freeze) {
			t.Errorf("it came back after %v", took)
		}
		end()
		<-stopped
	})
}

func TestAShortDelayIsNoFreeze(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		c := held(t, s)
		time.Sleep(10*time.Second - freeze/2)
		frozen(s, freeze)
		if took := back(t, s, c); took != 0 {
			t.Errorf("it came back after %v", took)
		}
	})
}
