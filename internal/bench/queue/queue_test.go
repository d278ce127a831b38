package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/queue"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func queueSubject() benchtest.Subject {
	return benchtest.Subject{Name: "queue", Run: queue.Run, With: harness.Options{Occupant: benchtest.Self()}}
}

// TestQueueReportsEveryWorkBesideItsLimit runs the quick form once and looks at everything it writes but the speeds.
func TestQueueReportsEveryWorkBesideItsLimit(t *testing.T) {
	report := queueSubject().Reports(t, "rates", "claims", "latencies", "depth", "hand-over", "restart", "memory",
		"cleaning")
	var got []string
	for _, r := range report.Rows {
		got = append(got, strings.Join(strings.Fields(fmt.Sprint(r.Get("case"), " ", r.Get("work"), " ",
			benchtest.Or(r, "writers"), " ", benchtest.Or(r, "condition"), " ", benchtest.Or(r, "matching"), " ",
			benchtest.Or(r, "start"))), " "))
	}
	var want []string
	for _, w := range [...]struct{ work, peer string }{
		{"put 1", "limit"}, {"put 16", "limit lone"}, {"put 64", "limit lone"}, {"put 256", "limit lone"},
		{"put-group 1", "limit"}, {"put-pipelined 16", "bandwidth"},
		{"claim 1", "limit"}, {"claim 16", "limit"},
		{"claim-where 1 same", "limit"}, {"claim-where 1 same", "limit"}, {"claim-where 1 new", "limit"},
		{"claim-where 1 new", "limit"},
		{"claim-deep 1 0 %", "hikyaku"}, {"claim-deep 1 0.1 %", "hikyaku"}, {"claim-deep 1 50 %", "hikyaku"},
		{"claim-deep 1 100 %", "hikyaku"},
		{"hand-over 1", "hikyaku"},
		{"beside 1", "limit"}, {"beside 1", "limit"}, {"beside 1", "limit"}, {"beside 1", "limit"},
		{"beside 1", "limit"}, {"beside 1", "limit"}, {"beside 1", "limit"}, {"beside 1", "limit"},
		{"shards 64", "hikyaku"}, {"shards 64", "hikyaku"}, {"relay 4", "hikyaku"},
		{"restart clean", "limit"}, {"restart clean, cold", "limit"}, {"restart clean", "limit"},
		{"restart clean, cold", "limit"}, {"restart killed", "limit"},
		{"memory", ""}, {"memory", ""},
		{"cleaning 1", "copier"}, {"cleaning-copies 1", ""}, {"cleaning-drain 4", "limit"},
		{"cleaning 16", "copier"}, {"cleaning-copies 16", ""}, {"cleaning-drain 4", "limit"},
	} {
		want = append(want, "hikyaku "+w.work)
		for _, peer := range strings.Fields(w.peer) {
			want = append(want, peer+" "+w.work)
		}
	}
	for _, n := range report.Notes {
		if strings.Contains(n, "cold") { // then there is nothing cold here
			want = slices.DeleteFunc(want, func(s string) bool {
				return strings.Contains(s, "cold") ||
					strings.Contains(s, "drain")
			})
		}
	}
	benchtest.CheckRows(t, got, want)
	checkAsked(t, report.Rows)
	for i, r := range report.Rows {
		benchtest.CheckRow(t, i, r)
	}
}

// checkAsked looks whether every number that is asked for stands beside one that was measured.
func checkAsked(t *testing.T, rows []*measure.Row) {
	t.Helper()
	asked := map[string]int{}
	for _, r := range rows {
		if a := r.Get("asked"); a != nil {
			asked[fmt.Sprint(r.Get("work"), ": ", a)]++
			if met := r.Get("met"); met != nil {
				t.Errorf("a quick run judges %v: %v", a, met)
			}
		}
	}
	want := map[string]int{
		"put: ratio >= 0.85":                                   1,
		"put: to lone >= 16 or messages/s >= 200,000":          1,
		"put: to lone >= 30 or messages/s >= 200,000":          1,
		"put-pipelined: ratio >= 0.5 or messages/s >= 250,000": 1,
		"claim-deep: look p99 µs <= 20, ratio <= 1.3":          4,
		"hand-over: p50 ms <= 0.1, ratio <= 2":                 1,
		"hand-over: p50 ms <= 0.1":                             1,
		"beside: p99 ms <= 5":                                  8,
		"relay: messages/s >= 30,000":                          1,
		"memory: RSS MB <= 200":                                1,
		"memory: RSS MB <= 280":                                1,
		"cleaning: ratio <= 2":                                 2,
		"cleaning-copies: amplification <= 1.3":                2,
		"cleaning-drain: ratio >= 0.5":                         2,
	}
	if !maps.Equal(asked, want) {
		t.Errorf("asked\n%v\nwant\n%v", asked, want)
	}
}

func TestQueueEndsWithItsContextAndCleansUp(t *testing.T) {
	for name, quick := range map[string]bool{"whole": false, "quick": true} {
		t.Run(name, func(t *testing.T) {
			queueSubject().EndsWithItsContext(t, quick)
		})
	}
}

func TestQueueDoesNotBeginWithAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if err := queue.Run(ctx, harness.Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	benchtest.Left(t, dir)
}

func TestQueueMeasuresOnlyWhatItIsAskedFor(t *testing.T) {
	var out bytes.Buffer
	o := harness.Options{Quick: true, Only: []string{"claim", "put-group"}, Dir: t.TempDir(), Out: &out}
	if err := queue.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"put-group": true, "claim ": true, "put ": false, "claim-where": false,
		"Starts": false} {
		if strings.Contains(out.String(), text) != want {
			t.Errorf("the report says %q: %v\n%s", text, !want, out.String())
		}
	}
	o.Only = []string{"nothing"}
	if err := queue.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("a work that does not exist: %v", err)
	}
	benchtest.Left(t, o.Dir)
}

func TestQueueSaysWhichFolderItCannotUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	err := queue.Run(t.Context(), harness.Options{Quick: true, Dir: dir})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("with a folder that does not exist: %v", err)
	}
}
