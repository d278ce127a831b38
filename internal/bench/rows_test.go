package bench

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

var update = flag.Bool("update", false, "write the golden files")

// invented is a session's report with figures that are the same everywhere.
func invented() *session {
	s := &session{report: measure.NewBenchReport("queue"), raw: &rawLog{carries: 16}}
	s.report.Machine = measure.Machine{OS: "linux", Arch: "amd64", CPUs: 2, CPUModel: "invented", Go: "go1"}
	of := func(n int64, each time.Duration) total {
		h := measure.NewHistogram()
		h.RecordN(each, n)
		return total{n: n, elapsed: time.Second, calls: h}
	}
	c := contest{ours: of(9000, 500*time.Microsecond), limit: of(12000, 100*time.Microsecond), ratios: []float64{0.7, 0.75, 0.8}}
	s.rows(c, about{work: "put", writers: 16, rss: 20 << 20}, &logged{n: 9000, bytes: 3_456_000, syncs: 600})
	claims := measure.NewHistogram()
	claims.Record(15 * time.Microsecond)
	s.rows(c, about{work: "claim-where", writers: 1, depth: 100_000, condition: conditionSame, claims: claims, rss: 60 << 20}, &logged{n: 9000, bytes: 2_304_000, syncs: 9000})
	s.rows(c, about{work: "restart", depth: 100_000, start: startClean, rss: 40 << 20, heapEach: 198.6, read: 5 << 20}, nil)
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
	s.Options = Options{JSON: true, Out: &out}
	if err := s.publish(); err != nil {
		t.Fatal(err)
	}
	golden(t, "rows.json", out.Bytes())
}

func TestTableForPeople(t *testing.T) {
	var out bytes.Buffer
	s := invented()
	s.Options = Options{Out: &out}
	if err := s.publish(); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", out.Bytes())
}

func TestFindingsWithNowhereToGoAreNoError(t *testing.T) {
	if err := invented().publish(); err != nil {
		t.Error(err)
	}
}

func TestLoggedCountsWithoutDividingByNothing(t *testing.T) {
	var l logged
	if l.bytesEach() != 0 || l.perSync() != 0 {
		t.Errorf("nothing was logged: %v bytes each, %v a sync", l.bytesEach(), l.perSync())
	}
}
