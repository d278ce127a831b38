package pace

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view shows the rows of the pace bench.
func view() harness.View {
	return harness.View{Label: harness.CaseLabel, Pictures: pacePictures(), Sections: []harness.Section{
		{Title: "How late frames are at 60000/1001 a second",
			Works: []string{workIdle, workBusy, workEngine, workSpared}},
		{Title: "Drift over a long run", Works: []string{workDrift}},
		{Title: "Messages that have their time", Works: []string{workPacedSink, workNotBefore}},
	}}
}

// pacePictures show the rows of the pace bench.
func pacePictures() (ps []harness.Picture) {
	for _, c := range [...]struct{ work, title string }{
		{workIdle, "idle"}, {workBusy, "beside two processes that calculate"},
		{workEngine, "beside a store and a pipeline at full speed"},
		{workDrift, "over a long run"}, {workPacedSink, "of a sink's messages"},
		{workNotBefore, "of messages that slept"},
	} {
		ps = append(ps, harness.Picture{
			File: "pace-" + c.work + ".svg",
			Plot: measure.Plot{Title: "Lateness of frames at 60000/1001 a second, " + c.title,
				XLabel: "share of the frames that are no later", YLabel: "µs", YLog: true},
			Works: []string{c.work}, Draw: drawPace, Bare: false,
		})
	}
	return ps
}

// leastDrawn is the least lateness, in µs, that a logarithmic axis shows.
const leastDrawn = 0.01

func drawPace(p *measure.Plot, r *measure.Row) {
	quantiles, _ := r.Get("quantiles_us").([]float64)
	for i, q := range quantiles {
		name := fmt.Sprintf("%g %%", 100*lateShares[i])
		if lateShares[i] == 1 {
			name = "all"
		}
		harness.AddPoint(p, fmt.Sprint(r.Get("case")), measure.LineMarks, harness.Place(p, name), max(leastDrawn, q))
	}
}
