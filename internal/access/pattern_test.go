package access

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestGlobAgreesWithARegularExpression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*.]{0,8}`).Draw(t, "pattern")
		text := rapid.StringMatching(`[ab.]{0,10}`).Draw(t, "text")
		model := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
		if got, want := glob(pattern, text), model.MatchString(text); got != want {
			t.Fatalf("glob(%q, %q) = %v, not %v", pattern, text, got, want)
		}
	})
}

func TestAStarStaysWithinItsPart(t *testing.T) {
	for _, c := range []struct {
		pattern, namespace, name string
		want                     bool
	}{
		{"*", "any", "thing", true},
		{"default/*", "default", "thing", true},
		{"default/*", "other", "thing", false},
		{"*/*", "other", "thing", true},
		{"news*", "default", "news_dead", true},
		{"news*", "other", "news", false},
		{"te*/news", "test", "news", true},
	} {
		if got := parsePattern(c.pattern).matches(queue.Name{Namespace: c.namespace, Name: c.name}); got != c.want {
			t.Errorf("%s on %s/%s: %v", c.pattern, c.namespace, c.name, got)
		}
	}
}
