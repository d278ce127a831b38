package measure

import (
	"fmt"
	"io"
	"strings"
)

// Align says at which side of its column a text stands.
type Align uint8

const (
	Left Align = iota
	Right
)

// Column is the heading of a column and the side at which its cells, and the heading, stand.
type Column struct {
	Name  string
	Align Align
}

// Table is rows of cells under headings. It is not for several goroutines at once.
type Table struct {
	columns []Column
	rows    [][]string
}

// NewTable returns a table without rows.
func NewTable(columns ...Column) *Table { return &Table{columns: columns} }

// Row adds a row: strings as they are, other values as fmt.Sprint writes them. Cells that are missing are empty; a cell
// too many gets a column without a heading.
func (t *Table) Row(cells ...any) *Table {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = plain(fmt.Sprint(c))
	}
	for len(t.columns) < len(row) {
		t.columns = append(t.columns, Column{})
	}
	t.rows = append(t.rows, row)
	return t
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// WriteText writes the table for a terminal: headings, a rule, and a line a row, with two blanks between columns.
func (t *Table) WriteText(w io.Writer) error {
	widths := t.widths(func(s string) string { return s }, 0)
	var b strings.Builder
	line := func(cell func(i int) string) {
		var l strings.Builder
		for i, c := range t.columns {
			if i > 0 {
				l.WriteString("  ")
			}
			l.WriteString(pad(cell(i), widths[i], c.Align))
		}
		b.WriteString(strings.TrimRight(l.String(), " "))
		b.WriteByte('\n')
	}
	line(func(i int) string { return plain(t.columns[i].Name) })
	line(func(i int) string { return strings.Repeat("-", widths[i]) })
	for r := range t.rows {
		line(func(i int) string { return t.cell(r, i) })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdown writes the table as Markdown that is also readable as it stands.
func (t *Table) WriteMarkdown(w io.Writer) error {
	widths := t.widths(escapeMarkdown, 3)
	var b strings.Builder
	line := func(cell func(i int) string) {
		b.WriteByte('|')
		for i, c := range t.columns {
			b.WriteString(" " + pad(cell(i), widths[i], c.Align) + " |")
		}
		b.WriteByte('\n')
	}
	line(func(i int) string { return escapeMarkdown(plain(t.columns[i].Name)) })
	line(func(i int) string {
		if t.columns[i].Align == Right {
			return strings.Repeat("-", widths[i]-1) + ":"
		}
		return strings.Repeat("-", widths[i])
	})
	for r := range t.rows {
		line(func(i int) string { return escapeMarkdown(t.cell(r, i)) })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) cell(row, column int) string {
	if column < len(t.rows[row]) {
		return t.rows[row][column]
	}
	return ""
}

func (t *Table) widths(written func(string) string, least int) []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = max(least, cells(written(plain(c.Name))))
		for r := range t.rows {
			widths[i] = max(widths[i], cells(written(t.cell(r, i))))
		}
	}
	return widths
}

// escapeMarkdown keeps a cell from ending early and from becoming markup.
func escapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "`", "\\`").Replace(s)
}
