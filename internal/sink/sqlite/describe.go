package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hikyaku/hikyaku/internal/rows"
)

var errNoTable = errors.New("no such table")

// query reads all rows of a pragma.
func (s *session) query(text string) (found [][]driver.Value, err error) {
	answer, err := s.conn.QueryContext(context.Background(), text, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	for {
		row := make([]driver.Value, len(answer.Columns()))
		switch err := answer.Next(row); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		}
		found = append(found, row)
	}
}

// pragma names a pragma of a table, in its schema if it has one.
func pragma(word string, n rows.Name, of string) string {
	text := "pragma "
	if len(n) > 1 {
		text += rows.QuoteName(n[0], '"') + "."
	}
	return text + word + "(" + rows.QuoteName(of, '"') + ")"
}

func text(v driver.Value) string { s, _ := v.(string); return s }

func number(v driver.Value) int64 { n, _ := v.(int64); return n }

// Describe reads the table's columns and keys.
func (s *session) Describe(_ context.Context, name rows.Name) (*rows.Table, error) {
	if len(name) > 2 {
		return nil, fmt.Errorf("%w: %s has more parts than schema and table", errNoTable, name)
	}
	columns, err := s.query(pragma("table_xinfo", name, name[len(name)-1]))
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("%w: %s", errNoTable, name)
	}
	t := &rows.Table{Name: name}
	keys := 0
	for _, row := range columns { // cid, name, type, notnull, dflt_value, pk, hidden
		if number(row[6]) == 1 {
			continue // hidden, in a virtual table
		}
		c := column(text(row[2]))
		c.Name, c.Native = text(row[1]), strings.ToLower(text(row[2]))
		if c.Native == "" {
			c.Native = "of no type"
		}
		c.Key = number(row[5]) > 0
		c.Nullable = number(row[3]) == 0 && !c.Key
		c.Default = row[4] != nil
		c.Generated = number(row[6]) > 1
		if c.Key {
			keys++
		}
		t.Columns = append(t.Columns, c)
	}
	if keys == 1 {
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Key {
				c.Unique = true
				c.Default = c.Default || c.Native == "integer" // it is the row's number, which SQLite gives
			}
		}
	}
	return t, s.uniques(t, keys > 0)
}

// uniques notes the unique indexes: of one column, and the one that there is where there is no primary key.
func (s *session) uniques(t *rows.Table, keyed bool) error {
	indexes, err := s.query(pragma("index_list", t.Name, t.Name[len(t.Name)-1]))
	if err != nil {
		return err
	}
	var found [][]*rows.Column
	for _, row := range indexes { // seq, name, unique, origin, partial
		if number(row[2]) == 0 || number(row[4]) != 0 || text(row[3]) == "pk" {
			continue
		}
		parts, err := s.query(pragma("index_info", t.Name, text(row[1]))) // seqno, cid, name
		if err != nil {
			return err
		}
		var of []*rows.Column
		for _, p := range parts {
			for i := range t.Columns {
				if p[2] != nil && t.Columns[i].Name == text(p[2]) {
					of = append(of, &t.Columns[i])
				}
			}
		}
		if len(of) != len(parts) {
			continue // of an expression
		}
		if len(of) == 1 {
			of[0].Unique = true
		}
		found = append(found, of)
	}
	if !keyed && len(found) == 1 {
		for _, c := range found[0] {
			c.Key = true
		}
	}
	return nil
}

// Create makes the table if it is not there.
func (s *session) Create(_ context.Context, t *rows.Table) error {
	return s.exec("create table if not exists " + t.Name.Quoted('"') + " " + t.Definition('"', native))
}

// native is the type for a column that is to be made; SQLite takes null in a key that is not told otherwise.
func native(c rows.Column) string {
	text := c.Native
	if text == "" {
		text = typeOf(&c)
	}
	if c.Key && !strings.Contains(strings.ToLower(c.Native), "not null") {
		text += " not null"
	}
	return text
}
