package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// TestQueueReportsEveryWorkBesideItsLimit runs the quick form once and looks at everything it writes but the speeds.
func TestQueueReportsEveryWorkBesideItsLimit(t *testing.T) {
	var out, progress bytes.Buffer
	dir, plots := t.TempDir(), filepath.Join(t.TempDir(), "plots")
	o := bench.Options{Quick: true, JSON: true, Dir: dir, Plots: plots, Out: &out, Progress: &progress, Terminal: true}
	if err := bench.Queue(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var report measure.BenchReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v in:\n%s", err, out.Bytes())
	}
	if report.Bench != "queue" || report.Machine.CPUs == 0 {
		t.Errorf("the report is of bench %q on %+v", report.Bench, report.Machine)
	}
	var got []string
	for _, r := range report.Rows {
		got = append(got, strings.Join(strings.Fields(fmt.Sprint(r.Get("case"), " ", r.Get("work"), " ", or(r, "writers"), " ", or(r, "condition"), " ", or(r, "start"))), " "))
	}
	var want []string
	for _, work := range []string{"put 1", "put 16", "put 64", "put-group 1", "claim 1", "claim 16", "claim-where 1 same", "claim-where 1 same",
		"claim-where 1 new", "claim-where 1 new", "restart clean", "restart clean", "restart killed"} {
		want = append(want, "hikyaku "+work, "limit "+work)
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i, r := range report.Rows {
		checkRow(t, i, r)
	}
	left(t, dir)
	for _, name := range []string{"queue-rates.svg", "queue-latencies.svg", "queue-restart.svg"} {
		b, err := os.ReadFile(filepath.Join(plots, name))
		if err != nil || !bytes.HasPrefix(bytes.TrimSpace(b), []byte("<")) || !bytes.Contains(b, []byte("limit")) {
			t.Errorf("plot %s: %v, %d bytes", name, err, len(b))
		}
	}
	if !strings.Contains(progress.String(), "bench queue") {
		t.Errorf("the progress bar shows %q", progress.String())
	}
}

// or is a value, or nothing to be seen.
func or(r *measure.Row, name string) any {
	if v := r.Get(name); v != nil {
		return v
	}
	return ""
}

// checkRow looks for the values that a script counts on, and that they can be true of each other.
func checkRow(t *testing.T, i int, r *measure.Row) {
	t.Helper()
	value := map[string]float64{}
	for _, name := range []string{"depth", "bytes", "n", "mean_ms", "p50_ms", "p99_ms", "max_ms", "min_ms", "per_s"} {
		v, ok := r.Number(name)
		if !ok || v < 0 {
			t.Errorf("row %d: %s is %v", i, name, r.Get(name))
		}
		value[name] = v
	}
	if value["n"] < 1 || value["per_s"] <= 0 || value["min_ms"] > value["p50_ms"] || value["p50_ms"] > value["p99_ms"] || value["p99_ms"] > value["max_ms"] {
		t.Errorf("row %d: %v", i, value)
	}
	own := r.Get("case") == "hikyaku"
	for _, name := range []string{"ratio", "ratio_q1", "ratio_q3", "rss_mb"} {
		if v, ok := r.Number(name); ok != own || own && v <= 0 {
			t.Errorf("row %d of %v: %s is %v", i, r.Get("case"), name, r.Get(name))
		}
	}
	low, _ := r.Number("ratio_q1")
	mid, _ := r.Number("ratio")
	high, _ := r.Number("ratio_q3")
	if low > mid || mid > high {
		t.Errorf("row %d: the median %v is not between the quartiles %v and %v", i, mid, low, high)
	}
}

// left fails if anything is in dir.
func left(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// cancelAfter is a progress bar's place that ends the run when something is first drawn.
type cancelAfter struct{ cancel func() }

func (c cancelAfter) Write(b []byte) (int, error) {
	c.cancel()
	return len(b), nil
}

func TestQueueEndsWithItsContextAndCleansUp(t *testing.T) {
	for name, quick := range map[string]bool{"whole": false, "quick": true} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out bytes.Buffer
			dir := t.TempDir()
			err := bench.Queue(ctx, bench.Options{Quick: quick, Dir: dir, Out: &out, Progress: cancelAfter{cancel}, Terminal: true})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled while it ran: %v", err)
			}
			if out.Len() > 0 {
				t.Errorf("findings of half a run: %s", out.Bytes())
			}
			left(t, dir)
		})
	}
}

func TestQueueDoesNotBeginWithAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if err := bench.Queue(ctx, bench.Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	left(t, dir)
}

func TestQueueSaysWhichFolderItCannotUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	err := bench.Queue(t.Context(), bench.Options{Quick: true, Dir: dir})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("with a folder that does not exist: %v", err)
	}
}

func TestEveryBenchHasANameASummaryAndARun(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range bench.All() {
		if b.Name == "" || b.Summary == "" || b.Run == nil || seen[b.Name] {
			t.Errorf("bench %+v", b)
		}
		seen[b.Name] = true
	}
	if !seen["queue"] {
		t.Error("there is no bench queue")
	}
}
