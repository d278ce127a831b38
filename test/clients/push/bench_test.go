package push_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestTheBenchPrintsTheReportsTable runs the quick form of the report's experiment with all four senders.
func TestTheBenchPrintsTheReportsTable(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), program.binary, "bench", "push", "--quick", "--json", "--only", "seed",
		"--clients", program.clients, "--dir", t.TempDir())
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &complaint)
	}
	var report struct {
		Rows []struct {
			Case, Work, Server string
			Messages, Failed   int
			N                  int     `json:"n"`
			Mean               float64 `json:"mean_ms"`
			CPU                float64 `json:"cpu_us"`
		}
		Notes []string
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	var got []string
	for _, r := range report.Rows {
		got = append(got, strings.TrimSpace(fmt.Sprint(r.Case, " ", r.Work, " ", r.Server)))
		if r.N == 0 || r.CPU <= 0 || r.Failed != 0 && r.Case == "hikyaku" || r.Messages > 0 && r.Mean <= 0 {
			t.Errorf("%+v", r)
		}
	}
	want := []string{
		"limit seed sandbox", "first seed", "fix-1 seed", "fix-2 seed", "hikyaku seed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	if len(report.Notes) != 0 {
		t.Errorf("it misses something that is installed: %q", report.Notes)
	}
}
