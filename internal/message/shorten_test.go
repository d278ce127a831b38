package message

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestATextIsCutBetweenCharacters(t *testing.T) {
	for _, text := range []string{"", "plain", "飛脚飛脚", "é", "🚚🚚", strings.Repeat("x飛é🚚", 9)} {
		for most := range len(text) + 3 {
			head, shown := Beginning(text, most), Shorten(text, most)
			rest, isHead := strings.CutPrefix(text, head)
			if !isHead || len(head) > most || !utf8.ValidString(head) || rest != "" && len(head)+utf8.UTFMax <= most {
				t.Errorf("%q begins within %d bytes with %q", text, most, head)
			}
			if want := head + map[bool]string{true: "…"}[rest != ""]; shown != want {
				t.Errorf("%q within %d bytes is shown as %q, not %q", text, most, shown, want)
			}
		}
	}
	if s := Beginning("\x80\x80\x80\x80\x80\x80\x80", 6); s != "\x80\x80" {
		t.Errorf("what is no text begins with %q", s)
	}
}
