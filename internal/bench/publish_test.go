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

func publishOptions(dir string) bench.Options {
	return bench.Options{Quick: true, Dir: dir, PubSub: []string{os.Args[0], pubsubServer}}
}

// TestPublishReportsEveryWorkBesideGoogles runs the quick form once and looks at everything it writes but the speeds.
func TestPublishReportsEveryWorkBesideGoogles(t *testing.T) {
	var out, progress bytes.Buffer
	dir, plots := t.TempDir(), filepath.Join(t.TempDir(), "plots")
	o := publishOptions(dir)
	o.JSON, o.Plots, o.Out, o.Progress, o.Terminal = true, plots, &out, &progress, true
	if err := bench.Publish(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var report measure.BenchReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v in:\n%s", err, out.Bytes())
	}
	four := []string{"hikyaku", "sdk-default", "sdk-count", "raw"}
	var want []string
	expect := func(about string, cases ...string) {
		for _, c := range cases {
			want = append(want, c+" "+about)
		}
	}
	for _, how := range []string{"instant 0 new", "instant 0 kept", "instant 5 new", "instant 5 kept", "hikyaku 0 kept"} {
		expect("lone "+how, four...)
	}
	for _, how := range []string{"0 2", "0 100", "5 2", "5 100"} {
		expect("burst instant "+how, four...)
	}
	for _, trip := range []string{"0", "5"} {
		expect("poisson instant "+trip+" 1000", "hikyaku", "sdk-default", "sdk-count", "sdk-count", "sdk-count")
	}
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
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	left(t, dir)
	for _, name := range []string{"lone", "burst", "poisson", "requests", "flat-out"} {
		b, err := os.ReadFile(filepath.Join(plots, "publish-"+name+".svg"))
		if err != nil || !bytes.HasPrefix(bytes.TrimSpace(b), []byte("<")) {
			t.Errorf("plot %s: %v, %d bytes", name, err, len(b))
		}
	}
	if !strings.Contains(progress.String(), "bench publish") {
		t.Errorf("the progress bar shows %q", progress.String())
	}
}

// checkPublishRow looks whether a row has its times, and ours what it is compared with and what is asked of it.
func checkPublishRow(t *testing.T, i int, r *measure.Row) {
	t.Helper()
	positive := []string{"n", "per_s"}
	asked := ""
	ours := r.Get("case") == "hikyaku"
	switch work := r.Get("work"); {
	case work == "lone" && ours:
		positive = append(positive, "p50_ms", "p99_ms", "ratio_default", "ratio_count", "ratio_raw")
		if trip, _ := r.Number("rtt_ms"); trip == 0 {
			asked = "p50 to raw <= 1.25"
			if r.Get("server") == "instant" {
				asked += ", p50 to default <= 0.0334"
			}
		}
	case work == "burst" && ours:
		positive, asked = append(positive, "ratio_count", "per_request"), "p50 to count <= 1"
	case work == "poisson" && ours:
		positive, asked = append(positive, "ratio_best", "ratio_requests", "per_request"), "p50 to best <= 1.05"
	case work == "flat-out" && ours:
		positive = append(positive, "rate_default", "rate_count", "rate_raw", "per_request")
		if r.Get("server") == "hikyaku" {
			asked = "messages/s >= 150,000"
		}
	case work == "stream" && ours:
		positive, asked = append(positive, "rate_pstest"), "to pstest >= 0.9"
	}
	for _, name := range positive {
		checkPositive(t, i, r, name)
	}
	if got, _ := r.Get("asked").(string); got != asked {
		t.Errorf("row %d: asked %q, want %q", i, got, asked)
	}
	if met := r.Get("met"); met != nil {
		t.Errorf("row %d: a quick run judges: %v", i, met)
	}
}

func TestPublishWritesTablesForPeople(t *testing.T) {
	var out bytes.Buffer
	o := publishOptions(t.TempDir())
	o.Only, o.Out = []string{"burst"}, &out
	if err := bench.Publish(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Bursts: the time of the last message", "a request", "sdk-count", "p50 to count"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "Flat out") {
		t.Errorf("more was measured than was asked for:\n%s", out.String())
	}
}

func TestPublishEndsWithItsContextAndCleansUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	o := publishOptions(dir)
	o.Quick, o.Progress, o.Terminal = false, cancelAfter{cancel}, true
	if err := bench.Publish(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it ran: %v", err)
	}
	left(t, dir)
}

func TestPublishSaysWhyItCannotBegin(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *bench.Options)
		says   string
	}{
		"no such work":            {func(o *bench.Options) { o.Only = []string{"give"} }, `no work "give"`},
		"no command":              {func(o *bench.Options) { o.PubSub = nil }, "no command"},
		"a command that ends":     {func(o *bench.Options) { o.PubSub = []string{os.Args[0], pubsubServer, "--nonsense"} }, "nonsense"},
		"no folder for the files": {func(o *bench.Options) { o.Dir = filepath.Join(o.Dir, "missing") }, "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := publishOptions(dir)
			c.change(&o)
			err := bench.Publish(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "bench publish: ") {
				t.Errorf("%v, want something about %q", err, c.says)
			}
			left(t, dir)
		})
	}
	if err := bench.ServePublish(t.Context(), []string{"--kind", "none"}, nil, nil); err == nil || !strings.Contains(err.Error(), `no server "none"`) {
		t.Errorf("a server that there is not: %v", err)
	}
}
