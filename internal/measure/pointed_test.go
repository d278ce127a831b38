package measure

import (
	"strings"
	"testing"
)

func TestACaretStandsUnderThePlace(t *testing.T) {
	for _, c := range [][3]string{
		{"a = ", "1", "  7 | a = 1\n    |     ^"},
		{"飛脚\t\x1b", "\x7f", "  7 | 飛脚 ··\n    |       ^"},
		{"", "", "  7 | \n    | ^"},
	} {
		if got := Pointed("  7 | ", "    | ", c[0], c[1]); got != c[2] {
			t.Errorf("%q, %q:\n%s\nnot\n%s", c[0], c[1], got, c[2])
		}
	}
	got := Pointed("", "", strings.Repeat("x", 500)+"HERE", strings.Repeat("飛", 500))
	line, caret, _ := strings.Cut(got, "\n")
	if !strings.HasPrefix(line, "…x") || !strings.Contains(line, "HERE飛") || !strings.HasSuffix(line, "…") ||
		cells(line) > pointedWidth || cells(caret) != cells(line[:strings.Index(line, "飛")])+1 {
		t.Error(got)
	}
}
