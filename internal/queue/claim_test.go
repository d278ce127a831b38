package queue

import (
	"math"
	"strings"
	"testing"
)

func TestAClaimTakesWhatThereIsWhateverItAsksFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := open(t, newMemory())
		put := []string{"a", strings.Repeat("b", 1000), "", "c", strings.Repeat("d", 10)}
		all := strings.Join(put, " ")
		for _, c := range []struct {
			max, bytes int
			want       string
		}{
			{math.MaxInt, 0, all},
			{math.MaxInt, math.MaxInt, all},
			{2, math.MaxInt, strings.Join(put[:2], " ")},
			{9, 1, "a"},
			{9, 1001, strings.Join(put[:3], " ")},
			{9, 1002, strings.Join(put[:4], " ")},
		} {
			mustPut(t, s, news, text(put...)...)
			got := mustClaim(t, s, ClaimRequest{From: from(news), Max: c.max, Bytes: c.bytes})
			if bodies(got) != c.want {
				t.Errorf("at most %d of %d bytes: %.40q", c.max, c.bytes, bodies(got))
			}
			if _, err := s.Purge(t.Context(), news); err != nil {
				t.Fatal(err)
			}
			if got := mustClaim(t, s, ClaimRequest{From: from(news), Max: c.max, Bytes: c.bytes}); len(got) > 0 {
				t.Errorf("an empty queue gave %q", bodies(got))
			}
		}
	})
}
