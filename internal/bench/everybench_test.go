package bench_test

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

	"github.com/hikyaku/hikyaku/internal/bench"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// subject is a bench under test; its methods test what every bench promises.
type subject struct {
	name string
	run  func(ctx context.Context, o bench.Options) error
	with bench.Options // what the bench needs to run at all
}

// options are those of the quick form in a folder.
func (s subject) options(dir string) bench.Options {
	o := s.with
	o.Quick, o.Dir = true, dir
	return o
}

// reports runs the quick form, demands that it draws the plots and its progress and leaves nothing else behind, and
// returns what it reports.
func (s subject) reports(t *testing.T, plots ...string) measure.BenchReport {
	t.Helper()
	var out, progress bytes.Buffer
	dir, drawn := t.TempDir(), filepath.Join(t.TempDir(), "plots")
	o := s.options(dir)
	o.JSON, o.Plots, o.Out, o.Progress, o.Terminal = true, drawn, &out, &progress, true
	if err := s.run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var report measure.BenchReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v in:\n%s", err, out.Bytes())
	}
	if report.Bench != s.name || report.Machine.CPUs == 0 {
		t.Errorf("the report is of bench %q on %+v", report.Bench, report.Machine)
	}
	left(t, dir)
	for _, name := range plots {
		b, err := os.ReadFile(filepath.Join(drawn, s.name+"-"+name+".svg"))
		if err != nil || !bytes.HasPrefix(bytes.TrimSpace(b), []byte("<")) {
			t.Errorf("plot %s: %v, %d bytes", name, err, len(b))
		}
	}
	if !strings.Contains(progress.String(), "bench "+s.name) {
		t.Errorf("the progress bar shows %q", progress.String())
	}
	return report
}

// writesTables runs some works of the quick form and demands that the tables for people say every text of want, and not
// unasked, which is of another work.
func (s subject) writesTables(t *testing.T, only, want []string, unasked string) {
	t.Helper()
	var out bytes.Buffer
	o := s.options(t.TempDir())
	o.Only, o.Out = only, &out
	if err := s.run(t.Context(), o); err != nil {
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

// endsWithItsContext ends the context while the bench runs, and demands that it ends with that, writes no findings and
// leaves nothing behind.
func (s subject) endsWithItsContext(t *testing.T, quick bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	dir := t.TempDir()
	o := s.options(dir)
	o.Quick, o.Out, o.Progress, o.Terminal = quick, &out, cancelAfter{cancel}, true
	if err := s.run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it ran: %v", err)
	}
	if out.Len() > 0 {
		t.Errorf("findings of half a run: %s", out.Bytes())
	}
	left(t, dir)
}

// obstacle is something in a bench's way, and what its error says about that.
type obstacle struct {
	put  func(o *bench.Options)
	says string
}

// saysWhyItCannotBegin puts each obstacle, besides those that can be in every bench's way, before a run of its own, and
// demands an error about it.
func (s subject) saysWhyItCannotBegin(t *testing.T, own map[string]obstacle) {
	t.Helper()
	obstacles := map[string]obstacle{
		"no such work":            {func(o *bench.Options) { o.Only = []string{"give"} }, `no work "give"`},
		"no folder for the files": {func(o *bench.Options) { o.Dir = filepath.Join(o.Dir, "missing") }, "missing"},
	}
	maps.Copy(obstacles, own)
	for name, c := range obstacles {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := s.options(dir)
			c.put(&o)
			err := s.run(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), c.says) ||
				!strings.HasPrefix(err.Error(), "bench "+s.name+": ") {
				t.Errorf("%v, want something about %q", err, c.says)
			}
			left(t, dir)
		})
	}
}

// checkRows looks whether the rows, each described in a line, are those that are wanted.
func checkRows(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkAskedOf looks whether just asked is asked of a row of a quick run, and that it is not judged by that.
func checkAskedOf(t *testing.T, i int, r *measure.Row, asked string) {
	t.Helper()
	if got, _ := r.Get("asked").(string); got != asked {
		t.Errorf("row %d: asked %q, want %q", i, got, asked)
	}
	checkUnjudged(t, i, r)
}

func checkUnjudged(t *testing.T, i int, r *measure.Row) {
	t.Helper()
	if met := r.Get("met"); met != nil {
		t.Errorf("row %d: a quick run judges: %v", i, met)
	}
}

func checkPositive(t *testing.T, i int, r *measure.Row, names ...string) {
	t.Helper()
	for _, name := range names {
		if v, ok := r.Number(name); !ok || v <= 0 {
			t.Errorf("row %d of %v: %s is %v", i, r.Get("work"), name, r.Get(name))
		}
	}
}

func checkQuartiles(t *testing.T, i int, r *measure.Row, name string) {
	t.Helper()
	low, _ := r.Number(name + "_q1")
	mid, _ := r.Number(name)
	high, _ := r.Number(name + "_q3")
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
	switch r.Get("work") {
	case "memory":
		checkPositive(t, i, r, "depth", "bytes", "rss_mb", "heap_mb", "empty_rss_mb", "message_bytes")
		if n, _ := r.Number("indexes"); n > 0 {
			checkPositive(t, i, r, "index_bytes")
		}
		return
	case "cleaning-copies":
		checkPositive(t, i, r, "bytes", "log_mb", "total_mb")
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
		checkPositive(t, i, r, "ratio", "ratio_q1", "ratio_q3", "rss_mb")
		checkQuartiles(t, i, r, "ratio")
	}
	if n, _ := r.Number("writers"); r.Get("case") == "hikyaku" && r.Get("work") == "put" && n > 1 {
		checkPositive(t, i, r, "ratio_lone")
		checkQuartiles(t, i, r, "ratio_lone")
	}
	if r.Get("work") == "claim-deep" {
		checkPositive(t, i, r, "look_p50_us", "look_p99_us")
	}
}
