package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// TestWhatCannotBeWrittenOfAWaitingClaimGoesToTheNext lets the journal refuse the claims of those who wait, when the
// message that they wait for is durable: each is told so, and the message is there as if nobody had been handed it.
func TestWhatCannotBeWrittenOfAWaitingClaimGoesToTheNext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		mustPut(t, s, news, text("other")...)
		settle(t, s, Settlement{Token: mustClaim(t, s, ClaimRequest{From: from(news)})[0].Token, Kind: Done})
		const readers = 3
		told := make(chan error, readers)
		for range readers {
			go func() {
				cs, err := s.Claim(t.Context(), ClaimRequest{From: from(news), Wait: time.Hour})
				if len(cs) > 0 {
					t.Errorf("a claim that could not be written hands out %q", bodies(cs))
				}
				told <- err
			}()
			synctest.Wait()
		}
		m.hold(true)
		put := make(chan error, 1)
		go func() {
			_, err := s.Put(context.Background(), news, text("first"))
			put <- err
		}()
		synctest.Wait()
		m.Break(journal.ErrRefused)
		m.hold(false)
		synctest.Wait()
		m.Break(nil)
		if err := <-put; err != nil {
			t.Fatal(err)
		}
		for range readers {
			if err := <-told; !errors.Is(err, journal.ErrRefused) {
				t.Errorf("a claim that could not be written: %v", err)
			}
		}
		if cs := mustClaim(t, s, ClaimRequest{From: from(news)}); bodies(cs) != "first" || cs[0].Attempt != 1 {
			t.Errorf("then there is %+v", cs)
		}
	})
}
