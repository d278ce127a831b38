package functions_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/function"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// TestTheBenchFindsTheClients runs, in the quick form, what the bench does with them: what runs inside an instance, and
// readers of DynamoDB Local.
func TestTheBenchFindsTheClients(t *testing.T) {
	var out bytes.Buffer
	o := harness.Options{Quick: true, JSON: true, Out: &out, Dir: t.TempDir(), Only: []string{"stacktrace", "dynamodb"},
		Clients: filepath.Join("../../..", ".cache", "clients", "functions")}
	if err := function.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var report measure.BenchReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	var cases []string
	for _, r := range report.Rows {
		name, _ := r.Get("case").(string)
		if frames, _ := r.Number("frames"); r.Get("work") == "stacktrace" && frames == 0 {
			t.Errorf("%s has no frames", name)
		}
		if !slices.Contains(cases, name) {
			cases = append(cases, name)
		}
	}
	want := []string{
		"go", "python", "node", "java", "rust", "go+ric", "python+ric", "node+ric",
		"java, in the handler", "java, in the constructor", "java, credentials in the handler",
		"java, credentials in the constructor", "node, in the handler", "node, before", "go through node",
		"go, in the handler", "go, before",
	}
	if !slices.Equal(cases, want) || len(report.Notes) != 0 {
		t.Errorf("the cases are %q with the notes %q, want %q", cases, report.Notes, want)
	}
}
