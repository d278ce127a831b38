package main

import (
	"fmt"
	"math"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// seedFigures are the field report's own, in milliseconds, for a thousand queue messages of ten users: mean, median, p99, max, min.
var seedFigures = []struct {
	name    string
	figures [5]int64
}{
	{"the report's first version", [5]int64{8625, 8622, 16464, 20792, 1747}},
	{"its first fix", [5]int64{4622, 4720, 7017, 12987, 1936}},
	{"its second fix", [5]int64{2853, 2847, 5194, 7123, 811}},
}

const seedNote = `
Milliseconds from dequeue to answer, for each user; ours until the answer is durable. The report's figures are for 10,000
users, from its own machines to Apple's: hikyaku bench push runs its three versions and ours against one far end.
`

// seedTable is the field report's table, with ours below: each user's time from its dequeue, and from the news that began it all.
func (t *campaignHops) seedTable(users int, took time.Duration) *measure.Table {
	table := measure.NewTable(measure.Column{Name: "sender"}, right("users/s"), right("mean"), right("median"), right("p99"), right("max"), right("min"))
	for _, s := range seedFigures {
		var cells []any
		for _, ms := range s.figures {
			cells = append(cells, measure.Count(ms))
		}
		table.Row(append([]any{s.name, ""}, cells...)...)
	}
	ms := func(d time.Duration) string {
		return measure.Count(int64(math.Round(float64(d) / float64(time.Millisecond))))
	}
	row := func(name, rate string, h *measure.Histogram) {
		s := h.Summary()
		table.Row(name, rate, ms(s.Mean), ms(s.P50), ms(s.P99), ms(s.Max), ms(s.Min))
	}
	row("hikyaku", measure.Count(int64(float64(users)/took.Seconds())), t.dequeue)
	row(fmt.Sprintf("hikyaku, since the news for all %s", measure.Count(int64(users))), "", t.whole)
	return table
}
