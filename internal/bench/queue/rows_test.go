package queue

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

var update = flag.Bool("update", false, "write the golden files")

// invented is a session's report with figures that are the same everywhere.
func invented() *session {
	s := &session{Session: harness.New("queue", harness.Options{}, view())}
	s.Report.Machine = measure.Machine{OS: "linux", Arch: "amd64", CPUs: 2, CPUModel: "invented", Go: "go1"}
	of := func(n int64, each time.Duration) harness.Total {
		h := measure.NewHistogram()
		h.RecordN(each, n)
		return harness.Total{N: n, Elapsed: time.Second, Calls: h}
	}
	c := harness.Contest{Ours: of(9000, 500*time.Microsecond), Peers: []harness.Rival{
		{Total: of(12000, 100*time.Microsecond), Ratios: []float64{0.7, 0.75, 0.8}},
		{Total: of(1000, time.Millisecond), Ratios: []float64{8, 9, 11}},
	}}
	resident := func(r *measure.Row) { r.Set("rss_mb", 20.5) }
	histogram := func(d time.Duration) *measure.Histogram {
		h := measure.NewHistogram()
		h.Record(d)
		return h
	}
	s.rows(c, about{
		work: "put", writers: 16, log: &logged{n: 9000, bytes: 3_456_000, syncs: 600}, more: resident,
		peers: []peer{{name: harness.CaseLimit, perSync: 16}, {name: harness.CaseLone, perSync: 1}},
		goals: []harness.Goal{harness.AtLeast("ratio", 0.7)},
	})
	s.rows(c, about{
		work: "claim-where", writers: 1, depth: 100_000, condition: conditionSame,
		claims: histogram(15 * time.Microsecond), more: resident,
		log: &logged{n: 9000, bytes: 2_304_000, syncs: 9000}, peers: []peer{{name: harness.CaseLimit, perSync: 1}},
	})
	s.rows(c, about{
		work: "claim-deep", writers: 1, depth: 1_000_000, matching: percent(1), looks: histogram(25 * time.Microsecond),
		more:  resident,
		peers: []peer{{name: harness.CasePeer, depth: 6000, looks: histogram(5 * time.Microsecond)}},
		goals: []harness.Goal{harness.AtMost("look_p99_us", 20), harness.AtMost("ratio", 1.3)},
	})
	s.rows(c, about{work: "restart", depth: 100_000, start: startClean, more: resident,
		peers: []peer{{name: harness.CaseLimit, read: 5_000_000}}})
	s.Report.Note("cold starts were not measured")
	return s
}

// golden compares got with a file, which -update writes.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestRowsForScripts(t *testing.T) {
	var out bytes.Buffer
	s := invented()
	s.Options = harness.Options{JSON: true, Out: &out}
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	golden(t, "rows.json", out.Bytes())
}

func TestTableForPeople(t *testing.T) {
	var out bytes.Buffer
	s := invented()
	s.Options = harness.Options{Out: &out}
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", out.Bytes())
}

func TestFindingsWithNowhereToGoAreNoError(t *testing.T) {
	if err := invented().Publish(); err != nil {
		t.Error(err)
	}
}

func TestEmptyReportIsNoTable(t *testing.T) {
	var out bytes.Buffer
	if err := view().WriteTables(&out, measure.NewBenchReport("queue")); err != nil || out.Len() > 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestEveryWorkHasATable(t *testing.T) {
	for _, work := range Works() {
		if !slices.ContainsFunc(view().Sections, func(s harness.Section) bool {
			return slices.Contains(s.Works,
				work)
		}) {
			t.Errorf("no table shows %s", work)
		}
	}
}

func TestLoggedCountsWithoutDividingByNothing(t *testing.T) {
	var l logged
	if l.bytesEach() != 0 || l.perSync() != 0 {
		t.Errorf("nothing was logged: %v bytes each, %v a sync", l.bytesEach(), l.perSync())
	}
}
