package queue

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
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
