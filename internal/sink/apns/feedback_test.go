package apns

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

func TestTheTimeOfAnUnregisteredDeviceIsTheFarEnds(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for timestamp, want := range map[int64]time.Time{
		0: now, now.Add(-time.Hour).UnixMilli(): now.Add(-time.Hour), now.Add(time.Hour).UnixMilli(): now, -5: now,
	} {
		if got := (said{Timestamp: timestamp}).since(now); !got.Equal(want) {
			t.Errorf("%d: %v, want %v", timestamp, got, want)
		}
	}
}

// TestAReportHasApplesTimeOfADeath: the sink's clock is an hour ahead of that of the far end.
func TestAReportHasApplesTimeOfADeath(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, refusing("Unregistered", 1))
	s := newSink(t, f, nil)
	var clock pushtest.Clock
	clock.Forward(time.Hour)
	s.clock = clock.Now
	m, before := to(device(1)), time.Now()
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Rejected, "Unregistered")
	after := time.Now()
	var r dead.Report
	if err := json.Unmarshal([]byte(pushtest.Reports(t, s.store)), &r); err != nil {
		t.Fatal(err)
	}
	if r.Since.Before(before.Truncate(time.Millisecond)) || r.Since.After(after) ||
		r.State != dead.Gone || r.Token != device(1) || r.App != bundle || r.Message != m.ID.String() {
		t.Errorf("%+v", r)
	}
}
