package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// TestAnOwnerWaitsOnce refuses the second claim of an owner that would have to wait; one that does not wait, and one
// after it, are served.
func TestAnOwnerWaitsOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text("first")...)
		settleOldest(t, s, news, 1)
		o := s.NewOwner("one")
		defer o.Close()
		wait := ClaimRequest{From: from(news), Owner: o, Wait: time.Minute}
		got := make(chan error)
		go func() {
			cs, err := s.Claim(t.Context(), wait)
			if err == nil && len(cs) != 1 {
				err = fmt.Errorf("got %d", len(cs))
			}
			got <- err
		}()
		time.Sleep(time.Second)
		if _, err := s.Claim(t.Context(), wait); !errors.Is(err, ErrTooManyWaiters) ||
			!strings.Contains(err.Error(), "one") {
			t.Errorf("a second one that waits: %v", err)
		}
		if cs, err := s.Claim(t.Context(), ClaimRequest{From: from(news), Owner: o}); err != nil || len(cs) != 0 {
			t.Errorf("one that does not wait: %v %v", cs, err)
		}
		mustPut(t, s, news, text("a", "b")...)
		if err := <-got; err != nil {
			t.Error(err)
		}
		if cs := mustClaim(t, s, wait); len(cs) != 1 {
			t.Errorf("after it: %v", cs)
		}
	})
}

// TestAnOwnerIsHandedWhatMeetsItsConditionOfKeysThatItHolds changes what an owner may take next between claims with one
// condition and with others, more than it keeps.
func TestAnOwnerIsHandedWhatMeetsItsConditionOfKeysThatItHolds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		const keys = 40
		put := func(key, n int) {
			m := message.Message{Key: fmt.Sprint("k", key)}
			m.Attributes.Set("n", message.Int(int64(n)))
			mustPut(t, s, news, m)
		}
		o := s.NewOwner("test")
		defer o.Close()
		for k := range keys {
			put(k, 0)
		}
		if cs := mustClaim(t, s, ClaimRequest{From: from(news), Max: keys, Owner: o}); len(cs) != keys {
			t.Fatalf("%d claims, want %d", len(cs), keys)
		}
		take := func(condition string, want ...uint64) {
			t.Helper()
			var got []uint64
			for _, c := range mustClaim(t, s, ClaimRequest{From: where(t, news, condition), Max: 100, Owner: o}) {
				got = append(got, c.Sequence)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", condition, got, want)
			}
		}
		for k := range keys {
			put(k, 1+k%2) // 41 to 80
		}
		take("n = 3")
		put(4, 3) // 81, behind 45
		take("n = 3")
		take("n = 1 and key = 'k4'", 45)
		take("n = 3", 81)
		for i := range 2 * fewAsked {
			take(fmt.Sprintf("n %% 1000 = 100 + %d", i))
		}
		take("n = 2 and key = 'k39'", 80)
		if err := s.AlterQueue(t.Context(), news, Definition{MaxAttempts: 9}); err != nil {
			t.Fatal(err)
		}
		take("n % 1000 = 2 and key in ('k1', 'k39')", 42)
		take("n = 3")
	})
}

func TestAnOwnerOfAnotherStoreIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		one, other := open(t, newMemory()), open(t, newMemory())
		mustPut(t, one, news, text("a")...)
		o := other.NewOwner("other")
		defer o.Close()
		if _, err := one.Claim(t.Context(), ClaimRequest{From: from(news), Owner: o}); !errors.Is(err, ErrStale) {
			t.Error(err)
		}
	})
}
