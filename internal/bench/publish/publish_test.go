package publish_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/publish"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func publishSubject() benchtest.Subject {
	return benchtest.Subject{Name: "publish", Run: publish.Run, With: harness.Options{PubSub: benchtest.Self()}}
}

// TestPublishReportsEveryWorkBesideGoogles runs the quick form once and looks at everything it writes but the speeds.
func TestPublishReportsEveryWorkBesideGoogles(t *testing.T) {
	report := publishSubject().Reports(t, "lone", "burst", "poisson", "requests", "flat-out")
	four := []string{"hikyaku", "sdk-default", "sdk-count", "raw"}
	var want []string
	expect := func(about string, cases ...string) {
		for _, c := range cases {
			want = append(want, c+" "+about)
		}
	}
	for _, how := range []string{"instant 0 new", "instant 0 kept", "instant 5 new", "instant 5 kept"} {
		expect("lone "+how, four...)
	}
	expect("lone hikyaku 0 kept", append(four, "limit")...)
	for _, how := range []string{"0 2", "0 100", "5 2", "5 100"} {
		expect("burst instant "+how, four...)
	}
	expect("burst hikyaku 0 2", four...)
	expect("burst hikyaku 0 100", four...)
	for _, trip := range []string{"0", "5"} {
		expect("poisson instant "+trip+" 1000", "hikyaku", "sdk-default", "sdk-count", "sdk-count", "sdk-count")
	}
	expect("poisson hikyaku 0 1000", "hikyaku", "sdk-default", "sdk-count", "sdk-count", "sdk-count")
	for _, server := range []string{"instant", "pstest", "hikyaku"} {
		expect("flat-out "+server+" 0", four...)
	}
	expect("stream hikyaku 0", "hikyaku")
	expect("stream pstest 0", "pstest")
	var got []string
	for i, r := range report.Rows {
		line := fmt.Sprint(r.Get("case"), " ", r.Get("work"), " ", r.Get("server"), " ", r.Get("rtt_ms"))
		for _, name := range []string{"publisher", "burst", "rate"} {
			if v := r.Get(name); v != nil {
				line += fmt.Sprint(" ", v)
			}
		}
		got = append(got, line)
		checkPublishRow(t, i, r)
	}
	benchtest.CheckRows(t, got, want)
}

// checkPublishRow looks whether a row has its times, and ours what it is compared with and what is asked of it.
func checkPublishRow(t *testing.T, i int, r *measure.Row) {
	t.Helper()
	positive := []string{"n", "per_s"}
	asked := ""
	ours, durable := r.Get("case") == "hikyaku", r.Get("server") == "hikyaku"
	if durable && r.Get("case") != "limit" && r.Get("work") != "stream" {
		positive = append(positive, "syncs")
	}
	switch work := r.Get("work"); {
	case work == "lone" && ours:
		positive = append(positive, "p50_ms", "p99_ms", "ratio_default", "ratio_count", "ratio_raw")
		if trip, _ := r.Number("rtt_ms"); trip == 0 {
			asked = "p50 to raw <= 1.25, p50 to default <= 0.0334"
		}
		if durable {
			positive, asked = append(positive, "ratio_limit"), "p50 to limit <= 1.25, p50 to default <= 0.0334"
		}
	case work == "burst" && ours:
		positive = append(positive, "ratio_count", "per_request")
		if !durable {
			asked = "p50 to count <= 1"
		}
	case work == "poisson" && ours:
		positive = append(positive, "ratio_best", "ratio_requests", "per_request")
		if !durable {
			asked = "p50 to best <= 1.05"
		}
	case work == "flat-out" && ours:
		positive = append(positive, "rate_default", "rate_count", "rate_raw", "per_request")
		if durable {
			asked = "messages/s >= 150,000"
		}
	case work == "stream" && ours:
		positive, asked = append(positive, "rate_pstest"), "to pstest >= 0.9"
	}
	for _, name := range positive {
		benchtest.CheckPositive(t, i, r, name)
	}
	benchtest.CheckAskedOf(t, i, r, asked)
}

func TestPublishWritesTablesForPeople(t *testing.T) {
	publishSubject().WritesTables(t, []string{"burst"}, []string{"Bursts: the time of the last message", "a request",
		"sdk-count", "p50 to count"}, "Flat out")
}

func TestPublishFailsWhenWhatItSaysIsDurableWasNotSynced(t *testing.T) {
	for _, work := range []string{"lone", "burst", "poisson", "flat-out"} {
		var out bytes.Buffer
		o := publishSubject().Options(t.TempDir())
		o.PubSub, o.Only, o.Out = append(benchtest.Self(), forgetful), []string{work}, &out
		err := publish.Run(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), "says that what") || !strings.Contains(err.Error(), "durable") {
			t.Errorf("%s, on a server that syncs nothing: %v", work, err)
		}
		if out.Len() > 0 {
			t.Errorf("%s has findings:\n%s", work, out.Bytes())
		}
	}
}

func TestPublishEndsWithItsContextAndCleansUp(t *testing.T) {
	publishSubject().EndsWithItsContext(t, false)
}

func TestPublishSaysWhyItCannotBegin(t *testing.T) {
	publishSubject().SaysWhyItCannotBegin(t, map[string]benchtest.Obstacle{
		"no command": {Put: func(o *harness.Options) { o.PubSub = nil }, Says: "no command"},
		"a command that ends": {Put: func(o *harness.Options) { o.PubSub = append(benchtest.Self(), "--nonsense") },
			Says: "nonsense"},
	})
	if err := publish.Serve(t.Context(), []string{"--kind", "none"}, nil, nil); err == nil ||
		!strings.Contains(err.Error(), `no server "none"`) {
		t.Errorf("a server that there is not: %v", err)
	}
}
