package lambda

import (
	"strings"
	"testing"
)

// A function that asks for a version that is not here runs on the one that is, and says so where it is deployed and
// listed.
func TestAFunctionOnAnotherVersionThanItAsksForIsWarnedOf(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	r.create("family", map[string]any{"Runtime": "python3"})
	r.create("other", map[string]any{"Runtime": "python3.99"})
	if got := r.invoke("other", `{"answer":"runs"}`).text; got != `"runs"` {
		t.Errorf("%s", got)
	}
	g := r.ok(200, "PUT", functions+"/other/configuration", `{"Timeout":9}`)
	const want = "python3.99 asks for python 3.99, and it runs on python 3."
	if got := g.Header.Get("X-Hikyaku-Advice"); !strings.HasPrefix(got, want) {
		t.Errorf("%q", got)
	}
	listed := r.ok(200, "GET", "/hikyaku/functions", "").text
	if strings.Count(listed, want) != 1 || strings.Count(listed, `"warning"`) != 1 {
		t.Errorf("%s", listed)
	}
	if got := r.ok(200, "PUT", functions+"/other/configuration",
		`{"Runtime":"python3"}`).Header.Get("X-Hikyaku-Advice"); got != "" {
		t.Errorf("%q", got)
	}
}
