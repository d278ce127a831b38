package bench

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// queueView shows the rows of the queue bench.
func queueView() view {
	puts, claims := []string{"put", "put-group", "put-pipelined"}, []string{"claim", "claim-where"}
	return view{label: queueLabel, sections: []section{
		{"Puts", puts, []string{"depth", "rss_mb"}},
		{"Claims", claims, []string{"rss_mb"}},
		{"Claims by condition at depth; the ratio is of costs", []string{"claim-deep"},
			[]string{"rss_mb", "writers", "condition"}},
		{"From durable to the reader that waits; the ratio is of costs", []string{workHandOver},
			[]string{"rss_mb", "depth", "per_s"}},
		{"Puts beside calls that go through a long queue, each read taking a millisecond", []string{workBeside},
			[]string{"rss_mb"}},
		{"Starts", []string{"restart"}, []string{"rss_mb"}},
		{"Memory", []string{"memory"}, nil},
		{"Cleaning; the ratio is of the p99.9", []string{"cleaning"}, []string{"rss_mb", "depth"}},
		{"What cleaning writes, and reading what waited", []string{"cleaning-copies", "cleaning-drain"},
			[]string{"rss_mb", "depth"}},
	}, pictures: []picture{
		{"queue-rates.svg", measure.Plot{Title: "Durable puts a second", YLabel: "messages/s", YLog: true}, puts,
			drawRate, false},
		{"queue-latencies.svg", measure.Plot{Title: "Time of a durable put", YLabel: "ms", YLog: true}, puts, drawTimes,
			true},
		{"queue-claims.svg", measure.Plot{Title: "Messages claimed and durably settled a second", YLabel: "messages/s",
			YLog: true}, claims, drawRate, false},
		{"queue-depth.svg", measure.Plot{
			Title: "A claim by condition, by share of matches", XLabel: "messages that match", YLabel: "µs", YLog: true,
		}, []string{"claim-deep"}, drawDepth, false},
		{"queue-hand-over.svg", measure.Plot{
			Title: "From durable to the reader that waits", XLabel: "other readers that wait", YLabel: "ms", YLog: true,
		}, []string{workHandOver}, drawHandOver, false},
		{"queue-restart.svg", measure.Plot{Title: "Time of a start", XLabel: "waiting messages", YLabel: "ms",
			XLog: true, YLog: true}, []string{"restart"}, drawStart, false},
		{"queue-memory.svg", measure.Plot{Title: "Memory with messages waiting", YLabel: "MB"}, []string{"memory"},
			drawMemory, false},
		{"queue-cleaning.svg", measure.Plot{Title: "Time of a durable put while the store is cleaned", YLabel: "ms",
			YLog: true}, []string{"cleaning"}, drawCleaning, false},
	}}
}

// queueLabel names a row's work and what tells it apart.
func queueLabel(r *measure.Row) string {
	depth := measure.Count(int64(number(r, "depth")))
	switch work := r.Get("work"); work {
	case "claim-deep":
		return fmt.Sprintf("%v, %v of %s", work, r.Get("matching"), depth)
	case "restart":
		return fmt.Sprintf("%v with %s, %v", work, depth, r.Get("start"))
	case "memory":
		return fmt.Sprintf("%v with %s, %v indexes", work, depth, r.Get("indexes"))
	case workHandOver:
		return fmt.Sprintf("%v, %v others", work, measure.Count(int64(number(r, "waiters"))))
	default:
		return label(r)
	}
}

func drawRate(p *measure.Plot, r *measure.Row) {
	addPoint(p, fmt.Sprint(r.Get("case")), measure.Marks, place(p, label(r)), number(r, "per_s"))
}

func drawTimes(p *measure.Plot, r *measure.Row) {
	if c := r.Get("case"); c != caseOurs && c != caseLimit {
		return // what they write at once is something else
	}
	x := place(p, label(r))
	for _, q := range []string{"p50", "p99"} {
		addPoint(p, fmt.Sprintf("%v %s", r.Get("case"), q), measure.Marks, x, number(r, q+"_ms"))
	}
}

func drawDepth(p *measure.Plot, r *measure.Row) {
	x, depth := place(p, fmt.Sprint(r.Get("matching"))), measure.Count(int64(number(r, "depth")))
	addPoint(p, "with settling, p50 at "+depth, measure.LineMarks, x, 1000*number(r, "p50_ms"))
	addPoint(p, "looking, p50 at "+depth, measure.LineMarks, x, number(r, "look_p50_us"))
	addPoint(p, "looking, p99 at "+depth, measure.LineMarks, x, number(r, "look_p99_us"))
}

func drawHandOver(p *measure.Plot, r *measure.Row) {
	place(p, "0") // first, though it is reported last
	x := place(p, measure.Count(int64(number(r, "waiters"))))
	for _, q := range []string{"p50", "p99", "max"} {
		addPoint(p, q, measure.Marks, x, number(r, q+"_ms"))
	}
}

func drawStart(p *measure.Plot, r *measure.Row) {
	style := measure.LineMarks
	switch {
	case r.Get("start") == startKilled:
		style = measure.Marks // there is one only
	case r.Get("case") == caseLimit:
		style = measure.Dashes
	}
	addPoint(p, fmt.Sprintf("%v, %v", r.Get("case"), r.Get("start")), style, number(r, "depth"), number(r, "p50_ms"))
}

func drawMemory(p *measure.Plot, r *measure.Row) {
	name := "bare"
	if n := int(number(r, "indexes")); n > 0 {
		name = fmt.Sprintf("%d indexed columns", n)
	}
	x := place(p, name)
	addPoint(p, "resident", measure.Marks, x, number(r, "rss_mb"))
	addPoint(p, "heap", measure.Marks, x, number(r, "heap_mb"))
	addPoint(p, "resident, empty", measure.Marks, x, number(r, "empty_rss_mb"))
}

func drawCleaning(p *measure.Plot, r *measure.Row) {
	name := fmt.Sprintf("%v, %v at once", r.Get("case"), r.Get("writers"))
	for _, q := range [...]struct{ name, value string }{{"p50", "p50_ms"}, {"p99", "p99_ms"}, {"p99.9", "p999_ms"},
		{"max", "max_ms"}} {
		addPoint(p, name, measure.LineMarks, place(p, q.name), number(r, q.value))
	}
}

// label names a work on an axis.
func label(r *measure.Row) string {
	if c := r.Get("condition"); c != nil {
		return fmt.Sprintf("%v %v", c, measure.Count(int64(number(r, "depth"))))
	}
	return fmt.Sprintf("%v %v", r.Get("work"), r.Get("writers"))
}
