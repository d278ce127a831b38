package queue

import (
	"errors"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

func ofKey(key string, texts ...string) (ms []message.Message) {
	for _, t := range texts {
		ms = append(ms, message.Message{Key: key, Body: []byte(t)})
	}
	return ms
}

// TestClaimsOfAKeyEndApartWhenTheyAreMadeSo lets one of a key go back, by a settlement and by its lease: those behind
// it stay claimed and can be settled, and nobody gets them meanwhile.
func TestClaimsOfAKeyEndApartWhenTheyAreMadeSo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		mustPut(t, s, news, ofKey("k", "a", "b", "c", "d")...)
		apart := ClaimRequest{From: from(news), Max: 3, Lease: time.Minute, ByKey: true, Apart: true}
		cs := mustClaim(t, s, apart)
		if bodies(cs) != "a b c" {
			t.Fatal(bodies(cs))
		}
		settle(t, s, Settlement{Token: cs[0].Token, Kind: Back, Apart: true})
		again := mustClaim(t, s, apart)
		if bodies(again) != "a" || again[0].Attempt != 2 {
			t.Fatalf("%s, attempt %d: want a alone, once more", bodies(again), again[0].Attempt)
		}
		settle(t, s, Settlement{Token: cs[1].Token, Kind: Done})
		if _, err := s.Extend(t.Context(), []Token{cs[2].Token}, time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute) // the lease of a ends
		again = mustClaim(t, s, apart)
		if bodies(again) != "a" || again[0].Attempt != 3 {
			t.Fatalf("%s, attempt %d: want a alone, c being held", bodies(again), again[0].Attempt)
		}
		settle(t, s, Settlement{Token: again[0].Token, Kind: Done}, Settlement{Token: cs[2].Token, Kind: Done})
		if cs := mustClaim(t, s, apart); bodies(cs) != "d" || cs[0].Attempt != 1 {
			t.Fatal(bodies(cs))
		}
		// Without it those behind go back, too.
		other := Name{DefaultNamespace, "weather"}
		mustPut(t, s, other, ofKey("k", "a", "b")...)
		cs = mustClaim(t, s, ClaimRequest{From: from(other), Max: 2, Lease: time.Minute})
		settle(t, s, Settlement{Token: cs[0].Token, Kind: Back})
		if errs, err := s.Settle(t.Context(), []Settlement{{Token: cs[1].Token, Kind: Done}}); err != nil ||
			!errors.Is(errs[0], ErrStale) {
			t.Error(errs, err)
		}
	})
}

func TestAClaimByKeyTakesAllOfOneKeyBeforeTheNext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		for _, round := range []string{"1", "2", "3"} {
			for _, key := range []string{"x", "y", "z"} {
				mustPut(t, s, news, ofKey(key, key+round)...)
			}
		}
		if cs := mustClaim(t, s, ClaimRequest{From: from(news), Max: 4, ByKey: true}); bodies(cs) != "x1 x2 x3 y1" {
			t.Error(bodies(cs))
		}
		if cs := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2, ByKey: true}); bodies(cs) != "z1 z2" {
			t.Error(bodies(cs))
		}
	})
}
