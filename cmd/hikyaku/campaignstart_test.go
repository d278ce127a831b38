package main

import (
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
)

func TestABodyFromStdinIsNotCutAtALineEnd(t *testing.T) {
	whole := strings.Repeat("x", campaign.MostBody)
	if got, err := readBody(strings.NewReader(whole + "\n")); err != nil || got != whole {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := readBody(strings.NewReader(whole + "\nand more")); err != nil || len(got) <= campaign.MostBody {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := readBody(strings.NewReader(strings.Repeat("\n", 3*campaign.MostBody))); err == nil {
		t.Error("endless text is a body")
	}
}

func TestWhoMissesACampaignIsToldACommand(t *testing.T) {
	hint := commandHint(&httpdoor.Problem{Type: "urn:hikyaku:no-such-campaign", Hint: "see what there is with GET"})
	if !strings.Contains(hint, "`hikyaku campaign ls`") {
		t.Errorf("%q", hint)
	}
}
