package function

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view shows the rows of the function bench.
func view() harness.View {
	return harness.View{Label: harness.CaseLabel, Pictures: functionPictures(), Sections: functionSections()}
}

// functionSections are the tables of the function bench.
func functionSections() []harness.Section {
	return []harness.Section{
		{Title: "Twelve calls one after the other: which instance serves them", Works: []string{workPid},
			Hides: []string{"duration_ms", "peak_mb"}},
		{Title: "What runs inside an instance", Works: []string{workStackTrace},
			Hides: []string{"duration_ms", "billed_ms", "billed_then_ms", "total_ms", "cold"}},
		{Title: "Work in the handler and in the start", Works: []string{workWait1, workWait2, workWait3},
			Hides: []string{"peak_mb"}},
		{Title: "A Fibonacci number (which one is in the rows), after a run to warm up", Works: []string{workFib},
			Hides: []string{"cold"}},
		{Title: "One item of DynamoDB", Works: []string{workDynamoDB}},
		{Title: "Calls for which an instance starts", Works: []string{workCold}},
		{Title: "Calls that find an instance, one after the other", Works: []string{workWarm}},
		{Title: "Callers at once", Works: []string{workConcurrent}},
		{Title: "Bursts", Works: []string{workHundred}},
		{Title: "A stream with bursts", Works: []string{workTraffic}},
		{Title: "Idle instances", Works: []string{workInstances}},
	}
}

// functionPictures show the rows of the function bench.
func functionPictures() []harness.Picture {
	return []harness.Picture{
		{File: "function-pid.svg", Plot: measure.Plot{Title: "Twelve calls one after the other", XLabel: "call",
			YLabel: "ms",
			YLog:   true}, Works: []string{workPid}, Draw: drawCalls, Bare: true},
		{File: "function-wait.svg",
			Plot: measure.Plot{Title: "Work in the handler (wait1) and in the start (wait2, wait3): what " +
				"is billed", XLabel: "call", YLabel: "ms", YLog: true}, Works: []string{workWait1, workWait2,
				workWait3},
			Draw: drawBilled, Bare: true},
		{File: "function-fib.svg", Plot: measure.Plot{Title: "A Fibonacci number", YLabel: "ms", YLog: true},
			Works: []string{workFib},
			Draw:  drawFib, Bare: true},
		{File: "function-dynamodb.svg", Plot: measure.Plot{Title: "One item of DynamoDB: what is billed today",
			XLabel: "call",
			YLabel: "ms", YLog: true}, Works: []string{workDynamoDB}, Draw: drawDynamoDB, Bare: true},
		{File: "function-cold.svg", Plot: measure.Plot{Title: "A call for which an instance starts", YLabel: "ms",
			YLog: true},
			Works: []string{workCold}, Draw: drawCold, Bare: true},
		{File: "function-warm.svg", Plot: measure.Plot{Title: "A call that finds an instance", YLabel: "ms",
			YLog: true},
			Works: []string{workWarm}, Draw: drawWarm, Bare: true},
		{File: "function-concurrent.svg", Plot: measure.Plot{Title: "Callers at once", XLabel: "callers", YLabel: "ms",
			XLog: true,
			YLog: true}, Works: []string{workConcurrent}, Draw: drawConcurrent, Bare: true},
		{File: "function-burst.svg", Plot: measure.Plot{Title: "Calls that come at the same moment", YLabel: "ms",
			YLog: true},
			Works: []string{workHundred}, Draw: drawHundred, Bare: true},
		{File: "function-traffic.svg",
			Plot: measure.Plot{Title: "Calls that wait for an instance to start, in a stream with bursts",
				YLabel: "%"},
			Works: []string{workTraffic}, Draw: drawTraffic, Bare: true},
	}
}

func drawCold(p *measure.Plot, r *measure.Row) {
	x := harness.Place(p, fmt.Sprintf("%v, isolation %v", r.Get("case"), r.Get("isolation")))
	for _, v := range []struct{ name, value string }{{"p50", "p50_ms"}, {"p99", "p99_ms"},
		{"by hand, p50", "hand_ms"}} {
		harness.AddPoint(p, v.name, measure.Marks, x, harness.Number(r, v.value))
	}
}

func drawWarm(p *measure.Plot, r *measure.Row) {
	x := harness.Place(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("server")))
	for _, q := range []string{"p50", "p99"} {
		harness.AddPoint(p, q, measure.Marks, x, harness.Number(r, q+"_ms"))
	}
}

func drawConcurrent(p *measure.Plot, r *measure.Row) {
	for _, q := range []string{"p50", "p99"} {
		harness.AddPoint(p, fmt.Sprintf("%v %s", r.Get("server"), q), measure.LineMarks,
			harness.Number(r, "connections"),
			harness.Number(r, q+"_ms"))
	}
}

func drawHundred(p *measure.Plot, r *measure.Row) {
	x := harness.Place(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("call")))
	for _, q := range []string{"p50", "p99", "max"} {
		harness.AddPoint(p, q, measure.Marks, x, harness.Number(r, q+"_ms"))
	}
}

func drawTraffic(p *measure.Plot, r *measure.Row) {
	harness.AddPoint(p, "cold", measure.Marks, harness.Place(p, fmt.Sprint(r.Get("case"))),
		harness.Number(r, "cold_pct"))
}
