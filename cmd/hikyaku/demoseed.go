package main

import (
	"bytes"
	"io"
	"math"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// seedFigures are the field report's own, in milliseconds, for a thousand queue messages of ten users: mean, median,
// p99, max, min.
var seedFigures = []struct {
	name    string
	figures [5]int64
}{
	{"published, first version", [5]int64{8625, 8622, 16464, 20792, 1747}},
	{"published, first fix", [5]int64{4622, 4720, 7017, 12987, 1936}},
	{"published, second fix", [5]int64{2853, 2847, 5194, 7123, 811}},
}

const seedNote = `Milliseconds from dequeue to answer, for each user; ours until the answer is durable. What was published was measured with 10,000 users, from other machines to Apple's:
hikyaku bench push runs the three versions and ours against one far end.`

// seedTable is the field report's table, with ours below: each user's time from its dequeue, and from the news that
// began it all.
func (t *campaignHops) seedTable(s terminal, users int, took time.Duration) *measure.Table {
	names := []string{"users/s", "mean", "median", "p99", "max", "min"}
	shown := []int{0, 1, 2, 3, 4, 5}
	if s.narrow() {
		shown = []int{1, 3}
	}
	columns := []measure.Column{{Name: "sender"}}
	for _, i := range shown {
		columns = append(columns, right(names[i]))
	}
	table := measure.NewTable(columns...)
	row := func(name string, cells [6]string) {
		all := []any{name}
		for _, i := range shown {
			all = append(all, cells[i])
		}
		table.Row(all...)
	}
	for _, s := range seedFigures {
		var cells [6]string
		for i, ms := range s.figures {
			cells[1+i] = measure.Count(ms)
		}
		row(s.name, cells)
	}
	ms := func(d time.Duration) string {
		return measure.Count(int64(math.Round(float64(d) / float64(time.Millisecond))))
	}
	ours := func(name, rate string, h *measure.Histogram) {
		s := h.Summary()
		row(name, [6]string{rate, ms(s.Mean), ms(s.P50), ms(s.P99), ms(s.Max), ms(s.Min)})
	}
	ours("hikyaku", measure.Count(int64(float64(users)/took.Seconds())), t.dequeue)
	ours("hikyaku, since the news", "", t.whole)
	return table
}

// writeSeed writes the report's table, ours apart from its rows, and what the figures are.
func (t *campaignHops) writeSeed(w io.Writer, s terminal, users int, took time.Duration) error {
	var text bytes.Buffer
	if err := t.seedTable(s, users, took).WriteText(&text); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	heading, theirs, ours := lines[:2], lines[2:2+len(seedFigures)], lines[2+len(seedFigures):]
	var b strings.Builder
	for _, part := range []struct {
		colour string
		lines  []string
	}{{bold, heading}, {faint, theirs}, {"", []string{""}}, {green, ours}} {
		for _, line := range part.lines {
			if part.colour != "" {
				line = s.paint(part.colour, line)
			}
			b.WriteString(line + "\n")
		}
	}
	b.WriteString("\n" + s.wrap(seedNote, "") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}
