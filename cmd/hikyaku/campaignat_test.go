package main

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// TestACampaignForATimeBeginsThenAlsoOverAKill: nobody is told before, and everybody then, though the process that was
// told of it is gone.
func TestACampaignForATimeBeginsThenAlsoOverAKill(t *testing.T) {
	const phones = 250
	far, s, config := campaigned(t, phones, 200)
	config = strings.ReplaceAll(config, "feedback: gone", "receipts: receipts")
	at := time.Now().Add(4 * time.Second) // a start takes less than one
	id := s.start(t, "news", `{"news": 42}`, "--at", at.Format(time.RFC3339Nano))
	scheduled := func(when string) {
		t.Helper()
		v, accepted := s.campaign(t, id), far.counts(t).Accepted
		if time.Now().Before(at) && (v.State != campaign.Scheduled || v.Made != 0 || accepted != 0) {
			t.Errorf("%s: %+v, %d were told", when, v, accepted)
		}
	}
	scheduled("before the kill")
	s.kill(t)
	s = serveHere(t, s.dir, config)
	scheduled("after the kill")
	seen := map[campaign.State]bool{}
	pushtest.Eventually(t, func() bool {
		v := s.campaign(t, id)
		seen[v.State] = true
		return v.State == campaign.Done
	})
	if !seen[campaign.Running] || len(seen) > 3 {
		t.Errorf("it was %v", seen)
	}
	if v, c := s.campaign(t, id), far.counts(t); v.Sent != phones || v.Made != phones || c.Devices != phones ||
		c.Accepted != phones {
		t.Errorf("%+v; far end: %+v", v, c)
	}
	for _, r := range s.receipts(t, phones) {
		if r.AcceptedAt.Before(at.Truncate(time.Microsecond)) {
			t.Errorf("made at %v for %v: %+v", r.AcceptedAt, at, r)
		}
	}
}
