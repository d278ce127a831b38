package harness

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/measure"
)

func TestGoalsAreJudgedByTheFiguresOfTheirRow(t *testing.T) {
	row := func() *measure.Row { return new(measure.Row).Set("ratio", 0.9).Set("per_s", 1000.0).Set("rss_mb", 150) }
	for name, c := range map[string]struct {
		goals      []Goal
		asked, met string
	}{
		"reached":      {[]Goal{AtLeast("ratio", 0.85)}, "ratio >= 0.85", "yes"},
		"just reached": {[]Goal{AtMost("ratio", 0.9)}, "ratio <= 0.9", "yes"},
		"missed":       {[]Goal{AtLeast("ratio", 16)}, "ratio >= 16", "no"},
		"one of two will": {[]Goal{AtLeast("ratio", 16).OrElse(AtLeast("per_s", 900))},
			"ratio >= 16 or messages/s >= 900", "yes"},
		"neither will": {[]Goal{AtLeast("ratio", 16).OrElse(AtLeast("per_s", 200_000))},
			"ratio >= 16 or messages/s >= 200,000", "no"},
		"both": {[]Goal{AtMost("rss_mb", 200), AtMost("ratio", 1.3)}, "RSS MB <= 200, ratio <= 1.3", "yes"},
		"one of both": {[]Goal{AtMost("rss_mb", 100), AtMost("ratio", 1.3)}, "RSS MB <= 100, ratio <= 1.3",
			"no: RSS MB"},
		"none of both": {[]Goal{AtMost("rss_mb", 100), AtMost("ratio", 0.3)}, "RSS MB <= 100, ratio <= 0.3",
			"no: RSS MB, ratio"},
		"was not measured": {[]Goal{AtMost("heap_mb", 100)}, "heap MB <= 100", "no"},
	} {
		r := row()
		Judge(r, false, c.goals...)
		if r.Get("asked") != c.asked || r.Get("met") != c.met {
			t.Errorf("%s: asked %q, met %q; want %q and %q", name, r.Get("asked"), r.Get("met"), c.asked, c.met)
		}
	}
}

func TestToysAreNotJudged(t *testing.T) {
	r := new(measure.Row).Set("ratio", 0.9)
	Judge(r, true, AtLeast("ratio", 0.85))
	if r.Get("asked") != "ratio >= 0.85" || r.Get("met") != nil || len(r.Names()) != 3 {
		t.Errorf("asked %q, met %v", r.Get("asked"), r.Get("met"))
	}
}

func TestRowsWithoutGoalsSayNothingOfThem(t *testing.T) {
	r := new(measure.Row)
	Judge(r, false)
	if len(r.Names()) != 0 {
		t.Errorf("%v", r.Names())
	}
}
