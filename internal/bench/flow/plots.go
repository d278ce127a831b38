package flow

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// view shows the rows of the flow bench.
func view() harness.View {
	return harness.View{Label: harness.CaseLabel, Pictures: flowPictures(), Sections: []harness.Section{
		{Title: "Thirty students and five scores of each", Works: []string{workStudents}},
		{Title: "Users, and what to send to each; the ideal is the join",
			Works: []string{workUsersSQLite, workUsersPostgres}},
		{Title: "A stage without work; the ratio is of costs", Works: []string{workOverhead}, Hides: []string{"per_s"}},
	}}
}

// flowPictures show the rows of the flow bench.
func flowPictures() []harness.Picture {
	return []harness.Picture{
		{File: "flow-students.svg", Plot: measure.Plot{Title: "Thirty students and five scores of each, 100 ms apiece",
			YLabel: "s",
			YLog:   true}, Works: []string{workStudents}, Draw: drawStudents, Bare: false},
		{File: "flow-users.svg", Plot: measure.Plot{Title: "What to send to each of 10,000 users", YLabel: "ms",
			YLog: true},
			Works: []string{workUsersSQLite, workUsersPostgres}, Draw: drawUsers, Bare: false},
	}
}

func drawStudents(p *measure.Plot, r *measure.Row) {
	x := harness.Place(p, fmt.Sprint(r.Get("case")))
	for _, s := range [...]struct{ name, value string }{{"published", "report_ms"}, {"flow", "total_ms"},
		{"ideal", "ideal_ms"}} {
		harness.AddPoint(p, s.name, measure.Marks, x, harness.Number(r, s.value)/1000)
	}
}

func drawUsers(p *measure.Plot, r *measure.Row) {
	harness.AddPoint(p, fmt.Sprint(r.Get("work")), measure.Marks, harness.Place(p, fmt.Sprint(r.Get("case"))),
		harness.Number(r, "total_ms"))
}
