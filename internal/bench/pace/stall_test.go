package pace

import (
	"strings"
	"testing"
	"time"

	tempo "github.com/hikyaku/hikyaku/pace"
)

func TestMostWithinGoesRoundThePeriodsEnd(t *testing.T) {
	const ms = time.Millisecond
	for want, moments := range map[int][]time.Duration{
		0: nil,
		1: {50 * ms},
		2: {10 * ms, 30 * ms, 50 * ms, 51 * ms},
		3: {99 * ms, 50 * ms, 0, 99*ms + 500*time.Microsecond},
		4: {7 * ms, 7 * ms, 7 * ms, 7 * ms},
	} {
		if got := mostWithin(moments, 100*ms, 2*ms); got != want {
			t.Errorf("%v: %d, not %d", moments, got, want)
		}
	}
}

// stalled are the records of a machine that stands still for so long at the end of every period.
func stalled(frames int64, period, still time.Duration) (records []tempo.Record) {
	for n := range frames {
		r := tempo.Record{Frame: n}
		if at := (tempo.NTSC().Deadline(n) + still) % period; at < still {
			r.Overslept = still - at
			r.Late = r.Overslept + time.Microsecond
		}
		records = append(records, r)
	}
	return records
}

func TestAMachineThatStandsStillInEachPeriodIsRecognized(t *testing.T) {
	var s stalls
	s.add(stalled(1200, quotaPeriod, 5*time.Millisecond))
	if s.together != s.late || s.late < leastStalls || !strings.Contains(s.String(), "in the same 2ms of every 100ms") {
		t.Errorf("%+v: %s", s, s.String())
	}
	// Another period, and nothing at all.
	var other, none stalls
	other.add(stalled(1200, 37*time.Millisecond, 2*time.Millisecond))
	if told := other.String(); other.late < leastStalls || strings.Contains(told, "in the same") ||
		!strings.HasPrefix(told, "before ") {
		t.Errorf("%+v: %s", other, told)
	}
	none.add(stalled(1200, quotaPeriod, 0))
	if none.String() != "" {
		t.Errorf("%+v: %s", none, none.String())
	}
}
