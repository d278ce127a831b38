package flow_test

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

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/flow"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// TestFlowReportsEveryProgramBesideItsIdeal runs the quick form once and looks at everything it writes but the speeds.
func TestFlowReportsEveryProgramBesideItsIdeal(t *testing.T) {
	var out, log bytes.Buffer
	dir, plots := t.TempDir(), filepath.Join(t.TempDir(), "plots")
	if err := flow.Run(t.Context(), harness.Options{Quick: true, JSON: true, Dir: dir, Plots: plots, Out: &out,
		Log: &log}); err != nil {
		t.Fatal(err)
	}
	var report measure.BenchReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v in:\n%s", err, out.Bytes())
	}
	var got []string
	for i, r := range report.Rows {
		got = append(got, fmt.Sprint(r.Get("case"), " ", r.Get("work"), " ", r.Get("asked")))
		if r.Get("met") != nil {
			t.Errorf("row %d: a quick run judges: %v", i, r.Get("met"))
		}
		if r.Get("work") == "overhead" {
			benchtest.CheckPositive(t, i, r, "writers", "item_ns", "per_s")
			continue
		}
		benchtest.CheckPositive(t, i, r, "total_ms", "ideal_ms", "ratio_ideal")
		if r.Get("work") != "students" {
			benchtest.CheckPositive(t, i, r, "users", "writers", "ratio_sequence")
			continue
		}
		benchtest.CheckPositive(t, i, r, "report_ms", "workers")
		if ratio, _ := r.Number("ratio_ideal"); ratio < 1 {
			t.Errorf("row %d: in %v of the time that waiting takes", i, ratio)
		}
	}
	want := []string{
		"non-blocking students total ms <= 178.5", "single students total ms <= 178.5",
		"sequence students total ms <= 909",
		"elastic students total ms <= 178.5", "parallel-4 students total ms <= 245",
		"one-by-one users-sqlite <nil>", "one-by-one-concurrent users-sqlite <nil>",
		"loader-callers users-sqlite <nil>", "loader users-sqlite <nil>", "join users-sqlite <nil>",
		"hikyaku overhead ratio <= 1.2", "channels overhead <nil>",
	}
	if report.Bench != "flow" || !slices.Equal(got, want) {
		t.Errorf("rows of %s\n%s\nwant\n%s", report.Bench, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	benchtest.CheckQuartiles(t, 10, report.Rows[10], "ratio")
	if len(report.Notes) != 2 || !strings.Contains(report.Notes[0], "SQLite 3") ||
		!strings.Contains(report.Notes[1], "--postgres") {
		t.Errorf("the notes do not tell what was left out: %q", report.Notes)
	}
	if b, err := os.ReadFile(filepath.Join(plots, "flow-students.svg")); err != nil ||
		!bytes.Contains(b, []byte("elastic")) {
		t.Errorf("the picture: %v, %d bytes", err, len(b))
	}
	checkFlowLog(t, log.String())
	benchtest.Left(t, dir)
}

// checkFlowLog looks for the field report's names, and for as many items as there are.
func checkFlowLog(t *testing.T, log string) {
	t.Helper()
	for text, times := range map[string]int{
		"fetchStudents - onSubscribe": 5, "fetchStudents - onNext": 5 * 30, "fetchStudents - onComplete()": 5,
		"fetchScores - request(unbounded)": 5 * 30, "fetchScores - onNext": 5 * 150,
		"fetchScores - onComplete()": 5 * 30,
		"onNext(17 数学 90)":           5, "[main] INFO  fetchScores - onNext": 150,
		"[single-1] INFO  fetchScores - onNext": 150,
		"request(256)":                          4,
	} {
		if n := strings.Count(log, text); n != times {
			t.Errorf("the log says %q %d times, want %d", text, n, times)
		}
	}
	for _, text := range []string{"# sequence\n", "[elastic-1] INFO  fetchStudents - onNext(1 Muto)", "[parallel-1]"} {
		if !strings.Contains(log, text) {
			t.Errorf("the log does not say %q", text)
		}
	}
}

func TestFlowWritesTablesForPeople(t *testing.T) {
	var out bytes.Buffer
	if err := flow.Run(t.Context(), harness.Options{Quick: true, Only: []string{"students"}, Out: &out}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"Thirty students": true, "published ms": true, "parallel-4": true,
		"ns an item": false} {
		if strings.Contains(out.String(), text) != want {
			t.Errorf("the report says %q: %v\n%s", text, !want, out.String())
		}
	}
}

func TestFlowEndsWithItsContext(t *testing.T) {
	for _, work := range []string{"students", "overhead"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		var out bytes.Buffer
		o := harness.Options{Only: []string{work}, Out: &out,
			Progress: benchtest.CancelAfter{Cancel: func() { cancel(stop) }},
			Terminal: true}
		if err := flow.Run(ctx, o); !errors.Is(err, stop) {
			t.Errorf("%s: cancelled while it ran: %v", work, err)
		}
		if out.Len() > 0 {
			t.Errorf("%s: findings of half a run: %s", work, out.Bytes())
		}
		cancel(nil)
	}
}

func TestFlowSaysWhyItCannotBegin(t *testing.T) {
	for says, o := range map[string]harness.Options{
		`no work "give"`:      {Quick: true, Only: []string{"give"}},
		"PostgreSQL: connect": {Quick: true, Only: []string{"users-postgres"}, Postgres: "postgres://x@127.0.0.1:1/x"},
		"write the log":       {Quick: true, Only: []string{"students"}, Log: refusesAll{}},
	} {
		if err := flow.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), says) ||
			!strings.HasPrefix(err.Error(), "bench flow: ") {
			t.Errorf("%v, want something about %q", err, says)
		}
	}
}

type refusesAll struct{}

func (refusesAll) Write([]byte) (int, error) { return 0, errors.New("no room") }
