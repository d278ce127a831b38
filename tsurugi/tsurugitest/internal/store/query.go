package store

import (
	"math/big"
	"slices"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/sql"
)

func cmp(x, y *big.Rat, ok bool) (int, bool) {
	if !ok {
		return 0, false
	}
	return x.Cmp(y), true
}

func (tx *Tx) query(e *env, s *sql.Select) (*Result, error) {
	t, err := tx.db.table(s.Table)
	if err != nil {
		return nil, err
	}
	found, err := tx.find(e, t, s.Where)
	if err != nil {
		return nil, err
	}
	res := &Result{Columns: t.shown(s.Items)}
	if aggregates(s.Items) {
		row, err := e.aggregate(t, s.Items, found)
		if err != nil {
			return nil, err
		}
		for i, v := range row {
			if !v.IsNull() {
				res.Columns[i].Type = v.Type()
			}
		}
		res.Rows = [][]value.Value{row}
		return res, nil
	}
	t.sort(found, s.Order)
	if s.Limit >= 0 && len(found) > s.Limit {
		found = found[:s.Limit]
	}
	for _, r := range found {
		e.in(t, r)
		row, err := e.shown(t, s.Items)
		if err != nil {
			return nil, err
		}
		for i, v := range row {
			if c := &res.Columns[i]; c.Type == value.Unknown && !v.IsNull() {
				c.Type = v.Type()
			}
		}
		res.Rows = append(res.Rows, row)
	}
	return res, nil
}

// shown describes the columns of a result set. The type of an expression is that of its first value.
func (t *table) shown(items []sql.Item) []message.Column {
	var columns []message.Column
	for _, item := range items {
		if item.Star {
			for i := range t.columns {
				columns = append(columns, t.describe(i))
			}
			continue
		}
		c := message.Column{Type: value.Unknown}
		switch x := item.Expr.(type) {
		case sql.Column:
			c = t.describe(t.index[x.Name])
		case *sql.Aggregate:
			if x.Name == "COUNT" {
				c.Type = value.Int8
			} else if column, ok := x.X.(sql.Column); ok {
				c = t.describe(t.index[column.Name])
				c.Name = ""
			}
		case sql.Literal:
			c.Type = x.Value.Type()
		}
		if item.Name != "" {
			c.Name = item.Name
		}
		columns = append(columns, c)
	}
	return columns
}

func (e *env) shown(t *table, items []sql.Item) ([]value.Value, error) {
	var row []value.Value
	for _, item := range items {
		if item.Star {
			row = append(row, e.now.values...)
			continue
		}
		v, err := e.eval(item.Expr)
		if err != nil {
			return nil, err
		}
		row = append(row, v)
	}
	return row, nil
}

func aggregates(items []sql.Item) bool {
	return slices.ContainsFunc(items, func(i sql.Item) bool {
		_, ok := i.Expr.(*sql.Aggregate)
		return ok
	})
}

func (e *env) aggregate(t *table, items []sql.Item, found []*row) ([]value.Value, error) {
	row := make([]value.Value, len(items))
	for i, item := range items {
		a, ok := item.Expr.(*sql.Aggregate)
		if !ok {
			return nil, refuse(codeType, "a column stands beside an aggregate function")
		}
		if a.X == nil {
			row[i] = value.OfInt8(int64(len(found)))
			continue
		}
		var count int64
		for _, r := range found {
			e.in(t, r)
			v, err := e.eval(a.X)
			if err != nil {
				return nil, err
			}
			if v.IsNull() {
				continue
			}
			count++
			if row[i], err = fold(a.Name, row[i], v); err != nil {
				return nil, err
			}
		}
		if a.Name == "COUNT" {
			row[i] = value.OfInt8(count)
		}
	}
	return row, nil
}

// fold adds a value to what an aggregate function has so far.
func fold(name string, so, v value.Value) (value.Value, error) {
	if so.IsNull() {
		return v, nil
	}
	if name == "SUM" {
		return arithmetic("+", so, v)
	}
	c, ok := compare(v, so)
	if ok && (name == "MIN" && c < 0 || name == "MAX" && c > 0) {
		return v, nil
	}
	return so, nil
}

// sort orders rows as asked; those that are equal, or if nothing is asked, by their keys.
func (t *table) sort(rows []*row, order []sql.Order) {
	slices.SortFunc(rows, func(a, b *row) int {
		for _, o := range order {
			i := t.index[o.Column]
			if c := compareNulls(a.values[i], b.values[i]); c != 0 {
				if o.Desc {
					return -c
				}
				return c
			}
		}
		for _, i := range t.key {
			if c := compareNulls(a.values[i], b.values[i]); c != 0 {
				return c
			}
		}
		return len(a.key) - len(b.key)
	})
}

// compareNulls compares values; NULL comes first.
func compareNulls(a, b value.Value) int {
	switch {
	case a.IsNull() && b.IsNull():
		return 0
	case a.IsNull():
		return -1
	case b.IsNull():
		return 1
	}
	c, _ := compare(a, b)
	return c
}
