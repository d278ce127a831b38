package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// TestACampaignTellsTheFarEndsReasonsOfThoseWhoAreRefused, in show and in watch, the most frequent first.
func TestACampaignTellsTheFarEndsReasonsOfThoseWhoAreRefused(t *testing.T) {
	const phones = 250
	dir := t.TempDir()
	users(t, filepath.Join(dir, "users.db"), phones)
	behaviour := filepath.Join(dir, "behaviour.json")
	text := fmt.Sprintf(`{"devices": [
		{"tokens": ["%064x", "%064x", "%064x"], "faults": [{"do": "refuse", "reason": "Unregistered"}]},
		{"tokens": ["%064x", "%064x"], "faults": [{"do": "refuse", "reason": "BadPriority"}]}]}`, 3, 120, 250, 7, 180)
	if err := os.WriteFile(behaviour, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveHere(t, dir, campaigning(sandboxHere(t, dir, "apns", "--behaviour", behaviour), 600))
	id := s.start(t, "news", `{"news": 42}`)
	pushtest.Eventually(t, func() bool { return s.campaign(t, id).State == campaign.Done })
	want := []campaign.Reason{
		{Outcome: "refused", Reason: "Unregistered", Count: 3}, {Outcome: "refused", Reason: "BadPriority", Count: 2},
	}
	if v := s.campaign(t, id); v.Sent != phones-5 || v.Refused != 5 || v.Left != 0 || !slices.Equal(v.Reasons, want) {
		t.Errorf("%+v", v)
	}
	for command, says := range map[string][]string{
		"show":  {"refused: Unregistered  3\nrefused: BadPriority   2\n"},
		"watch": {"refused 5", "Unregistered 3, BadPriority 2"},
	} {
		r := s.do(t, "", "campaign", command, id)
		for _, part := range says {
			if r.code != 0 || !strings.Contains(r.stdout, part) {
				t.Errorf("campaign %s does not say %q: %+v", command, part, r)
			}
		}
	}
	again := s.start(t, "news", `{"news": 43}`) // those who are gone are not tried
	pushtest.Eventually(t, func() bool { return s.campaign(t, again).State == campaign.Done })
	want[0].Reason = "device gone"
	if v := s.campaign(t, again); v.Refused != 5 || !slices.Equal(v.Reasons, want) {
		t.Errorf("the next campaign: %+v", v)
	}
}
