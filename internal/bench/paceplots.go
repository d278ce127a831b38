package bench

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// paceView shows the rows of the pace bench.
func paceView() view {
	return view{label: caseLabel, pictures: pacePictures(), sections: []section{
		{"How late frames are at 60000/1001 a second", []string{workIdle, workBusy, workEngine, workSpared}, nil},
		{"Drift over a long run", []string{workDrift}, nil},
		{"Messages that have their time", []string{workPacedSink, workNotBefore}, nil},
	}}
}

// pacePictures show the rows of the pace bench.
func pacePictures() (ps []picture) {
	for _, c := range [...]struct{ work, title string }{
		{workIdle, "idle"}, {workBusy, "beside two processes that calculate"},
		{workEngine, "beside a store and a pipeline at full speed"},
		{workDrift, "over a long run"}, {workPacedSink, "of a sink's messages"},
		{workNotBefore, "of messages that slept"},
	} {
		ps = append(ps, picture{
			"pace-" + c.work + ".svg",
			measure.Plot{Title: "Lateness of frames at 60000/1001 a second, " + c.title,
				XLabel: "share of the frames that are no later", YLabel: "µs", YLog: true},
			[]string{c.work}, drawPace, false,
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
		addPoint(p, fmt.Sprint(r.Get("case")), measure.LineMarks, place(p, name), max(leastDrawn, q))
	}
}
