package sqldriver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/tsurugi"
)

// mostTables bounds what a session keeps of descriptions; one too many, and all are asked for anew.
const mostTables = 64

// typeOf is the type of the column at a place; ok is false if nobody knows, or if several tables have such a column and
// not of one type. Tables of a subquery are looked at before those around it.
func (c *conn) typeOf(ctx context.Context, at place) (typ tsurugi.Type, column string, ok bool, err error) {
	for s := at.scope; s != nil; s = s.outer {
		dark := false // a source may have the column and does not say it
		for _, from := range s.sources {
			if at.qualifier != "" && !strings.EqualFold(at.qualifier, from.name) {
				continue
			}
			t, err := c.describe(ctx, from.table)
			if err != nil {
				return 0, "", false, err
			}
			dark = dark || len(t.Columns) == 0 || at.qualifier != ""
			i := at.in(t.Columns)
			switch {
			case i < 0:
				continue
			case ok && typ != t.Columns[i].Type:
				return 0, "", false, nil
			}
			typ, column, ok = t.Columns[i].Type, t.Columns[i].Name, true
		}
		if ok || dark {
			return typ, column, ok, nil
		}
	}
	return 0, "", false, nil
}

// in is which of a table's columns a place is, -1 for none. A name without quotes may be written in other letters than
// the table's.
func (at place) in(columns []tsurugi.Column) int {
	if at.index >= 0 {
		if at.index < len(columns) {
			return at.index
		}
		return -1
	}
	if i := slices.IndexFunc(columns, func(c tsurugi.Column) bool { return c.Name == at.column }); i >= 0 {
		return i
	}
	return slices.IndexFunc(columns, func(c tsurugi.Column) bool { return strings.EqualFold(c.Name, at.column) })
}

// describe asks for a table once. One that is not there has no columns: the server says it when it sees the statement.
func (c *conn) describe(ctx context.Context, name string) (*tsurugi.Table, error) {
	if t, ok := c.tables[name]; ok {
		return t, nil
	}
	t := new(tsurugi.Table)
	var err error
	if name != "" {
		t, err = c.s.DescribeTable(ctx, name)
	}
	var e *tsurugi.Error
	switch lower := strings.ToLower(name); {
	case errors.As(err, &e) && lower != name:
		t, err = c.describe(ctx, lower) // as the server takes names without quotes
		if err != nil {
			return nil, err
		}
	case errors.As(err, &e):
		t = new(tsurugi.Table)
	case err != nil:
		return nil, c.lost(err)
	}
	if c.tables == nil || len(c.tables) == mostTables {
		c.tables = make(map[string]*tsurugi.Table)
	}
	c.tables[strings.Clone(name)] = t
	return t, nil
}

// misfit is an argument that cannot be a value of its column.
type misfit struct {
	ordinal int
	column  string
	err     error
}

func (m *misfit) Error() string {
	return fmt.Sprintf("tsurugi: argument %d for the column %s: %v", m.ordinal, m.column, m.err)
}

func (m *misfit) Unwrap() error { return m.err }

// outdated tells whether an error may come of a description that is not true any more.
func outdated(err error) bool {
	var bad *misfit
	if errors.As(err, &bad) {
		return true
	}
	var e *tsurugi.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case tsurugi.CodeCompile, tsurugi.CodeAnalyze, tsurugi.CodeTypeAnalyze, tsurugi.CodeSymbolAnalyze,
		tsurugi.CodeValueAnalyze:
		return true
	default:
		return false
	}
}
