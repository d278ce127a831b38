package bench

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// flowView shows the rows of the flow bench.
func flowView() view {
	return view{label: caseLabel, pictures: flowPictures(), sections: []section{
		{"Thirty students and five scores of each", []string{workStudents}, nil},
		{"Users, and what to send to each; the ideal is the join", []string{workUsersSQLite, workUsersPostgres}, nil},
		{"A stage without work; the ratio is of costs", []string{workOverhead}, []string{"per_s"}},
	}}
}

// flowPictures show the rows of the flow bench.
func flowPictures() []picture {
	return []picture{
		{"flow-students.svg", measure.Plot{Title: "Thirty students and five scores of each, 100 ms apiece", YLabel: "s",
			YLog: true}, []string{workStudents}, drawStudents, false},
		{"flow-users.svg", measure.Plot{Title: "What to send to each of 10,000 users", YLabel: "ms", YLog: true},
			[]string{workUsersSQLite, workUsersPostgres}, drawUsers, false},
	}
}

func drawStudents(p *measure.Plot, r *measure.Row) {
	x := place(p, fmt.Sprint(r.Get("case")))
	for _, s := range [...]struct{ name, value string }{{"the report's", "report_ms"}, {"flow", "total_ms"},
		{"ideal", "ideal_ms"}} {
		addPoint(p, s.name, measure.Marks, x, number(r, s.value)/1000)
	}
}

func drawUsers(p *measure.Plot, r *measure.Row) {
	addPoint(p, fmt.Sprint(r.Get("work")), measure.Marks, place(p, fmt.Sprint(r.Get("case"))), number(r, "total_ms"))
}
