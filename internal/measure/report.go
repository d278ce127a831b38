package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// BenchReport is what a bench found out, in the form of the --json option. Its names stay the same from version to
// version, so that scripts can compare.
type BenchReport struct {
	Bench   string  `json:"bench"`
	Machine Machine `json:"machine"`
	Rows    []*Row  `json:"rows"`
	// Notes are for people: what could not be measured here, and why.
	Notes []string `json:"notes,omitempty"`
}

// Note adds a note, once.
func (b *BenchReport) Note(text string) {
	if !slices.Contains(b.Notes, text) {
		b.Notes = append(b.Notes, text)
	}
}

// NewBenchReport begins a report about this machine.
func NewBenchReport(bench string) *BenchReport {
	return &BenchReport{Bench: bench, Machine: ThisMachine(), Rows: []*Row{}}
}

// Row adds a row: which variant (case) did what (work).
func (b *BenchReport) Row(variant, work string) *Row {
	r := new(Row).Set("case", variant).Set("work", work)
	b.Rows = append(b.Rows, r)
	return r
}

// WriteJSON writes the report as one JSON object, a line a row, and a line end.
func (b *BenchReport) WriteJSON(w io.Writer) error {
	machine, err := json.Marshal(b.Machine)
	if err != nil {
		return fmt.Errorf("writing the machine of the %s report: %w", b.Bench, err)
	}
	bench, err := json.Marshal(b.Bench)
	if err != nil {
		return fmt.Errorf("writing the name of the %s report: %w", b.Bench, err)
	}
	text := fmt.Appendf(nil, "{\"bench\": %s, \"machine\": %s, \"rows\": [", bench, machine)
	for i, r := range b.Rows {
		row, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("writing row %d of the %s report: %w", i, b.Bench, err)
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '\n'), row...)
	}
	text = append(text, "\n]"...)
	if len(b.Notes) > 0 {
		notes, err := json.Marshal(b.Notes)
		if err != nil {
			return fmt.Errorf("writing the notes of the %s report: %w", b.Bench, err)
		}
		text = append(append(text, ", \"notes\": "...), notes...)
	}
	text = append(text, "}\n"...)
	_, err = w.Write(text)
	return err
}

// Table shows the rows under the names of their values, in the order in which the names first occur. Columns of numbers
// stand at the right, also where some values are empty texts. heading translates a name for people; nil leaves the
// names as they are.
func (b *BenchReport) Table(heading func(name string) string) *Table {
	var names []string
	texts := make(map[string]bool) // names with a value that is not a number; false: known
	for _, r := range b.Rows {
		for _, name := range r.names {
			if _, known := texts[name]; !known {
				names = append(names, name)
				texts[name] = false
			}
			if _, ok := r.Number(name); !ok && r.values[name] != nil && r.values[name] != "" {
				texts[name] = true
			}
		}
	}
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i] = Column{Name: name, Align: Right}
		if texts[name] {
			columns[i].Align = Left
		}
		if heading != nil {
			columns[i].Name = heading(name)
		}
	}
	t := NewTable(columns...)
	for _, r := range b.Rows {
		row := make([]any, len(names))
		for i, name := range names {
			row[i] = shown(r, name)
		}
		t.Row(row...)
	}
	return t
}

// shown writes a value as people read it.
func shown(r *Row, name string) string {
	value, set := r.values[name]
	if f, ok := number(value); ok {
		// A float that happens to be whole cannot be told from an integer once it was read back, but its name can.
		if n, err := strconv.ParseInt(fmt.Sprint(value), 10, 64); err == nil && !strings.HasSuffix(name, "_ms") {
			return Count(n)
		}
		return Number(f)
	}
	switch {
	case !set:
		return ""
	case value == nil:
		return "-"
	}
	if s, ok := value.(string); ok {
		return s
	}
	return fmt.Sprint(value)
}
