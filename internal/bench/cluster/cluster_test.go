package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// inProcess is the part of the bench that needs no processes: those are the program's, whose tests run the other part.
func inProcess() benchtest.Subject {
	return benchtest.Subject{Name: "cluster", Run: Run, With: harness.Options{Only: []string{workPut}}}
}

func TestPutsAreReportedBesideWhatTheyStandOn(t *testing.T) {
	report := inProcess().Reports(t)
	var got []string
	for i, r := range report.Rows {
		benchtest.CheckPositive(t, i, r, "n", "p50_ms", "p99_ms", "max_ms", "per_s", "bytes")
		benchtest.CheckUnjudged(t, i, r)
		if r.Get("case") == harness.CaseOurs {
			benchtest.CheckPositive(t, i, r, "ratio", "ratio_alone", "per_group", "log_bytes")
			benchtest.CheckQuartiles(t, i, r, "ratio")
		}
		if r.Get("case") == caseAlone {
			benchtest.CheckPositive(t, i, r, "syncs")
		}
		got = append(got, fmt.Sprint(r.Get("case"), " ", r.Get("writers"), " ", benchtest.Or(r, "asked")))
	}
	benchtest.CheckRows(t, got, []string{
		"hikyaku 1 ratio <= 1.3", "appends 1 ", "alone 1 ", "sync 1 ",
		"hikyaku 64 ratio >= 0.8, to lone >= 10", "appends 64 ", "lone 1 ", "alone 64 ", "sync 1 ",
	})
}

func TestPutsThatWereNotSyncedAreNoFigure(t *testing.T) {
	rig, err := harness.NewRig(t.Context(), t.TempDir(), queue.Definition{}, harness.Setting{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rig.Remove(); err != nil {
			t.Error(err)
		}
	})
	honest, forgetful := keeping(rig.Store, 2), keeping(rig.Store, 2)
	forgetful.kept = harness.KeptBy(func() (uint64, error) { return 7, nil })
	for _, p := range []*putter{honest, forgetful} {
		if _, err := p.Run(t.Context(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if err := honest.check("a store"); err != nil {
		t.Error(err)
	}
	if err := forgetful.check("a store"); err == nil || !strings.Contains(err.Error(), "0 syncs") {
		t.Errorf("%d puts by two writers without a sync: %v", forgetful.n, err)
	}
}

func TestTheBenchEndsWithItsContextAndCleansUp(t *testing.T) {
	inProcess().EndsWithItsContext(t, true)
}

func TestTheBenchSaysWhyItCannotBegin(t *testing.T) {
	inProcess().SaysWhyItCannotBegin(t, nil)
}
