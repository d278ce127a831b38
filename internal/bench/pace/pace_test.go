package pace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/pace"
	"github.com/hikyaku/hikyaku/internal/measure"
	tempo "github.com/hikyaku/hikyaku/pace"
)

func paceBench() benchtest.Subject {
	return benchtest.Subject{Name: "pace", Run: pace.Run,
		With: harness.Options{Pacer: tempo.Child(pace.Players()), Burn: benchtest.Self()}}
}

// TestPaceReportsEveryWayInEveryCondition runs the quick form once and looks at everything it writes but the times.
func TestPaceReportsEveryWayInEveryCondition(t *testing.T) {
	report := paceBench().Reports(t, "idle", "busy", "engine", "drift", "sink", "not-before")
	var got []string
	for i, r := range report.Rows {
		got = append(got, fmt.Sprint(r.Get("work"), " ", r.Get("case"), " ", r.Get("asked")))
		benchtest.CheckUnjudged(t, i, r)
		benchtest.CheckPositive(t, i, r, "n", "max_ms")
		if late, _ := r.Get("quantiles_us").([]any); len(late) < 10 {
			t.Errorf("row %d: nothing to draw: %v", i, r.Get("quantiles_us"))
		}
		if work := r.Get("work"); work == "engine" || work == "spared" {
			benchtest.CheckPositive(t, i, r, "per_s")
		}
		if r.Get("case") == "hikyaku" && r.Get("asked") != nil {
			benchtest.CheckPositive(t, i, r, "cpu_pct")
		}
		for _, name := range []string{"missed", "drift_frames"} {
			if _, ok := r.Number(name); !ok {
				t.Errorf("row %d has no %s", i, name)
			}
		}
	}
	benchtest.CheckRows(t, got, []string{
		"idle sleep <nil>", "idle nanosleep <nil>", "idle spin <nil>",
		"idle hikyaku p99 ms <= 0.05, p50 ms <= 0.005, % of a processor <= 5",
		"busy sleep <nil>", "busy nanosleep <nil>", "busy spin <nil>",
		"busy hikyaku p99 ms <= 0.15, % of a processor <= 5",
		"engine sleep <nil>", "engine nanosleep <nil>", "engine spin <nil>",
		"engine hikyaku p99 ms <= 1, % of a processor <= 5",
		"spared hikyaku p99 ms <= 1, % of a processor <= 5",
		"drift hikyaku drift, frames <= 0.1", "drift sleep <nil>",
		"sink hikyaku <nil>", "sink rate-limit <nil>", "not-before hikyaku <nil>",
	})
	if !slices.ContainsFunc(report.Notes, func(n string) bool { return strings.Contains(n, "own process") }) {
		t.Errorf("the notes do not say what ours stood on: %q", report.Notes)
	}
}

func TestPaceSaysWhatItHadToDoWithout(t *testing.T) {
	var out bytes.Buffer
	o := harness.Options{Quick: true, JSON: true, Out: &out, Dir: t.TempDir(), Only: []string{"idle", "busy"},
		Trials:  2,
		Minutes: 1}
	if err := pace.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var report measure.BenchReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Rows) != 4 || !strings.Contains(strings.Join(report.Notes, "\n"), "no process of its own, timer") ||
		!slices.ContainsFunc(report.Notes,
			func(n string) bool { return strings.HasPrefix(n, "busy was not measured") }) {
		t.Errorf("%d rows, notes %q", len(report.Rows), report.Notes)
	}
}

func TestPaceWritesTables(t *testing.T) {
	paceBench().WritesTables(t, []string{"idle", "drift"}, []string{"How late frames are", "nanosleep", "missed frames",
		"Drift over a long run", "minutes"}, "rate-limit")
}

func TestPaceEndsWithItsContext(t *testing.T) { paceBench().EndsWithItsContext(t, false) }

func TestPaceSaysWhyItCannotBegin(t *testing.T) {
	paceBench().SaysWhyItCannotBegin(t, map[string]benchtest.Obstacle{
		"nobody to calculate": {Put: func(o *harness.Options) {
			o.Only, o.Burn = []string{"busy"},
				[]string{"/nowhere/burn"}
		},
			Says: "/nowhere/burn"},
	})
}

func TestBurnEndsWithItsInput(t *testing.T) {
	in, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- pace.Burn(t.Context(), nil, in, new(bytes.Buffer)) }()
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
