package sink_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/sink"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func sinkSubject() benchtest.Subject {
	return benchtest.Subject{Name: "sink", Run: sink.Run, With: harness.Options{Sink: benchtest.Self()}}
}

// TestSinkReportsEveryScenario runs the quick form of the full plan once, into SQLite, which needs no server.
func TestSinkReportsEveryScenario(t *testing.T) {
	s := sinkSubject()
	s.With.Plan = sink.PlanFull
	report := s.Reports(t, "rates", "parallel", "columns", "matrix", "long", "layers")
	var got []string
	windows := 0
	for i, r := range report.Rows {
		if at, ok := r.Number("at_s"); ok {
			if windows++; at <= 0 {
				t.Errorf("row %d: a moment %v s after the start", i, at)
			}
			continue
		}
		if r.Get("busy") != nil {
			benchtest.CheckPositive(t, i, r, "cpu_us")
			continue // how many layers take a share of so short a time is chance
		}
		line := fmt.Sprint(r.Get("case"), " ", r.Get("work"))
		for _, name := range []string{"types", "couriers", "client", "layer", "asked"} {
			if v := r.Get(name); v != nil {
				line += fmt.Sprint(" ", v)
			}
		}
		got = append(got, line)
		checkSinkRow(t, i, r)
	}
	if windows == 0 {
		t.Error("the long run tells of no moment")
	}
	benchtest.CheckRows(t, got, []string{
		"hikyaku baseline_cols1_p1_r10k", "insert-each baseline_cols1_p1_r10k",
		"hikyaku rate_scaling_cols10_p4_r100", "hikyaku rate_scaling_cols10_p4_r1000",
		"hikyaku rate_scaling_cols10_p4_r10000", "insert-each rate_scaling_cols10_p4_r10000",
		"hikyaku rate_scaling_cols10_default_r10000 messages/s >= 9,900, p99 ms from due <= 100",
		"hikyaku parallel_scaling_cols10_p4_r100000", "insert-each parallel_scaling_cols10_p4_r100000",
		"hikyaku parallel_scaling_cols10_adaptive_r100000 to the best >= 0.9",
		"hikyaku column_scaling_cols10_p4_r100000", "insert-each column_scaling_cols10_p4_r100000",
		"hikyaku column_scaling_cols100_p4_r100000 cells to 10 columns >= 1",
		"insert-each column_scaling_cols100_p4_r100000",
		"hikyaku bare_cols10 to bare >= 0.8", "hikyaku bare_cols10 id_column", "nothing bare_cols10",
		"bare bare_cols10 one transaction of prepared INSERTs",
		"hikyaku matrix",
		"hikyaku types DOUBLE", "hikyaku types all", "hikyaku types DOUBLE", "hikyaku types all",
		"hikyaku long",
		"hikyaku split 1", "hikyaku split 2",
		"nothing layers up to read", "nothing layers up to read, decode, batch", "hikyaku layers whole",
	})
	if !slices.ContainsFunc(report.Notes, func(n string) bool { return strings.Contains(n, "retries") }) {
		t.Errorf("the notes do not tell what was left out: %q", report.Notes)
	}
}

// checkSinkRow looks whether a row has its figures, and that nothing was lost.
func checkSinkRow(t *testing.T, i int, r *measure.Row) {
	t.Helper()
	positive := []string{"events", "per_s", "columns"}
	if r.Get("case") != "bare" {
		positive = append(positive, "cpu_us", "batch", "batch_max")
		if r.Get("work") != "long" {
			positive = append(positive, "mean_ms", "p95_ms", "p99_ms", "max_ms")
			if r.Get("offered_per_s") != nil {
				positive = append(positive, "due_p99_ms")
			}
		}
	}
	for _, name := range positive {
		benchtest.CheckPositive(t, i, r, name)
	}
	events, _ := r.Number("events")
	if rows, ok := r.Number("rows_in_table"); rows != events && (ok || r.Get("case") != "nothing") {
		t.Errorf("row %d: %v events and %v rows", i, events, rows)
	}
	benchtest.CheckUnjudged(t, i, r)
}

// TestSinkIntoTsurugiCountsWhatTheServerIsAsked runs what is particular to the server for tests: what is counted there,
// kinds of transaction and conflicts.
func TestSinkIntoTsurugiCountsWhatTheServerIsAsked(t *testing.T) {
	s := sinkSubject()
	s.With.To, s.With.Only = "tsurugi", []string{"bare", "matrix"}
	report := s.Reports(t, "matrix")
	var got []string
	for i, r := range report.Rows {
		checkSinkRow(t, i, r)
		if r.Get("case") != "nothing" {
			benchtest.CheckPositive(t, i, r, "per_statement", "bytes_row", "waits_row")
		}
		got = append(got, fmt.Sprint(r.Get("work"), " ", r.Get("transaction"), " ", r.Get("conflicts"), " ",
			r.Get("asked")))
	}
	benchtest.CheckRows(t, got, []string{
		"bare_cols10 <nil> <nil> rows a statement >= 100, µs of the sink <= 5", "bare_cols10 <nil> <nil> <nil>",
		"bare_cols10 <nil> <nil> <nil>",
		"matrix occ <nil> <nil>", "matrix ltx <nil> <nil>", "matrix occ 10 of 1,000 <nil>",
		"matrix occ 100 of 1,000 <nil>", "matrix occ 700 of 1,000 <nil>",
	})
	if len(report.Notes) == 0 || !strings.Contains(report.Notes[0], "not measured against a real server") {
		t.Errorf("the notes do not say what was not measured: %q", report.Notes)
	}
}

func TestSinkWritesTheReportsTables(t *testing.T) {
	sinkSubject().WritesTables(t, []string{"baseline"}, []string{"One column", "offered/s", "p95 ms", "rows in table",
		"an INSERT each/s", "baseline_cols1_p1_r10k"}, "Columns\n")
}

func TestSinkEndsWithItsContextAndCleansUp(t *testing.T) {
	sinkSubject().EndsWithItsContext(t, false)
}

func TestSinkSaysWhyItCannotBegin(t *testing.T) {
	sinkSubject().SaysWhyItCannotBegin(t, map[string]benchtest.Obstacle{
		"no command": {Put: func(o *harness.Options) { o.Sink = nil }, Says: "no command"},
		"a command that ends": {Put: func(o *harness.Options) { o.Sink = append(benchtest.Self(), "--nonsense") },
			Says: "nonsense"},
		"no such database": {Put: func(o *harness.Options) { o.To = "db3" }, Says: `no sink "db3"`},
		"no such plan":     {Put: func(o *harness.Options) { o.Plan = "half" }, Says: `no plan "half"`},
		"no PostgreSQL":    {Put: func(o *harness.Options) { o.To = "postgres" }, Says: "--postgres postgres://"},
		"no MySQL":         {Put: func(o *harness.Options) { o.To = "mysql" }, Says: "--mysql user:"},
		"no database": {Put: func(o *harness.Options) { o.To, o.MySQL = "mysql", "x@tcp(127.0.0.1:1)/" },
			Says: "names no database"},
		"nobody there": {Put: func(o *harness.Options) { o.To, o.Postgres = "postgres", "postgres://x@127.0.0.1:1/x" },
			Says: "PostgreSQL: connect"},
	})
	if err := sink.Serve(t.Context(), []string{"--kind", "none"}, nil, nil); err == nil ||
		!strings.Contains(err.Error(), `no kind "none"`) {
		t.Errorf("a kind that there is not: %v", err)
	}
}
