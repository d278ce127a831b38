package bench_test

import (
	"context"
	"errors"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// finding is a bench that needs no time: its session publishes as those of all do.
func finding(fails *error, pictures ...string) bench.Bench {
	return bench.Bench{Name: "rest", Run: func(ctx context.Context, o harness.Options) error {
		v := harness.View{Sections: []harness.Section{{Title: "Resting", Works: []string{"rest"}}}}
		for _, p := range pictures {
			v.Pictures = append(v.Pictures, harness.Picture{File: "rest-" + p + ".svg", Bare: true,
				Works: []string{"rest"}, Plot: measure.Plot{Title: p + " <slowly>"},
				Draw: func(p *measure.Plot, r *measure.Row) {
					harness.AddPoint(p, "naps", measure.Lines, 1, harness.Number(r, "per_s"))
				}})
		}
		s := harness.New("rest", o, v)
		return s.Measure(ctx, []harness.Experiment{{Work: "rest", Run: func(context.Context) error {
			s.Report.Row(harness.CaseOurs, "rest").Set("kind", "a|b").Set("per_s", 7)
			return *fails
		}}}, nil, nil)
	}}
}

func TestAPageHasTheTablesAndThePicturesOfOneRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "measured")
	var fails error
	if err := finding(&fails, "naps", "nights").RunOntoPage(t.Context(), harness.Options{}, dir); err != nil {
		t.Fatal(err)
	}
	first := read(t, dir, "rest.md")
	stamp := regexp.MustCompile(`(?m)^hikyaku bench rest, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, \d+ processors.*$`).
		FindString(first)
	if stamp == "" || !strings.Contains(first, `| a\|b `) || !strings.Contains(first, "## Resting\n\n| ") ||
		!strings.Contains(first, "](rest-nights.svg)") {
		t.Errorf("the page is\n%s", first)
	}
	for _, name := range []string{"rest-naps.svg", "rest-nights.svg"} {
		if svg := read(t, dir, name); strings.Count(svg, "<desc>"+stamp+"</desc>") != 1 {
			t.Errorf("%s is not stamped with %q:\n%.600s", name, stamp, svg)
		}
	}

	if wrong := foreign(t, dir); len(wrong) > 0 {
		t.Errorf("pictures of another run: %v", wrong)
	}
	other := strings.Replace(read(t, dir, "rest-naps.svg"), " UTC", "1 UTC", 1)
	if err := os.WriteFile(filepath.Join(dir, "rest-naps.svg"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if wrong := foreign(t, dir); !slices.Equal(wrong, []string{"rest-naps.svg"}) {
		t.Errorf("pictures of another run: %v", wrong)
	}

	fails = errors.New("the disk is full")
	if err := finding(&fails, "naps").RunOntoPage(t.Context(), harness.Options{}, dir); !errors.Is(err, fails) {
		t.Errorf("a run that fails: %v", err)
	}
	if again := read(t, dir, "rest.md"); again != first {
		t.Errorf("a run that failed wrote\n%s", again)
	}
	fails = nil
	if err := finding(&fails, "naps").RunOntoPage(t.Context(), harness.Options{}, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "rest-nights.svg")); !os.IsNotExist(err) {
		t.Errorf("a picture that a later run has not drawn: %v", err)
	}
}

// TestPagesOfRunsShowTheirOwnPictures looks at those that make measured has written.
func TestPagesOfRunsShowTheirOwnPictures(t *testing.T) {
	if wrong := foreign(t, "../../docs/measured"); len(wrong) > 0 {
		t.Errorf("these are not of the run of their page: %v; make measured BENCH=NAME makes both anew", wrong)
	}
}

// foreign lists the pictures of a folder that are of another run than the page that shows them, or that none shows.
func foreign(t *testing.T, dir string) (wrong []string) {
	t.Helper()
	pictures, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, picture := range pictures {
		name := filepath.Base(picture)
		bench, _, _ := strings.Cut(name, "-")
		page, err := os.ReadFile(filepath.Join(dir, bench+".md"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		_, stamp, _ := strings.Cut(string(page), "\n\n")
		stamp, _, _ = strings.Cut(stamp, "\n")
		if stamp == "" || !strings.Contains(string(page), "]("+name+")") ||
			!strings.Contains(read(t, dir, name), "<desc>"+html.EscapeString(stamp)+"</desc>") {
			wrong = append(wrong, name)
		}
	}
	return wrong
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
