package q4m

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view shows the rows of the q4m bench.
func view() harness.View {
	return harness.View{Label: q4mLabel, Pictures: q4mPictures(), Sections: []harness.Section{
		{Title: "Rows taken through MySQL's protocol", Works: []string{workTakeSince, workTakeBefore}},
		{Title: "Rows put through MySQL's protocol", Works: []string{workInsert}},
		{Title: "Rows put while the store is cleaned", Works: []string{workCompacting}, Hides: []string{"depth"}},
	}}
}

// q4mPictures show the rows of the q4m bench.
func q4mPictures() []harness.Picture {
	return []harness.Picture{
		{File: "q4m-rates.svg",
			Plot: measure.Plot{Title: "Rows taken, or put, durably a second through MySQL's protocol",
				YLabel: "rows/s", YLog: true}, Works: []string{workTakeSince, workTakeBefore, workInsert},
			Draw: drawQ4MRate, Bare: false},
		{File: "q4m-compacting.svg", Plot: measure.Plot{Title: "Time of a durable insert while the store is cleaned",
			YLabel: "ms",
			YLog:   true}, Works: []string{workCompacting}, Draw: drawQ4MCleaning, Bare: false},
	}
}

func drawQ4MRate(p *measure.Plot, r *measure.Row) {
	if r.Get("case") != harness.CaseLimit {
		harness.AddPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, harness.Place(p, q4mLabel(r)),
			harness.Number(r, "per_s"))
	}
}

func drawQ4MCleaning(p *measure.Plot, r *measure.Row) {
	name := fmt.Sprintf("%v, %v connections", r.Get("case"), r.Get("connections"))
	for _, q := range [...]struct{ name, value string }{{"p50", "p50_ms"}, {"p99", "p99_ms"}, {"p99.9", "p999_ms"},
		{"max", "max_ms"}} {
		harness.AddPoint(p, name, measure.LineMarks, harness.Place(p, q.name), harness.Number(r, q.value))
	}
}

// q4mLabel names a row on an axis and in a caption.
func q4mLabel(r *measure.Row) string {
	text := fmt.Sprintf("%v ×%v", r.Get("work"), r.Get("connections"))
	if harness.Number(r, "depth") >= float64(whole.deep) {
		text += ", deep"
	}
	return text
}

// The field report's pictures: one a work, the time of each call in the order of the calls.
var lastedTitles = map[string]string{
	workTakeSince:  "Each take of a row with enqueued_at >= the moment",
	workTakeBefore: "Each take of a row with enqueued_at < the moment",
	workInsert:     "Each insert",
}

// writeLasted draws how long each call took.
func writeLasted(dir string, found []*lasted) error {
	plots := map[string]*measure.Plot{}
	for _, f := range found {
		p := plots[f.work]
		if p == nil {
			p = &measure.Plot{Title: lastedTitles[f.work] + ", by one connection", XLabel: "call", YLabel: "ms",
				YLog: true, Width: 1000}
			plots[f.work] = p
		}
		points := make([]measure.Point, len(f.calls))
		for i, d := range f.calls {
			points[i] = measure.Point{X: float64(i + 1), Y: float64(d) / float64(time.Millisecond)}
		}
		style := measure.Lines
		if f.name == harness.CaseLimit {
			style = measure.Dashes
		}
		p.Series = append(p.Series, measure.Series{Name: f.name, Style: style, Points: points})
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for plots: %w", err)
	}
	for work, p := range plots {
		if err := harness.WritePlot(filepath.Join(dir, "q4m-"+work+".svg"), p); err != nil {
			return err
		}
	}
	return nil
}
