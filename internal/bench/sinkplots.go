package bench

import (
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// sinkView shows the rows of the sink bench.
func sinkView() view {
	v := view{label: func(r *measure.Row) string { return fmt.Sprint(r.Get("work")) }, pictures: sinkPictures(),
		sections: sinkSections()}
	for _, s := range v.sections {
		v.means = append(v.means, s.works...)
	}
	return v
}

// sinkPictures show the rows of the sink bench: the field report's three, and what it left open.
func sinkPictures() []picture {
	return []picture{
		{"sink-rates.svg", measure.Plot{Title: "Events a second, ten columns, 4 requests at a time",
			XLabel: "offered a second", YLabel: "events/s", XLog: true, YLog: true}, sinkScenarios(partRates),
			drawSinkRate, false},
		{"sink-parallel.svg", measure.Plot{Title: "Events a second, ten columns, 100,000 offered",
			XLabel: "requests at a time", YLabel: "events/s"}, sinkScenarios(partParallel), drawSinkParallel, false},
		{"sink-columns.svg", measure.Plot{Title: "Events a second, 4 requests at a time, 100,000 offered",
			XLabel: "columns", YLabel: "events/s", XLog: true, YLog: true}, sinkScenarios(partColumns), drawSinkColumns,
			false},
		{"sink-matrix.svg", measure.Plot{Title: "Events a second, ten columns, as fast as they are taken",
			YLabel: "events/s"}, []string{partMatrix}, drawSinkMatrix, true},
		{"sink-long.svg", measure.Plot{Title: "A flood of events over time", XLabel: "s", YLabel: "events/s"},
			[]string{partLong}, drawSinkLong, true},
		{"sink-layers.svg", measure.Plot{Title: "Processor time of an event, by layer", YLabel: "µs"},
			[]string{partLayers}, drawSinkLayers, true},
	}
}

func sinkSeries(r *measure.Row) string { return fmt.Sprintf("%v, %v", r.Get("case"), r.Get("server")) }

func drawSinkRate(p *measure.Plot, r *measure.Row) {
	x := number(r, "offered_per_s")
	if r.Get("in_flight") == "default" {
		return // the same, but for its setting
	}
	addPoint(p, sinkSeries(r), measure.LineMarks, x, number(r, "per_s"))
	if r.Get("case") == caseOurs {
		addPoint(p, "offered", measure.Dashes, x, x)
	}
}

func drawSinkParallel(p *measure.Plot, r *measure.Row) {
	addPoint(p, sinkSeries(r), measure.Marks, place(p, fmt.Sprint(r.Get("in_flight"))), number(r, "per_s"))
}

func drawSinkColumns(p *measure.Plot, r *measure.Row) {
	addPoint(p, sinkSeries(r), measure.LineMarks, number(r, "columns"), number(r, "per_s"))
}

func drawSinkMatrix(p *measure.Plot, r *measure.Row) {
	if r.Get("conflicts") == nil {
		name := fmt.Sprintf("%v requests at a time", r.Get("in_flight"))
		addPoint(p, name, measure.LineMarks,
			place(p, strings.TrimSpace(fmt.Sprintf("%v %v", r.Get("transaction"), r.Get("batch_limit")))),
			number(r, "per_s"))
	}
}

func drawSinkLong(p *measure.Plot, r *measure.Row) {
	if at, ok := r.Number("at_s"); ok {
		addPoint(p, "events/s", measure.LineMarks, at, number(r, "per_s"))
		addPoint(p, "waiting lines", measure.Dashes, at, number(r, "unread"))
	}
}

func drawSinkLayers(p *measure.Plot, r *measure.Row) {
	if r.Get("busy") != nil {
		addPoint(p, fmt.Sprint(r.Get("server")), measure.Marks, place(p, fmt.Sprint(r.Get("layer"))),
			number(r, "cpu_us"))
	}
}

// sinkSections are the tables of the sink bench.
func sinkSections() []section {
	hide := []string{"p50_ms", "min_ms", "n", "cells_per_s", "requests", "server"}
	return []section{
		{"One column, one request at a time", sinkScenarios(partBaseline), hide},
		{"Events at a rate", sinkScenarios(partRates), hide},
		{"Requests at a time", sinkScenarios(partParallel), hide},
		{"Columns", sinkScenarios(partColumns), without(hide, "cells_per_s")},
		{"Beside the database's own means", sinkScenarios(partBare), hide},
		{"Batches, transactions and requests at a time", []string{partMatrix}, hide},
		{"Types of columns", []string{partTypes}, hide},
		{"A flood, over time", []string{partLong}, hide},
		{"Shared out among couriers", []string{partSplit}, hide},
		{"Where the time goes", []string{partLayers}, append(hide, "mean_ms", "p95_ms", "p99_ms", "max_ms", "batch",
			"batch_max", "in_flight")},
	}
}

func without(names []string, name string) []string {
	var left []string
	for _, n := range names {
		if n != name {
			left = append(left, n)
		}
	}
	return left
}
