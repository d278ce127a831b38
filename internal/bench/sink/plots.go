package sink

import (
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view shows the rows of the sink bench.
func view() harness.View {
	v := harness.View{Label: func(r *measure.Row) string { return fmt.Sprint(r.Get("work")) }, Pictures: sinkPictures(),
		Sections: sinkSections()}
	for _, s := range v.Sections {
		v.Means = append(v.Means, s.Works...)
	}
	return v
}

// sinkPictures show the rows of the sink bench: the field report's three, and what it left open.
func sinkPictures() []harness.Picture {
	return []harness.Picture{
		{File: "sink-rates.svg", Plot: measure.Plot{Title: "Events a second, ten columns, 4 requests at a time",
			XLabel: "offered a second", YLabel: "events/s", XLog: true, YLog: true}, Works: sinkScenarios(partRates),
			Draw: drawSinkRate, Bare: false},
		{File: "sink-parallel.svg", Plot: measure.Plot{Title: "Events a second, ten columns, 100,000 offered",
			XLabel: "requests at a time", YLabel: "events/s"}, Works: sinkScenarios(partParallel),
			Draw: drawSinkParallel, Bare: false},
		{File: "sink-columns.svg", Plot: measure.Plot{Title: "Events a second, 4 requests at a time, 100,000 offered",
			XLabel: "columns", YLabel: "events/s", XLog: true, YLog: true}, Works: sinkScenarios(partColumns),
			Draw: drawSinkColumns,
			Bare: false},
		{File: "sink-matrix.svg", Plot: measure.Plot{Title: "Events a second, ten columns, as fast as they are taken",
			YLabel: "events/s"}, Works: []string{partMatrix}, Draw: drawSinkMatrix, Bare: true},
		{File: "sink-long.svg", Plot: measure.Plot{Title: "A flood of events over time", XLabel: "s",
			YLabel: "events/s"},
			Works: []string{partLong}, Draw: drawSinkLong, Bare: true},
		{File: "sink-layers.svg", Plot: measure.Plot{Title: "Processor time of an event, by layer", YLabel: "µs"},
			Works: []string{partLayers}, Draw: drawSinkLayers, Bare: true},
	}
}

func sinkSeries(r *measure.Row) string { return fmt.Sprintf("%v, %v", r.Get("case"), r.Get("server")) }

func drawSinkRate(p *measure.Plot, r *measure.Row) {
	x := harness.Number(r, "offered_per_s")
	if r.Get("in_flight") == "default" {
		return // the same, but for its setting
	}
	harness.AddPoint(p, sinkSeries(r), measure.LineMarks, x, harness.Number(r, "per_s"))
	if r.Get("case") == harness.CaseOurs {
		harness.AddPoint(p, "offered", measure.Dashes, x, x)
	}
}

func drawSinkParallel(p *measure.Plot, r *measure.Row) {
	harness.AddPoint(p, sinkSeries(r), measure.Marks, harness.Place(p, fmt.Sprint(r.Get("in_flight"))),
		harness.Number(r, "per_s"))
}

func drawSinkColumns(p *measure.Plot, r *measure.Row) {
	harness.AddPoint(p, sinkSeries(r), measure.LineMarks, harness.Number(r, "columns"), harness.Number(r, "per_s"))
}

func drawSinkMatrix(p *measure.Plot, r *measure.Row) {
	if r.Get("conflicts") == nil {
		name := fmt.Sprintf("%v requests at a time", r.Get("in_flight"))
		harness.AddPoint(p, name, measure.LineMarks,
			harness.Place(p, strings.TrimSpace(fmt.Sprintf("%v %v", r.Get("transaction"), r.Get("batch_limit")))),
			harness.Number(r, "per_s"))
	}
}

func drawSinkLong(p *measure.Plot, r *measure.Row) {
	if at, ok := r.Number("at_s"); ok {
		harness.AddPoint(p, "events/s", measure.LineMarks, at, harness.Number(r, "per_s"))
		harness.AddPoint(p, "waiting lines", measure.Dashes, at, harness.Number(r, "unread"))
	}
}

func drawSinkLayers(p *measure.Plot, r *measure.Row) {
	if r.Get("busy") != nil {
		harness.AddPoint(p, fmt.Sprint(r.Get("server")), measure.Marks, harness.Place(p, fmt.Sprint(r.Get("layer"))),
			harness.Number(r, "cpu_us"))
	}
}

// sinkSections are the tables of the sink bench.
func sinkSections() []harness.Section {
	hide := []string{"p50_ms", "min_ms", "n", "cells_per_s", "requests", "server"}
	return []harness.Section{
		{Title: "One column, one request at a time", Works: sinkScenarios(partBaseline), Hides: hide},
		{Title: "Events at a rate", Works: sinkScenarios(partRates), Hides: hide},
		{Title: "Requests at a time", Works: sinkScenarios(partParallel), Hides: hide},
		{Title: "Columns", Works: sinkScenarios(partColumns), Hides: without(hide, "cells_per_s")},
		{Title: "Beside the database's own means", Works: sinkScenarios(partBare), Hides: hide},
		{Title: "Batches, transactions and requests at a time", Works: []string{partMatrix}, Hides: hide},
		{Title: "Types of columns", Works: []string{partTypes}, Hides: hide},
		{Title: "A flood, over time", Works: []string{partLong}, Hides: hide},
		{Title: "Shared out among couriers", Works: []string{partSplit}, Hides: hide},
		{Title: "Where the time goes", Works: []string{partLayers},
			Hides: append(hide, "mean_ms", "p95_ms", "p99_ms", "max_ms", "batch",
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
