package bench_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench"
)

func TestEveryBenchHasANameASummaryWorksAndARun(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range bench.All() {
		if b.Name == "" || b.Summary == "" || b.Run == nil || len(b.Works) == 0 || seen[b.Name] {
			t.Errorf("bench %+v", b)
		}
		seen[b.Name] = true
	}
	if !seen["queue"] {
		t.Error("there is no bench queue")
	}
}
