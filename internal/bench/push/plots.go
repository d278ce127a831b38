package push

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view shows the rows of the push bench.
func view() harness.View {
	return harness.View{Label: pushLabel, Means: []string{workSeed}, Pictures: pushPictures(),
		Sections: []harness.Section{
			{Title: "From dequeue to answer, for each user", Works: []string{workSeed}},
			{Title: "Pushes through one connection", Works: []string{workSteady}},
			{Title: "Claimed, pushed and durably settled", Works: []string{workDurable}},
			{Title: "Beside devices that answer late", Works: []string{workTail}},
			{Title: "With receipts and without", Works: []string{workReceipts}},
			{Title: "A wrong topic or environment: pushes wasted, and how long it took to notice",
				Works: []string{workMistake}},
			{Title: "A campaign to all users", Works: []string{workCampaign}},
		}}
}

// pushPictures show the rows of the push bench.
func pushPictures() []harness.Picture {
	return []harness.Picture{
		{File: "push-seed.svg", Plot: measure.Plot{
			Title: "From dequeue to answer: mean (lines) and p99 (marks)", XLabel: "queue messages, of ten users each",
			YLabel: "ms", XLog: true, YLog: true,
		}, Works: []string{workSeed}, Draw: drawSeed, Bare: false},
		{File: "push-steady.svg", Plot: measure.Plot{Title: "Pushes a second through one connection",
			YLabel: "pushes/s"},
			Works: []string{workSteady}, Draw: drawSteady, Bare: false},
		{File: "push-cost.svg", Plot: measure.Plot{Title: "Processor time of a push, of the client", YLabel: "µs"},
			Works: []string{workSteady}, Draw: drawPushCost, Bare: true},
	}
}

// pushLabel names a row in a caption.
func pushLabel(r *measure.Row) string {
	if far := r.Get("server"); far != nil {
		return fmt.Sprintf("%v, %v", r.Get("work"), far)
	}
	return fmt.Sprintf("%v of %s", r.Get("work"), measure.Count(int64(harness.Number(r, "messages"))))
}

func drawSeed(p *measure.Plot, r *measure.Row) {
	if r.Get("messages") == nil {
		return // the sandbox's own limit
	}
	x, name := harness.Number(r, "messages"), fmt.Sprint(r.Get("case"))
	harness.AddPoint(p, name, measure.LineMarks, x, harness.Number(r, "mean_ms"))
	harness.AddPoint(p, name+" p99", measure.Marks, x, harness.Number(r, "p99_ms"))
	if ms := harness.Number(r, "bound_mean_ms"); ms > 0 {
		harness.AddPoint(p, "bound", measure.Dashes, x, ms)
	}
}

func drawSteady(p *measure.Plot, r *measure.Row) {
	harness.AddPoint(p, fmt.Sprint(r.Get("server")), measure.Marks, harness.Place(p, fmt.Sprint(r.Get("case"))),
		harness.Number(r, "per_s"))
}

func drawPushCost(p *measure.Plot, r *measure.Row) {
	harness.AddPoint(p, fmt.Sprint(r.Get("server")), measure.Marks, harness.Place(p, fmt.Sprint(r.Get("case"))),
		harness.Number(r, "cpu_us"))
}
