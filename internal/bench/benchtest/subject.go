package benchtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// Subject is a bench under test; its methods test what every bench promises.
type Subject struct {
	Name string
	Run  func(ctx context.Context, o harness.Options) error
	With harness.Options // what the bench needs to run at all
}

// Options are those of the quick form in a folder.
func (s Subject) Options(dir string) harness.Options {
	o := s.With
	o.Quick, o.Dir = true, dir
	return o
}

// Reports runs the quick form, demands that it draws the plots and its progress and leaves nothing else behind, and
// returns what it reports.
func (s Subject) Reports(t *testing.T, plots ...string) measure.BenchReport {
	t.Helper()
	var out, progress bytes.Buffer
	dir, drawn := t.TempDir(), filepath.Join(t.TempDir(), "plots")
	o := s.Options(dir)
	o.JSON, o.Plots, o.Out, o.Progress, o.Terminal = true, drawn, &out, &progress, true
	if err := s.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var report measure.BenchReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v in:\n%s", err, out.Bytes())
	}
	if report.Bench != s.Name || report.Machine.CPUs == 0 {
		t.Errorf("the report is of bench %q on %+v", report.Bench, report.Machine)
	}
	Left(t, dir)
	for _, name := range plots {
		b, err := os.ReadFile(filepath.Join(drawn, s.Name+"-"+name+".svg"))
		if err != nil || !bytes.HasPrefix(bytes.TrimSpace(b), []byte("<")) {
			t.Errorf("plot %s: %v, %d bytes", name, err, len(b))
		}
	}
	if !strings.Contains(progress.String(), "bench "+s.Name) {
		t.Errorf("the progress bar shows %q", progress.String())
	}
	return report
}

// WritesTables runs some works of the quick form and demands that the tables for people say every text of want, and not
// unasked, which is of another work.
func (s Subject) WritesTables(t *testing.T, only, want []string, unasked string) {
	t.Helper()
	var out bytes.Buffer
	o := s.Options(t.TempDir())
	o.Only, o.Out = only, &out
	if err := s.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, text := range want {
		if !strings.Contains(out.String(), text) {
			t.Errorf("there is no %q in\n%s", text, out.String())
		}
	}
	if strings.Contains(out.String(), unasked) {
		t.Errorf("more was measured than was asked for:\n%s", out.String())
	}
}

// EndsWithItsContext ends the context while the bench runs, and demands that it ends with that, writes no findings and
// leaves nothing behind.
func (s Subject) EndsWithItsContext(t *testing.T, quick bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	dir := t.TempDir()
	o := s.Options(dir)
	o.Quick, o.Out, o.Progress, o.Terminal = quick, &out, CancelAfter{cancel}, true
	if err := s.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it ran: %v", err)
	}
	if out.Len() > 0 {
		t.Errorf("findings of half a run: %s", out.Bytes())
	}
	Left(t, dir)
}

// Obstacle is something in a bench's way, and what its error says about that.
type Obstacle struct {
	Put  func(o *harness.Options)
	Says string
}

// SaysWhyItCannotBegin puts each obstacle, besides those that can be in every bench's way, before a run of its own, and
// demands an error about it.
func (s Subject) SaysWhyItCannotBegin(t *testing.T, own map[string]Obstacle) {
	t.Helper()
	obstacles := map[string]Obstacle{
		"no such work":            {func(o *harness.Options) { o.Only = []string{"give"} }, `no work "give"`},
		"no folder for the files": {func(o *harness.Options) { o.Dir = filepath.Join(o.Dir, "missing") }, "missing"},
	}
	maps.Copy(obstacles, own)
	for name, c := range obstacles {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := s.Options(dir)
			c.Put(&o)
			err := s.Run(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), c.Says) ||
				!strings.HasPrefix(err.Error(), "bench "+s.Name+": ") {
				t.Errorf("%v, want something about %q", err, c.Says)
			}
			Left(t, dir)
		})
	}
}

// CheckRows looks whether the rows, each described in a line, are those that are wanted.
func CheckRows(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// CheckAskedOf looks whether just asked is asked of a row of a quick run, and that it is not judged by that.
func CheckAskedOf(t *testing.T, i int, r *measure.Row, asked string) {
	t.Helper()
	if got, _ := r.Get("asked").(string); got != asked {
		t.Errorf("row %d: asked %q, want %q", i, got, asked)
	}
	CheckUnjudged(t, i, r)
}

// CheckUnjudged looks whether a row of a quick run is not judged.
func CheckUnjudged(t *testing.T, i int, r *measure.Row) {
	t.Helper()
	if met := r.Get("met"); met != nil {
		t.Errorf("row %d: a quick run judges: %v", i, met)
	}
}

// CheckPositive looks whether values of a row are there and above 0.
func CheckPositive(t *testing.T, i int, r *measure.Row, names ...string) {
	t.Helper()
	for _, name := range names {
		if v, ok := r.Number(name); !ok || v <= 0 {
			t.Errorf("row %d of %v: %s is %v", i, r.Get("work"), name, r.Get(name))
		}
	}
}

// CheckQuartiles looks whether a ratio lies between its quartiles.
func CheckQuartiles(t *testing.T, i int, r *measure.Row, name string) {
	t.Helper()
	low, _ := r.Number(name + "_q1")
	mid, _ := r.Number(name)
	high, _ := r.Number(name + "_q3")
	if low > mid || mid > high {
		t.Errorf("row %d: the median %v is not between the quartiles %v and %v", i, mid, low, high)
	}
}

// Left fails if anything is in dir.
func Left(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// CancelAfter is a progress bar's place that ends the run when something is first drawn.
type CancelAfter struct{ Cancel func() }

func (c CancelAfter) Write(b []byte) (int, error) {
	c.Cancel()
	return len(b), nil
}

// Or is a value, or nothing to be seen.
func Or(r *measure.Row, name string) any {
	if v := r.Get(name); v != nil {
		return v
	}
	return ""
}

// CheckRow looks for the values that a script counts on, and that they can be true of each other.
func CheckRow(t *testing.T, i int, r *measure.Row) {
	t.Helper()
	switch r.Get("work") {
	case "memory":
		CheckPositive(t, i, r, "depth", "bytes", "rss_mb", "heap_mb", "empty_rss_mb", "message_bytes")
		if n, _ := r.Number("indexes"); n > 0 {
			CheckPositive(t, i, r, "index_bytes")
		}
		return
	case "cleaning-copies":
		CheckPositive(t, i, r, "bytes", "log_mb", "total_mb")
		if v, ok := r.Number("amplification"); !ok || v < 1 {
			t.Errorf("row %d: the amplification is %v", i, r.Get("amplification"))
		}
		return
	}
	value := map[string]float64{}
	for _, name := range []string{"depth", "bytes", "n", "mean_ms", "p50_ms", "p99_ms", "max_ms", "min_ms", "per_s"} {
		v, ok := r.Number(name)
		if !ok || v < 0 {
			t.Errorf("row %d: %s is %v", i, name, r.Get(name))
		}
		value[name] = v
	}
	if value["n"] < 1 || value["per_s"] <= 0 || value["min_ms"] > value["p50_ms"] ||
		value["p50_ms"] > value["p99_ms"] || value["p99_ms"] > value["max_ms"] {
		t.Errorf("row %d: %v", i, value)
	}
	if _, compared := r.Number("ratio"); compared {
		CheckPositive(t, i, r, "ratio", "ratio_q1", "ratio_q3", "rss_mb")
		CheckQuartiles(t, i, r, "ratio")
	}
	if n, _ := r.Number("writers"); r.Get("case") == "hikyaku" && r.Get("work") == "put" && n > 1 {
		CheckPositive(t, i, r, "ratio_lone")
		CheckQuartiles(t, i, r, "ratio_lone")
	}
	if r.Get("work") == "claim-deep" {
		CheckPositive(t, i, r, "look_p50_us", "look_p99_us")
	}
}
