package bench

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// pushView shows the rows of the push bench.
func pushView() view {
	return view{label: pushLabel, means: []string{workSeed}, pictures: pushPictures(), sections: []section{
		{"From dequeue to answer, for each user", []string{workSeed}, nil},
		{"Pushes through one connection", []string{workSteady}, nil},
		{"Claimed, pushed and durably settled", []string{workDurable}, nil},
		{"Beside devices that answer late", []string{workTail}, nil},
		{"With receipts and without", []string{workReceipts}, nil},
		{"A wrong topic or environment: pushes wasted, and how long it took to notice", []string{workMistake}, nil},
		{"A campaign to all users", []string{workCampaign}, nil},
	}}
}

// pushPictures show the rows of the push bench.
func pushPictures() []picture {
	return []picture{
		{"push-seed.svg", measure.Plot{
			Title: "From dequeue to answer: mean (lines) and p99 (marks)", XLabel: "queue messages, of ten users each",
			YLabel: "ms", XLog: true, YLog: true,
		}, []string{workSeed}, drawSeed, false},
		{"push-steady.svg", measure.Plot{Title: "Pushes a second through one connection", YLabel: "pushes/s"},
			[]string{workSteady}, drawSteady, false},
		{"push-cost.svg", measure.Plot{Title: "Processor time of a push, of the client", YLabel: "µs"},
			[]string{workSteady}, drawPushCost, true},
	}
}

// pushLabel names a row in a caption.
func pushLabel(r *measure.Row) string {
	if far := r.Get("server"); far != nil {
		return fmt.Sprintf("%v, %v", r.Get("work"), far)
	}
	return fmt.Sprintf("%v of %s", r.Get("work"), measure.Count(int64(number(r, "messages"))))
}

func drawSeed(p *measure.Plot, r *measure.Row) {
	if r.Get("messages") == nil {
		return // the sandbox's own limit
	}
	x, name := number(r, "messages"), fmt.Sprint(r.Get("case"))
	addPoint(p, name, measure.LineMarks, x, number(r, "mean_ms"))
	addPoint(p, name+" p99", measure.Marks, x, number(r, "p99_ms"))
	if ms := number(r, "bound_mean_ms"); ms > 0 {
		addPoint(p, "bound", measure.Dashes, x, ms)
	}
}

func drawSteady(p *measure.Plot, r *measure.Row) {
	addPoint(p, fmt.Sprint(r.Get("server")), measure.Marks, place(p, fmt.Sprint(r.Get("case"))), number(r, "per_s"))
}

func drawPushCost(p *measure.Plot, r *measure.Row) {
	addPoint(p, fmt.Sprint(r.Get("server")), measure.Marks, place(p, fmt.Sprint(r.Get("case"))), number(r, "cpu_us"))
}
