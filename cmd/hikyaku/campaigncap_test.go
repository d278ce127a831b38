package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// TestNobodyGetsMorePushesThanTheCapAlsoOverAKill starts two campaigns, kills the program in the middle of them, and
// starts a third one: each user may have two pushes an hour.
func TestNobodyGetsMorePushesThanTheCapAlsoOverAKill(t *testing.T) {
	const phones = 400
	dir := t.TempDir()
	users(t, filepath.Join(dir, "users.db"), phones)
	far := sandboxHere(t, dir, "apns")
	config := strings.NewReplacer("attributes: [token]", "attributes: [token, id]",
		"gate: { type: campaign, inputs: [outbox] }",
		"gate: { type: campaign, inputs: [outbox], cap: { of: id, most: 2, within: 1h } }",
	).Replace(campaigning(far, 500))
	s := serveHere(t, dir, config)
	first, second := s.start(t, "news", `{"news": 1}`), s.start(t, "news", `{"news": 2}`)
	pushtest.Eventually(t, func() bool { return far.counts(t).Accepted >= phones/2 })
	s.kill(t)
	s = serveHere(t, dir, config)
	over := func(id string) func() bool {
		return func() bool { return s.campaign(t, id).State == campaign.Done }
	}
	pushtest.Eventually(t, over(first))
	pushtest.Eventually(t, over(second))
	if c := far.counts(t); c.Messages != 2*phones || c.Devices != phones {
		t.Errorf("two campaigns: %+v", c)
	}
	third := s.start(t, "news", `{"news": 3}`)
	pushtest.Eventually(t, over(third))
	if v := s.campaign(t, third); v.Capped != phones || v.Made != phones || v.Sent+v.Refused+v.Dropped+v.Left != 0 {
		t.Errorf("the third one: %+v", v)
	}
	if c := far.counts(t); c.Messages != 2*phones {
		t.Errorf("three campaigns: %+v", c)
	}
	if n := s.metric(t, `hikyaku_cap_capped_total{gate="gate"}`); n != "400" {
		t.Errorf("%s are counted", n)
	}
	if shown := s.do(t, "", "campaign", "show", third).stdout; !strings.Contains(shown, "capped") {
		t.Errorf("%s", shown)
	}
}
