package queue

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view shows the rows of the queue bench.
func view() harness.View {
	puts, claims := []string{"put", "put-group", "put-pipelined"}, []string{"claim", "claim-where"}
	return harness.View{Label: queueLabel, Sections: []harness.Section{
		{Title: "Puts", Works: puts, Hides: []string{"depth", "rss_mb"}},
		{Title: "Claims", Works: claims, Hides: []string{"rss_mb"}},
		{Title: "Claims by condition at depth; the ratio is of costs", Works: []string{"claim-deep"},
			Hides: []string{"rss_mb", "writers", "condition"}},
		{Title: "From durable to the reader that waits; the ratio is of costs", Works: []string{workHandOver},
			Hides: []string{"rss_mb", "depth", "per_s"}},
		{Title: "Puts beside calls that go through a long queue, each read taking a millisecond",
			Works: []string{workBeside},
			Hides: []string{"rss_mb"}},
		{Title: "Two shards beside one; messages from one shard to another", Works: []string{workShards, workRelay},
			Hides: []string{"rss_mb", "depth"}},
		{Title: "Starts", Works: []string{"restart"}, Hides: []string{"rss_mb"}},
		{Title: "Memory", Works: []string{"memory"}},
		{Title: "Cleaning; the ratio is of the p99.9", Works: []string{"cleaning"}, Hides: []string{"rss_mb", "depth"}},
		{Title: "What cleaning writes, and reading what waited", Works: []string{"cleaning-copies", "cleaning-drain"},
			Hides: []string{"rss_mb", "depth"}},
	}, Pictures: []harness.Picture{
		{File: "queue-rates.svg", Plot: measure.Plot{Title: "Durable puts a second", YLabel: "messages/s", YLog: true},
			Works: puts,
			Draw:  drawRate, Bare: false},
		{File: "queue-latencies.svg", Plot: measure.Plot{Title: "Time of a durable put", YLabel: "ms", YLog: true},
			Works: puts, Draw: drawTimes,
			Bare: true},
		{File: "queue-claims.svg", Plot: measure.Plot{Title: "Messages claimed and durably settled a second",
			YLabel: "messages/s",
			YLog:   true}, Works: claims, Draw: drawRate, Bare: false},
		{File: "queue-depth.svg", Plot: measure.Plot{
			Title: "A claim by condition, by share of matches", XLabel: "messages that match", YLabel: "µs", YLog: true,
		}, Works: []string{"claim-deep"}, Draw: drawDepth, Bare: false},
		{File: "queue-hand-over.svg", Plot: measure.Plot{
			Title: "From durable to the reader that waits", XLabel: "other readers that wait", YLabel: "ms", YLog: true,
		}, Works: []string{workHandOver}, Draw: drawHandOver, Bare: false},
		{File: "queue-restart.svg", Plot: measure.Plot{Title: "Time of a start", XLabel: "waiting messages",
			YLabel: "ms",
			XLog:   true, YLog: true}, Works: []string{"restart"}, Draw: drawStart, Bare: false},
		{File: "queue-memory.svg", Plot: measure.Plot{Title: "Memory with messages waiting", YLabel: "MB"},
			Works: []string{"memory"},
			Draw:  drawMemory, Bare: false},
		{File: "queue-cleaning.svg", Plot: measure.Plot{Title: "Time of a durable put while the store is cleaned",
			YLabel: "ms",
			YLog:   true}, Works: []string{"cleaning"}, Draw: drawCleaning, Bare: false},
	}}
}

// queueLabel names a row's work and what tells it apart.
func queueLabel(r *measure.Row) string {
	depth := measure.Count(int64(harness.Number(r, "depth")))
	switch work := r.Get("work"); work {
	case "claim-deep":
		return fmt.Sprintf("%v, %v of %s", work, r.Get("matching"), depth)
	case "restart":
		return fmt.Sprintf("%v with %s, %v", work, depth, r.Get("start"))
	case "memory":
		return fmt.Sprintf("%v with %s, %v indexes", work, depth, r.Get("indexes"))
	case workHandOver:
		return fmt.Sprintf("%v, %v others", work, measure.Count(int64(harness.Number(r, "waiters"))))
	default:
		return label(r)
	}
}

func drawRate(p *measure.Plot, r *measure.Row) {
	harness.AddPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, harness.Place(p, label(r)),
		harness.Number(r, "per_s"))
}

func drawTimes(p *measure.Plot, r *measure.Row) {
	if c := r.Get("case"); c != harness.CaseOurs && c != harness.CaseLimit {
		return // what they write at once is something else
	}
	x := harness.Place(p, label(r))
	for _, q := range []string{"p50", "p99"} {
		harness.AddPoint(p, fmt.Sprintf("%v %s", r.Get("case"), q), measure.Marks, x, harness.Number(r, q+"_ms"))
	}
}

func drawDepth(p *measure.Plot, r *measure.Row) {
	x, depth := harness.Place(p, fmt.Sprint(r.Get("matching"))), measure.Count(int64(harness.Number(r, "depth")))
	harness.AddPoint(p, "with settling, p50 at "+depth, measure.LineMarks, x, 1000*harness.Number(r, "p50_ms"))
	harness.AddPoint(p, "looking, p50 at "+depth, measure.LineMarks, x, harness.Number(r, "look_p50_us"))
	harness.AddPoint(p, "looking, p99 at "+depth, measure.LineMarks, x, harness.Number(r, "look_p99_us"))
}

func drawHandOver(p *measure.Plot, r *measure.Row) {
	harness.Place(p, "0") // first, though it is reported last
	x := harness.Place(p, measure.Count(int64(harness.Number(r, "waiters"))))
	for _, q := range []string{"p50", "p99", "max"} {
		harness.AddPoint(p, q, measure.Marks, x, harness.Number(r, q+"_ms"))
	}
}

func drawStart(p *measure.Plot, r *measure.Row) {
	style := measure.LineMarks
	switch {
	case r.Get("start") == startKilled:
		style = measure.Marks // there is one only
	case r.Get("case") == harness.CaseLimit:
		style = measure.Dashes
	}
	harness.AddPoint(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("start")), style, harness.Number(r, "depth"),
		harness.Number(r, "p50_ms"))
}

func drawMemory(p *measure.Plot, r *measure.Row) {
	name := "bare"
	if n := int(harness.Number(r, "indexes")); n > 0 {
		name = fmt.Sprintf("%d indexed columns", n)
	}
	x := harness.Place(p, name)
	harness.AddPoint(p, "resident", measure.Marks, x, harness.Number(r, "rss_mb"))
	harness.AddPoint(p, "heap", measure.Marks, x, harness.Number(r, "heap_mb"))
	harness.AddPoint(p, "resident, empty", measure.Marks, x, harness.Number(r, "empty_rss_mb"))
}

func drawCleaning(p *measure.Plot, r *measure.Row) {
	name := fmt.Sprintf("%v, %v at once", r.Get("case"), r.Get("writers"))
	for _, q := range [...]struct{ name, value string }{{"p50", "p50_ms"}, {"p99", "p99_ms"}, {"p99.9", "p999_ms"},
		{"max", "max_ms"}} {
		harness.AddPoint(p, name, measure.LineMarks, harness.Place(p, q.name), harness.Number(r, q.value))
	}
}

// label names a work on an axis.
func label(r *measure.Row) string {
	if c := r.Get("condition"); c != nil {
		return fmt.Sprintf("%v %v", c, measure.Count(int64(harness.Number(r, "depth"))))
	}
	return fmt.Sprintf("%v %v", r.Get("work"), r.Get("writers"))
}
