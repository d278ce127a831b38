package main

import (
	"strings"
	"testing"

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
