package push_test

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/push"
)

func TestWhatAFarEndSaidIsShownOnOneShortLineThatSteersNoTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"  a\n\tb ":                    "a b",
		"\x1b[31mred\x7f":              "\uFFFD[31mred\uFFFD",
		"\xff":                         "\uFFFD",
		strings.Repeat("x", 9e3):       strings.Repeat("x", 200) + "…",
		strings.Repeat("é", 101):       strings.Repeat("é", 100) + "…",
		"x" + strings.Repeat("é", 100): "x" + strings.Repeat("é", 99) + "…",
	} {
		if got := push.Shown(text); got != want {
			t.Errorf("%.40q is shown as %q, want %q", text, got, want)
		}
		if got := push.Shown([]byte(text)); got != want {
			t.Errorf("the bytes %.40q are shown as %q, want %q", text, got, want)
		}
	}
}
