package bench

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// functionView shows the rows of the function bench.
func functionView() view {
	return view{label: caseLabel, pictures: functionPictures(), sections: functionSections()}
}

// functionSections are the tables of the function bench.
func functionSections() []section {
	return []section{
		{"Twelve calls one after the other: which instance serves them", []string{workPid},
			[]string{"duration_ms", "peak_mb"}},
		{"What runs inside an instance", []string{workStackTrace},
			[]string{"duration_ms", "billed_ms", "billed_then_ms", "total_ms", "cold"}},
		{"Work in the handler and in the start", []string{workWait1, workWait2, workWait3}, []string{"peak_mb"}},
		{"A Fibonacci number (which one is in the rows), after a run to warm up", []string{workFib}, []string{"cold"}},
		{"One item of DynamoDB", []string{workDynamoDB}, nil},
		{"Calls for which an instance starts", []string{workCold}, nil},
		{"Calls that find an instance, one after the other", []string{workWarm}, nil},
		{"Callers at once", []string{workConcurrent}, nil},
		{"Bursts", []string{workHundred}, nil},
		{"A stream with bursts", []string{workTraffic}, nil},
		{"Idle instances", []string{workInstances}, nil},
	}
}

// functionPictures show the rows of the function bench.
func functionPictures() []picture {
	return []picture{
		{"function-pid.svg", measure.Plot{Title: "Twelve calls one after the other", XLabel: "call", YLabel: "ms",
			YLog: true}, []string{workPid}, drawCalls, true},
		{"function-wait.svg", measure.Plot{Title: "Work in the handler (wait1) and in the start (wait2, wait3): what " +
			"is billed", XLabel: "call", YLabel: "ms", YLog: true}, []string{workWait1, workWait2, workWait3},
			drawBilled, true},
		{"function-fib.svg", measure.Plot{Title: "A Fibonacci number", YLabel: "ms", YLog: true}, []string{workFib},
			drawFib, true},
		{"function-dynamodb.svg", measure.Plot{Title: "One item of DynamoDB: what is billed today", XLabel: "call",
			YLabel: "ms", YLog: true}, []string{workDynamoDB}, drawDynamoDB, true},
		{"function-cold.svg", measure.Plot{Title: "A call for which an instance starts", YLabel: "ms", YLog: true},
			[]string{workCold}, drawCold, true},
		{"function-warm.svg", measure.Plot{Title: "A call that finds an instance", YLabel: "ms", YLog: true},
			[]string{workWarm}, drawWarm, true},
		{"function-concurrent.svg", measure.Plot{Title: "Callers at once", XLabel: "callers", YLabel: "ms", XLog: true,
			YLog: true}, []string{workConcurrent}, drawConcurrent, true},
		{"function-burst.svg", measure.Plot{Title: "Calls that come at the same moment", YLabel: "ms", YLog: true},
			[]string{workHundred}, drawHundred, true},
		{"function-traffic.svg",
			measure.Plot{Title: "Calls that wait for an instance to start, in a stream with bursts", YLabel: "%"},
			[]string{workTraffic}, drawTraffic, true},
	}
}

func drawCold(p *measure.Plot, r *measure.Row) {
	x := place(p, fmt.Sprintf("%v, isolation %v", r.Get("case"), r.Get("isolation")))
	for _, v := range []struct{ name, value string }{{"p50", "p50_ms"}, {"p99", "p99_ms"},
		{"by hand, p50", "hand_ms"}} {
		addPoint(p, v.name, measure.Marks, x, number(r, v.value))
	}
}

func drawWarm(p *measure.Plot, r *measure.Row) {
	x := place(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("server")))
	for _, q := range []string{"p50", "p99"} {
		addPoint(p, q, measure.Marks, x, number(r, q+"_ms"))
	}
}

func drawConcurrent(p *measure.Plot, r *measure.Row) {
	for _, q := range []string{"p50", "p99"} {
		addPoint(p, fmt.Sprintf("%v %s", r.Get("server"), q), measure.LineMarks, number(r, "connections"),
			number(r, q+"_ms"))
	}
}

func drawHundred(p *measure.Plot, r *measure.Row) {
	x := place(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("call")))
	for _, q := range []string{"p50", "p99", "max"} {
		addPoint(p, q, measure.Marks, x, number(r, q+"_ms"))
	}
}

func drawTraffic(p *measure.Plot, r *measure.Row) {
	addPoint(p, "cold", measure.Marks, place(p, fmt.Sprint(r.Get("case"))), number(r, "cold_pct"))
}
