package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// topColumn is a column of a table of top: its heading, how a row stands in it, and what rows are sorted by, the most
// first. The first column of each table is the name, by which what is alike is sorted.
type topColumn[T any] struct {
	name string
	show func(*T, rated) string
	sort func(*T) float64
}

// rated says whether rates are known yet.
type rated bool

func (known rated) rate(f float64) string {
	if !known {
		return ""
	}
	return measure.Number(f)
}

func number[T any](name string, of func(*T) float64) topColumn[T] {
	return topColumn[T]{name, func(t *T, _ rated) string { return measure.Count(int64(of(t))) }, of}
}

func rate[T any](name string, of func(*T) float64) topColumn[T] {
	return topColumn[T]{name, func(t *T, known rated) string { return known.rate(of(t)) }, of}
}

func span[T any](name string, seconds func(*T) float64) topColumn[T] {
	return topColumn[T]{name, func(t *T, _ rated) string {
		if seconds(t) == 0 {
			return ""
		}
		return measure.Duration(time.Duration(seconds(t) * float64(time.Second)))
	}, seconds}
}

func byteRate[T any](name string, of func(*T) float64) topColumn[T] {
	return topColumn[T]{name, func(t *T, known rated) string {
		if !known {
			return ""
		}
		return measure.Bytes(int64(of(t)))
	}, of}
}

// The columns of the tables, but for the name. Queues are sorted by the server, which knows all of them.
var (
	queueColumns = []topColumn[httpdoor.TopQueue]{
		number("ready", func(q *httpdoor.TopQueue) float64 { return float64(q.Ready) }),
		number("claimed", func(q *httpdoor.TopQueue) float64 { return float64(q.Claimed) }),
		number("delayed", func(q *httpdoor.TopQueue) float64 { return float64(q.Delayed) }),
		number("dead", func(q *httpdoor.TopQueue) float64 { return float64(q.Dead) }),
		rate("in/s", func(q *httpdoor.TopQueue) float64 { return q.In }),
		rate("out/s", func(q *httpdoor.TopQueue) float64 { return q.Out }),
		span("oldest", func(q *httpdoor.TopQueue) float64 { return q.Oldest }),
	}
	componentColumns = []topColumn[httpdoor.TopComponent]{
		{name: "kind", show: func(c *httpdoor.TopComponent, _ rated) string { return c.Kind }},
		rate("in/s", func(c *httpdoor.TopComponent) float64 { return c.In }),
		rate("out/s", func(c *httpdoor.TopComponent) float64 { return c.Out }),
		number("in flight", func(c *httpdoor.TopComponent) float64 { return float64(c.InFlight) }),
		number("retried", func(c *httpdoor.TopComponent) float64 { return float64(c.Retried) }),
		number("rejected", func(c *httpdoor.TopComponent) float64 { return float64(c.Rejected) }),
		span("p50", func(c *httpdoor.TopComponent) float64 { return c.P50 }),
		span("p99", func(c *httpdoor.TopComponent) float64 { return c.P99 }),
	}
	doorColumns = []topColumn[httpdoor.TopDoor]{
		number("connections", func(d *httpdoor.TopDoor) float64 { return float64(d.Connections) }),
		rate("requests/s", func(d *httpdoor.TopDoor) float64 { return d.Requests }),
		rate("errors/s", func(d *httpdoor.TopDoor) float64 { return d.Errors }),
		byteRate("received/s", func(d *httpdoor.TopDoor) float64 { return d.Received }),
		byteRate("sent/s", func(d *httpdoor.TopDoor) float64 { return d.Sent }),
	}
)

// topTable is one of the tables, for those who show it.
type topTable struct {
	name  string
	sorts []string // what it can be sorted by; of queues the words of the server
	text  func(t *httpdoor.Top, sort string, width int) string
}

// topTables are all of them, in their order.
var topTables = []topTable{
	{"queues", append([]string{"busy"}, "ready", "claimed", "delayed", "dead", "in", "out", "oldest", "name"),
		func(t *httpdoor.Top, _ string, width int) string {
			return tableText("queue", t, t.Queues, func(q *httpdoor.TopQueue) string {
				return strings.TrimPrefix(q.Name, "default/")
			}, queueColumns, width)
		}},
	{"components", sortsOf(componentColumns), func(t *httpdoor.Top, sort string, width int) string {
		rows := sorted(t.Components, func(c *httpdoor.TopComponent) string { return c.Name }, componentColumns, sort)
		return tableText("component", t, rows, func(c *httpdoor.TopComponent) string { return c.Name },
			componentColumns, width)
	}},
	{"doors", sortsOf(doorColumns), func(t *httpdoor.Top, sort string, width int) string {
		rows := sorted(t.Doors, func(d *httpdoor.TopDoor) string { return d.Name }, doorColumns, sort)
		return tableText("door", t, rows, func(d *httpdoor.TopDoor) string { return d.Name }, doorColumns, width)
	}},
}

// asConfigured is the sort of components and doors that leaves them as they come.
const asConfigured = "as configured"

func sortsOf[T any](columns []topColumn[T]) []string {
	names := []string{asConfigured, "name"}
	for _, c := range columns {
		if c.sort != nil {
			names = append(names, c.name)
		}
	}
	return names
}

func sorted[T any](rows []T, name func(*T) string, columns []topColumn[T], by string) []T {
	if by == asConfigured {
		return rows
	}
	key := func(*T) float64 { return 0 }
	if i := slices.IndexFunc(columns, func(c topColumn[T]) bool { return c.name == by }); i >= 0 {
		key = columns[i].sort
	}
	return slices.SortedFunc(slices.Values(rows), func(a, b T) int {
		return cmp.Or(cmp.Compare(key(&b), key(&a)), cmp.Compare(name(&a), name(&b)))
	})
}

// leastName is how many columns of a terminal names keep at least.
const leastName = 12

// tableText is a table as text. Names are made shorter where it would not fit into width; 0: they are left whole.
func tableText[T any](heading string, t *httpdoor.Top, rows []T, name func(*T) string, columns []topColumn[T],
	width int) string {
	made := func(most int) string {
		all := []measure.Column{{Name: heading}}
		for _, c := range columns {
			align := measure.Right
			if c.sort == nil {
				align = measure.Left
			}
			all = append(all, measure.Column{Name: c.name, Align: align})
		}
		table := measure.NewTable(all...)
		for i := range rows {
			text := name(&rows[i])
			if most > 0 {
				text = measure.Line(text, most)
			}
			cells := []any{text}
			for _, c := range columns {
				cells = append(cells, c.show(&rows[i], t.Over > 0))
			}
			table.Row(cells...)
		}
		var b strings.Builder
		_ = table.WriteText(&b) // a builder takes all
		return b.String()
	}
	text := made(width)
	if width == 0 {
		return text
	}
	for line := range strings.Lines(text) {
		widest := widthOf(strings.TrimSuffix(line, "\n"))
		if widest <= width {
			continue
		}
		longest := 0
		for i := range rows {
			longest = max(longest, widthOf(measure.Line(name(&rows[i]), width)))
		}
		return made(max(leastName, longest-(widest-width)))
	}
	return text
}

// widthOf is how many columns of a terminal a text takes.
func widthOf(text string) int {
	var c runewidth.Condition
	return c.StringWidth(text)
}

// writeTop writes all tables that there are, one behind the other.
func writeTop(w io.Writer, t *httpdoor.Top) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", t.Time.Format(time.RFC3339), topSummary(t))
	for i, table := range topTables {
		if i == 1 && len(t.Components) == 0 || i == 2 && len(t.Doors) == 0 {
			continue
		}
		b.WriteString("\n" + table.text(t, asConfigured, 0))
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// topSummary says of what the tables are.
func topSummary(t *httpdoor.Top) string {
	text := count(int64(t.Count), "queue")
	if n := len(t.Queues); n < t.Count {
		text = fmt.Sprintf("the first %s of %s", measure.Count(int64(n)), text)
	}
	if t.Over == 0 {
		return text + ", rates are not known yet"
	}
	return text + ", rates over " + measure.Duration(time.Duration(t.Over*float64(time.Second)))
}
