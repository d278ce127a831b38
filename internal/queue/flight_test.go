package queue

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// TestGroupsOfOneSyncLandTogether: each has its own answer, messages are handed out in the order of the log, and what
// all have in common, reading the clock among it, is done once for many.
func TestGroupsOfOneSyncLandTogether(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		var read atomic.Int64
		s := open(t, m, func(o *Options) {
			o.Clock = func() time.Time {
				read.Add(1)
				return time.Now()
			}
		})
		mustPut(t, s, news, text("first")...)
		m.hold(true)
		const puts, refused = 10 * landFlights, 7
		answers := make([]error, puts)
		for i := range puts {
			m.refuse(i == refused)
			go func() { _, answers[i] = s.Put(t.Context(), news, text(fmt.Sprint(i))) }()
			synctest.Wait()
		}
		before := read.Load()
		m.hold(false)
		synctest.Wait()
		if n := read.Load() - before; n > puts/4 {
			t.Errorf("the clock was read %d times for %d groups", n, puts)
		}
		for i, err := range answers {
			if (i == refused) != errors.Is(err, journal.ErrRefused) || i != refused && err != nil {
				t.Errorf("put %d is answered with %v", i, err)
			}
		}
		want := []string{"first"}
		for i := range puts {
			if i != refused {
				want = append(want, fmt.Sprint(i))
			}
		}
		got := mustClaim(t, s, ClaimRequest{From: from(news), Max: 2 * puts})
		if bodies(got) != strings.Join(want, " ") {
			t.Errorf("the messages are %s", bodies(got))
		}
	})
}
