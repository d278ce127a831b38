package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestNothingIsReadBeforeThereIsRoomForIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text(strings.Repeat("a", 1000), strings.Repeat("b", 3000))...)
		full := errors.New("no room")
		refuse := func(context.Context, int64, int64) error { return full }
		if cs, err := s.Claim(t.Context(), ClaimRequest{From: from(news), Max: 5, Hold: refuse}); len(cs) != 0 ||
			!errors.Is(err, full) {
			t.Errorf("%v, %v", cs, err)
		}
		if ps, err := s.Peek(t.Context(), news, PeekRequest{Hold: refuse}); len(ps) != 0 || !errors.Is(err, full) {
			t.Errorf("%v, %v", ps, err)
		}
		var sum, largest int64
		allow := func(_ context.Context, s, l int64) error { sum, largest = s, l; return nil }
		cs := mustClaim(t, s, ClaimRequest{From: from(news), Max: 5, Hold: allow})
		if len(cs) != 2 || cs[0].Attempt != 1 || cs[0].Body()[0] != 'a' || sum < 4000 || sum > 5000 || largest < 3000 ||
			largest >= sum {
			t.Errorf("%d claims with %d bytes, the largest %d", len(cs), sum, largest)
		}
	})
}

func TestAWaitingClaimAsksForRoomWhenItIsServed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		asked := int64(0)
		got := make(chan error)
		go func() {
			_, err := s.Claim(t.Context(),
				ClaimRequest{From: from(news), Wait: time.Hour, Hold: func(_ context.Context, sum, _ int64) error {
					asked = sum
					return context.DeadlineExceeded
				}})
			got <- err
		}()
		mustPut(t, s, news, text("hello")...)
		if err := <-got; !errors.Is(err, context.DeadlineExceeded) || asked < 5 {
			t.Errorf("%v, asked for %d", err, asked)
		}
		if cs := mustClaim(t, s, ClaimRequest{From: from(news)}); len(cs) != 1 || cs[0].Attempt != 1 {
			t.Errorf("%v", cs)
		}
	})
}

func TestAPageIsBoundedInBytesAndSaysWhetherThereIsMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, text(strings.Repeat("a", 1000), strings.Repeat("b", 1000), strings.Repeat("c", 9000),
			"d")...)
		r := PeekRequest{Bytes: 3000}
		for _, want := range []string{"ab", "c", "d"} {
			ps, err := s.Peek(t.Context(), news, r)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i := range ps {
				got += string(ps[i].Body()[:1])
				r.After = ps[i].Sequence
			}
			if more := ps[len(ps)-1].More; got != want || more != (want != "d") {
				t.Errorf("%s, want %s; more: %v", got, want, more)
			}
		}
		if ps, err := s.Peek(t.Context(), news, PeekRequest{Bytes: 1, NoBody: true}); len(ps) != 4 || err != nil {
			t.Errorf("without bodies: %d, %v", len(ps), err)
		}
		if ps, err := s.Peek(t.Context(), news, PeekRequest{Max: 2}); len(ps) != 2 || !ps[1].More || err != nil {
			t.Errorf("%v, %v", ps, err)
		}
	})
}
