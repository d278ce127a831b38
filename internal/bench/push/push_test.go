package push_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/push"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func pushSubject() benchtest.Subject {
	return benchtest.Subject{Name: "push", Run: push.Run, With: harness.Options{Push: benchtest.Self()}}
}

// TestPushReportsEveryWork runs the quick form once, as far as it needs no Java: test/clients/push runs it with the
// report's senders.
func TestPushReportsEveryWork(t *testing.T) {
	report := pushSubject().Reports(t, "seed")
	var want []string
	load, nghttpd := installed("h2load"), installed("nghttpd")
	if load {
		want = append(want, "limit seed sandbox")
	}
	want = append(want, "hikyaku seed 20")
	if nghttpd {
		want = append(want, "hikyaku steady nghttpd", "go-http steady nghttpd")
		if load {
			want = append(want, "limit steady nghttpd")
		}
	}
	want = append(want, "hikyaku durable 1000", "hikyaku tail 100", "hikyaku tail 100")
	want = append(want, "hikyaku receipts 1000", "hikyaku receipts 1000", "hikyaku receipts 1000",
		"hikyaku receipts 1000", "hikyaku campaign 2000")
	var got []string
	for i, r := range report.Rows {
		line := fmt.Sprint(r.Get("case"), " ", r.Get("work"))
		for _, name := range []string{"server", "messages", "users"} {
			if v := r.Get(name); v != nil {
				line += fmt.Sprint(" ", v)
			}
		}
		got = append(got, line)
		checkPushRow(t, i, r, load)
	}
	benchtest.CheckRows(t, got, want)
	notes := strings.Join(report.Notes, "\n")
	if !strings.Contains(notes, "scripts/need-clients") || strings.Contains(notes, "nghttp2-server") == nghttpd ||
		strings.Contains(notes, "nghttp2-client") == load {
		t.Errorf("what is missing is told as\n%s", notes)
	}
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// checkPushRow looks whether a row has its times, and ours what is asked of it.
func checkPushRow(t *testing.T, i int, r *measure.Row, load bool) {
	t.Helper()
	var positive []string
	asked := ""
	switch work := r.Get("work"); {
	case r.Get("case") == "limit" || r.Get("case") == "go-http":
		positive = []string{"n", "per_s", "cpu_us"}
	case work == "seed":
		positive = []string{"n", "mean_ms", "p50_ms", "p99_ms", "max_ms", "min_ms", "cpu_us"}
		if load {
			positive = append(positive, "bound_mean_ms", "bound_p99_ms", "mean_bound", "p99_bound")
		}
		if failed, _ := r.Number("failed"); failed != 0 {
			t.Errorf("row %d: %v pushes failed", i, failed)
		}
	case work == "steady":
		positive, asked = []string{"n", "per_s", "cpu_us", "rate_http"}, "to go-http >= 4, µs of CPU <= 15"
	case work == "durable":
		positive, asked = []string{"n", "per_s", "cpu_us", "syncs"}, "messages/s >= 30,000"
	case work == "tail" && r.Get("slow") == true:
		positive, asked = []string{"p50_ms", "p99_ms", "p99_even"}, "p99 to even <= 1.05"
	case work == "receipts":
		positive = []string{"n", "per_s", "cpu_us"}
		if r.Get("receipts") == true {
			positive = append(positive, "rate_without", "cpu_without")
			if r.Get("kind") == "campaigning" {
				asked = "rate to without >= 0.85"
			}
		}
	case work == "campaign":
		positive, asked = []string{"n", "per_s", "p50_ms", "p99_ms", "rss_mb"}, "p50 ms <= 60,000, p99 ms <= 90,000"
	}
	for _, name := range positive {
		benchtest.CheckPositive(t, i, r, name)
	}
	benchtest.CheckAskedOf(t, i, r, asked)
}

func TestPushFailsWhenWhatItSaysIsDurableWasNotSynced(t *testing.T) {
	for _, work := range []string{"durable", "receipts"} {
		var out bytes.Buffer
		o := pushSubject().Options(t.TempDir())
		o.Push, o.Only, o.Out = append(benchtest.Self(), unsynced), []string{work}, &out
		if err := push.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "0 syncs: 1 are the least") {
			t.Errorf("%s, without a sync: %v", work, err)
		}
		if out.Len() > 0 {
			t.Errorf("%s has findings:\n%s", work, out.Bytes())
		}
	}
}

// TestPushTellsWhatAMistakeOfTheSenderCosts lets a sender with a wrong topic rest for its half minute.
func TestPushTellsWhatAMistakeOfTheSenderCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("a sender rests for half a minute")
	}
	var out bytes.Buffer
	o := pushSubject().Options(t.TempDir())
	o.Only, o.JSON, o.Out = []string{"mistake"}, true, &out
	if err := push.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var report measure.BenchReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || len(report.Rows) != 1 {
		t.Fatalf("%v in:\n%s", err, out.Bytes())
	}
	r := report.Rows[0]
	benchtest.CheckPositive(t, 0, r, "n", "messages", "refused", "max_ms")
	benchtest.CheckAskedOf(t, 0, r, "refused <= 400, lost <= 0, devices lost <= 0, max ms <= 1,000")
	for name, most := range map[string]float64{"refused": 400, "lost": 0, "dead": 0} {
		if v, ok := r.Number(name); !ok || v > most {
			t.Errorf("%s is %v, of at most %v", name, r.Get(name), most)
		}
	}
}

func TestPushWritesTheReportsTable(t *testing.T) {
	pushSubject().WritesTables(t, []string{"seed"}, []string{"From dequeue to answer", "mean ms", "p99 ms", "min ms",
		"queue messages"}, "through one connection")
}

func TestPushEndsWithItsContextAndCleansUp(t *testing.T) {
	pushSubject().EndsWithItsContext(t, false)
}

func TestPushSaysWhyItCannotBegin(t *testing.T) {
	pushSubject().SaysWhyItCannotBegin(t, map[string]benchtest.Obstacle{
		"no command": {Put: func(o *harness.Options) { o.Push = nil }, Says: "no command"},
		"a command that ends": {Put: func(o *harness.Options) { o.Push = append(benchtest.Self(), "--nonsense") },
			Says: "nonsense"},
	})
	if err := push.Serve(t.Context(), []string{"--kind", "none"}, nil, nil); err == nil ||
		!strings.Contains(err.Error(), `no kind "none"`) {
		t.Errorf("a kind that there is not: %v", err)
	}
}
