package function_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/function"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func functionBench() benchtest.Subject { return benchtest.Subject{Name: "function", Run: function.Run} }

// TestFunctionReportsEveryExperimentAndExplainsIt runs the quick form once and looks at everything it writes but the
// times.
func TestFunctionReportsEveryExperimentAndExplainsIt(t *testing.T) {
	report := functionBench().Reports(t, "pid", "wait", "fib", "cold", "warm", "concurrent", "burst", "traffic")
	var got []string
	var calls []*measure.Row
	for i, r := range report.Rows {
		benchtest.CheckUnjudged(t, i, r)
		if r.Get("call") == nil || r.Get("work") == "burst" {
			got = append(got, strings.ReplaceAll(fmt.Sprint(r.Get("work"), " ", r.Get("case"), " ", r.Get("server"),
				" ", r.Get("asked")), " <nil>", ""))
		} else {
			calls = append(calls, r)
		}
		if text, _ := r.Get("because").(string); text == "" {
			t.Errorf("row %d is not explained: %v", i, r)
		}
	}
	benchtest.CheckRows(t, got, []string{
		"pid reported", "pid spread", "pid warm after the first <= 0", "pid ahead after the first <= 0",
		"stacktrace go", "stacktrace python", "stacktrace node",
		"cold go ms over by hand <= 5, init to by hand <= 1.05, init to by hand >= 0.95",
		"cold go ms over by hand <= 5, init to by hand <= 1.05, init to by hand >= 0.95",
		"cold python ms over by hand <= 5, init to by hand <= 1.05, init to by hand >= 0.95",
		"cold python ms over by hand <= 5, init to by hand <= 1.05, init to by hand >= 0.95",
		"cold node ms over by hand <= 5, init to by hand <= 1.05, init to by hand >= 0.95",
		"cold node ms over by hand <= 5, init to by hand <= 1.05, init to by hand >= 0.95",
		"warm go pool", "warm go door p99 ms <= 1", "warm python pool", "warm python door", "warm node pool",
		"warm node door",
		"concurrent go pool", "concurrent go pool", "concurrent go door messages/s >= 8,000",
		"burst spread", "burst spread", "burst warm", "burst warm", "burst ahead", "burst ahead", "burst provisioned",
		"burst provisioned",
		"traffic spread", "traffic warm to spread <= 0.1", "traffic ahead to spread <= 0.1",
		"instances go RSS MB <= 40",
	})
	checkPids(t, calls)
	checkWaits(t, calls)
}

// checkPids demands of the twelve calls that two machines have an instance each, with the report's own counts in its
// order, and that the one that was used last needs no other.
func checkPids(t *testing.T, calls []*measure.Row) {
	t.Helper()
	counts, names := map[string][]string{}, map[string]map[string]bool{"reported": {}, "spread": {}, "warm": {},
		"ahead": {}}
	for _, r := range calls {
		if r.Get("work") != "pid" {
			continue
		}
		policy := fmt.Sprint(r.Get("case"))
		counts[policy] = append(counts[policy], fmt.Sprint(r.Get("count")))
		names[policy][fmt.Sprint(r.Get("name"))] = true
	}
	for policy, want := range map[string]string{
		"reported": "1 2 1 2 3 4 5 3 4 5 6 7", "spread": "1 1 2 2 3 3 4 4 5 5 6 6",
		"warm": "1 2 3 4 5 6 7 8 9 10 11 12", "ahead": "1 2 3 4 5 6 7 8 9 10 11 12",
	} {
		if got := strings.Join(counts[policy], " "); got != want {
			t.Errorf("%s: the counters are %s, want %s", policy, got, want)
		}
	}
	if len(names["reported"]) != 2 || len(names["spread"]) != 2 || len(names["warm"]) != 1 || len(names["ahead"]) != 1 {
		t.Errorf("the instances are %v", names)
	}
}

// checkWaits demands what the report found of work in the start.
func checkWaits(t *testing.T, calls []*measure.Row) {
	t.Helper()
	said := map[string]string{}
	for _, r := range calls {
		said[fmt.Sprint(r.Get("work"), " ", r.Get("call"))] = fmt.Sprint(r.Get("because"))
		if r.Get("work") == "wait1" {
			benchtest.CheckPositive(t, 0, r, "after_ms", "billed_ms")
		}
	}
	for call, want := range map[string]string{
		"wait1 1": "the handler rests", "wait1 3": "the handler rests again",
		"wait2 1": "done again inside the invocation", "wait2 2": "is warm",
		"wait2 3": "done again inside the invocation", "wait3 2": "is warm",
	} {
		if !strings.Contains(said[call], want) {
			t.Errorf("%s: %q does not say %q", call, said[call], want)
		}
	}
}

func TestFunctionWritesTables(t *testing.T) {
	functionBench().WritesTables(t, []string{"pid", "burst"},
		[]string{"Twelve calls one after the other", "it is the turn of machine 2", "Bursts", "cold starts"},
		"Callers at once")
}

// A quick run reckons a smaller number than the report's, and says which.
func TestFunctionNamesTheNumberThatItReckons(t *testing.T) {
	functionBench().WritesTables(t, []string{"fib"}, []string{"Fibonacci number", " 20 "}, " 38 ")
}

func TestFunctionMeasuresInAFolderWithARelativeName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("here", 0o700); err != nil {
		t.Fatal(err)
	}
	o := functionBench().Options("here")
	o.Only = []string{"cold"}
	if err := functionBench().Run(t.Context(), o); err != nil {
		t.Error(err)
	}
}

func TestFunctionEndsWithItsContext(t *testing.T) { functionBench().EndsWithItsContext(t, false) }

func TestFunctionSaysWhyItCannotBegin(t *testing.T) {
	functionBench().SaysWhyItCannotBegin(t, map[string]benchtest.Obstacle{
		"an emulator that is none": {Put: func(o *harness.Options) {
			o.Only, o.RIE = []string{"warm"},
				"emulator:8080"
		},
			Says: "http://host:port"},
	})
}
