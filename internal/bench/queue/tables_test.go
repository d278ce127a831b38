package queue

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func TestTablesLeaveOutWhatSaysNothingThere(t *testing.T) {
	b := measure.NewBenchReport("queue")
	b.Row(harness.CaseOurs, "put").Set("writers", 1).Set("depth", 0).Set("rss_mb", 20.0).Set("per_s", 1000.0)
	b.Row(harness.CaseLimit, "put").Set("writers", 1).Set("per_s", 2000.0)
	b.Row(harness.CaseOurs, "memory").Set("depth", 1000).Set("indexes", 0).Set("rss_mb", 20.0)
	var out strings.Builder
	if err := view().WriteTables(&out, b); err != nil {
		t.Fatal(err)
	}
	want := `Puts

work  case     at once  messages/s
----  -------  -------  ----------
put   hikyaku        1       1,000
put   limit          1       2,000

Memory

work    case     depth  indexes  RSS MB
------  -------  -----  -------  ------
memory  hikyaku  1,000        0      20
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// refusing takes so many writes and then no more.
type refusing struct{ takes int }

var errRefused = errors.New("no more")

func (r *refusing) Write(p []byte) (int, error) {
	if r.takes--; r.takes < 0 {
		return 0, errRefused
	}
	return len(p), nil
}

func TestTablesThatCannotBeWrittenAreAnError(t *testing.T) {
	b := measure.NewBenchReport("queue")
	b.Row(harness.CaseOurs, "put")
	b.Note("a note")
	for takes := range 3 { // title, table, note
		if err := view().WriteTables(&refusing{takes}, b); !errors.Is(err, errRefused) {
			t.Errorf("after %d writes: %v", takes, err)
		}
	}
	if err := view().WriteTables(&refusing{3}, b); err != nil {
		t.Error(err)
	}
}

func TestEveryGoalIsOfAFigureWithAHeading(t *testing.T) {
	for _, name := range []string{"ratio", "ratio_lone", "per_s", "look_p99_us", "p50_ms", "rss_mb", "amplification"} {
		if harness.Heading(name) == name && name != "ratio" && name != "amplification" {
			t.Errorf("%s is called so also in the tables", name)
		}
	}
	if harness.Heading("unknown") != "unknown" {
		t.Errorf("a value without a heading is called %q", harness.Heading("unknown"))
	}
}

func TestCaptionsSayWhatWasAskedAndWhatWasFound(t *testing.T) {
	for name, c := range map[string]struct {
		row  *measure.Row
		want string
	}{
		"a put": {
			new(measure.Row).Set("work", "put").Set("writers", 64).Set("per_s", 100_190.4).Set("ratio",
				0.24).Set("ratio_lone", 11.6).
				Set("asked", "to lone >= 16 or messages/s >= 200,000").Set("met", "no"),
			"put 64: asked to lone >= 16 or messages/s >= 200,000; measured messages/s 100,190, to lone 11.6; met: no",
		},
		"a claim": {
			new(measure.Row).Set("work", "claim-deep").Set("matching", "0.1 %").Set("depth", 1_000_000).Set("ratio",
				1.21).Set("look_p99_us", 12.0).
				Set("asked", "look p99 µs <= 20, ratio <= 1.3").Set("met", "yes"),
			"claim-deep, 0.1 % of 1,000,000: asked look p99 µs <= 20, ratio <= 1.3; measured look p99 µs 12.0, ratio " +
				"1.21; met: yes",
		},
		"a start": {
			new(measure.Row).Set("work", "restart").Set("start", startCold).Set("depth", 1_000_000).Set("p50_ms",
				700.0).Set("asked", "p50 ms <= 800").Set("met", "yes"),
			"restart with 1,000,000, clean, cold: asked p50 ms <= 800; measured p50 ms 700; met: yes",
		},
		"memory, of a quick run": {
			new(measure.Row).Set("work", "memory").Set("indexes", 2).Set("depth", 1000).Set("rss_mb", 20.0).Set("asked",
				"RSS MB <= 280").Set("met", nil),
			"memory with 1,000, 2 indexes: asked RSS MB <= 280; measured RSS MB 20.0",
		},
		"a hand-over": {
			new(measure.Row).Set("work", workHandOver).Set("waiters", 1000).Set("p50_ms", 0.04).Set("asked",
				"p50 ms <= 0.1").Set("met", "yes"),
			"hand-over, 1,000 others: asked p50 ms <= 0.1; measured p50 ms 0.0400; met: yes",
		},
	} {
		var p measure.Plot
		view().Caption(&p, c.row)
		if len(p.Caption) != 1 || p.Caption[0] != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", name, p.Caption, c.want)
		}
	}
	var p measure.Plot
	view().Caption(&p, new(measure.Row).Set("work", "claim"))
	if len(p.Caption) != 0 {
		t.Errorf("a row of which nothing is asked: %q", p.Caption)
	}
}
