package access

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var attempt = Attempt{Door: "test", Address: "192.0.2.1:1234"}

func someUsers(t *testing.T) *Users {
	t.Helper()
	us, err := New([]User{{Name: "ann", Secret: "secret of ann"}, {Name: "bob", Secret: "secret of bob"}})
	if err != nil {
		t.Fatal(err)
	}
	return us
}

func TestWrongSecretsFromAnAddressAreSlowedAndRightOnesFromElsewhereAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		us, ctx := someUsers(t), t.Context()
		begin := time.Now()
		for i := range byAddress.burst {
			if _, err := us.Token(ctx, attempt, fmt.Sprint("guess ", i)); !errors.Is(err, ErrDenied) {
				t.Fatal(err)
			}
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the first guesses took %v: people mistype", took)
		}
		looked := 0
		for i := range 100 {
			if _, err := us.Token(ctx, attempt, fmt.Sprint("another ", i)); errors.Is(err, ErrDenied) {
				looked++
			}
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(begin); float64(looked) > took.Seconds()/byAddress.each.Seconds()+1 {
			t.Errorf("%d guesses in %v", looked, took)
		}
		begin = time.Now()
		if _, err := us.Token(ctx, Attempt{"test", "192.0.2.2:1"}, "secret of ann"); err != nil ||
			time.Since(begin) != 0 {
			t.Errorf("another address: %v after %v", err, time.Since(begin))
		}
		// Nobody is locked out.
		time.Sleep(mostDebt + time.Duration(byAddress.burst)*byAddress.each)
		begin = time.Now()
		if _, err := us.Token(ctx, attempt, "secret of ann"); err != nil || time.Since(begin) != 0 {
			t.Errorf("after a while: %v after %v", err, time.Since(begin))
		}
	})
}

func TestGuessesAtOnceAreSlowedAsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		us := someUsers(t)
		var looked, unlooked atomic.Int64
		for i := range 500 {
			go func() {
				switch _, err := us.Login(t.Context(), attempt, "bob", fmt.Sprint("guess ", i)); {
				case errors.Is(err, ErrDenied):
					looked.Add(1)
				case errors.As(err, new(*SlowError)):
					unlooked.Add(1)
				}
			}()
		}
		time.Sleep(longestWait)
		synctest.Wait()
		most := int64(byAddress.burst) + int64(longestWait/byAddress.each) + 1
		if looked.Load() > most || looked.Load()+unlooked.Load() != 500 {
			t.Errorf("%d were looked at, %d were not; %d at most should be", looked.Load(), unlooked.Load(), most)
		}
	})
}

func TestWhoHasComeInFromAnAddressIsNotSlowedThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		us, ctx := someUsers(t), t.Context()
		if _, err := us.Token(ctx, attempt, "secret of ann"); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			go us.Login(ctx, attempt, "bob", fmt.Sprint("guess ", i)) //nolint:errcheck // they are wrong
		}
		time.Sleep(longestWait)
		synctest.Wait()
		begin := time.Now()
		if _, err := us.Token(ctx, attempt, "secret of ann"); err != nil || time.Since(begin) != 0 {
			t.Errorf("ann is held up: %v after %v", err, time.Since(begin))
		}
		if _, err := us.Prove(ctx, attempt, "ann", func(s string) bool { return s == "secret of ann" }); err != nil ||
			time.Since(begin) != 0 {
			t.Errorf("ann's proof is held up: %v after %v", err, time.Since(begin))
		}
		// bob was never here: he has to wait until the guesses are paid for.
		if _, err := us.Token(ctx, attempt, "secret of bob"); !errors.As(err, new(*SlowError)) &&
			time.Since(begin) == 0 {
			t.Errorf("a guess that fits comes in at once: %v", err)
		}
	})
}

func TestANameIsSlowedWhereverTheGuessesComeFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		us := someUsers(t)
		looked := 0
		for i := range 1000 {
			from := Attempt{"test", fmt.Sprintf("[2001:db8:%x::1]:80", i)}
			if _, err := us.Login(t.Context(), from, "bob", "guess"); errors.Is(err, ErrDenied) {
				looked++
			}
		}
		if took := time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)); float64(looked) > float64(byName.burst)+
			took.Seconds()/byName.each.Seconds()+1 {
			t.Errorf("%d guesses in %v", looked, took)
		}
	})
}

func TestTheGateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		for i := range mostDebts + 500 {
			address := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).String()
			if err := g.pass(t.Context(), address, "", true); err != nil {
				t.Fatal(err)
			}
		}
		if len(g.debts) > mostDebts || g.indebted.Load() != int64(len(g.debts)) {
			t.Errorf("%d addresses are remembered, %d counted", len(g.debts), g.indebted.Load())
		}
		time.Sleep(time.Hour)
		_ = g.pass(t.Context(), "10.9.9.9", "", true)
		if len(g.debts) != 1 {
			t.Errorf("%d addresses are remembered after an hour", len(g.debts))
		}
	})
}

func TestWaitingEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		us := someUsers(t)
		for range byAddress.burst + 2 {
			_, _ = us.Token(t.Context(), attempt, "guess")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := us.Token(ctx, attempt, "guess"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestFailuresAreCountedAndLoggedWithoutAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		us := someUsers(t)
		counts := map[string]int{}
		var logged []Failure
		us.Watch(func(door, reason string) { counts[door+" "+reason]++ },
			func(f Failure) { logged = append(logged, f) })
		ctx := t.Context()
		for range 5 {
			_, _ = us.Login(ctx, attempt, "ann", "guess")
		}
		_, _ = us.Login(ctx, attempt, "hunter22", "guess")
		_, _ = us.Token(ctx, attempt, "")
		_, _ = us.Proved(ctx, Attempt{"sqs", "192.0.2.9:1"}, "ann", BadProof)
		want := []Failure{
			{"test", WrongSecret, "ann", "192.0.2.1", 1}, {"test", UnknownName, "", "192.0.2.1", 1},
			{"sqs", BadProof, "ann", "192.0.2.9", 1},
		}
		if fmt.Sprint(logged) != fmt.Sprint(want) {
			t.Errorf("%v", logged)
		}
		time.Sleep(logEvery)
		_, _ = us.Login(ctx, attempt, "ann", "guess")
		if last := logged[len(logged)-1]; last.Count != 5 || last.Reason != WrongSecret {
			t.Errorf("%+v", last)
		}
		if fmt.Sprint(counts) != "map[sqs proof:1 test missing:1 test name:1 test secret:6]" {
			t.Error(counts)
		}
	})
}

func TestAddressesAreReadWithoutTheirPorts(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "192.0.2.1": "192.0.2.1", "[::1]:80": "::1", "::1": "::1", "[::1]": "::1",
		"2001:db8::1:80": "2001:db8::1:80", "": "", "@": "@", ":80": ":80",
	} {
		if got := place(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	a, _ := addressKey("[2001:db8:1:2:3::4]:1")
	b, _ := addressKey("[2001:db8:1:2:ffff::1]:2")
	if a != b {
		t.Error("two addresses of one customer have two allowances")
	}
}
