package condition_test

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// TestNoTextFillsTheStack gives the parser what is 300,000 deep or long, and as much of it as a text may have: a full
// stack would end the process.
func TestNoTextFillsTheStack(t *testing.T) {
	for _, p := range [][3]string{
		{"", "(", "1"}, {"1", "+1", ""}, {"", "not ", "1"}, {"", "-", "1"}, {"", "~", "1"}, {"1", " or 1", ""},
		{"1", " and 1", ""}, {"a", "=a", ""},
		{"", "abs(", "1"}, {"1", " between 1 and 1", ""}, {"", "1 in (", "1"}, {"a in (1", ",1", ")"},
		{"a", " is null", ""}, {"", "!", "1"},
	} {
		for _, bytes := range []int{300_000 * len(p[1]), condition.MaxText - len(p[0]) - len(p[2])} {
			text := p[0] + strings.Repeat(p[1], bytes/len(p[1])) + p[2]
			flat := len(text) <= condition.MaxText && (p[1] == " or 1" || p[1] == " and 1")
			if _, err := condition.Parse(text); (err == nil) != flat {
				t.Errorf("%.20s…, of %d bytes: %v", text, len(text), err)
			}
		}
	}
}
