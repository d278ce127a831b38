package store

import (
	"slices"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/sql"
)

// A Result is what a statement changed, or a query found.
type Result struct {
	Inserted, Updated, Merged, Deleted int64
	Columns                            []message.Column
	Rows                               [][]value.Value
}

// Execute runs a statement with values for its placeholders. An error aborts the transaction.
func (tx *Tx) Execute(s *Statement, params message.Params) (*Result, error) {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	if err := tx.running(); err != nil {
		return nil, err
	}
	res, err := tx.execute(s, params)
	if err != nil {
		tx.abort(err)
		return nil, err
	}
	return res, nil
}

func (tx *Tx) execute(s *Statement, params message.Params) (*Result, error) {
	if err := tx.db.analyse(s); err != nil { // the table may have gone since it was prepared
		return nil, err
	}
	e := &env{params: make(map[string]value.Value, len(params.Values))}
	for i, v := range params.Values {
		e.params[params.Holders[i].Name] = v
	}
	switch tree := s.tree.(type) {
	case *sql.CreateTable:
		return new(Result), tx.db.create(tree)
	case *sql.DropTable:
		return new(Result), tx.db.drop(tree)
	case *sql.Insert:
		return tx.insert(e, tree)
	case *sql.Update:
		return tx.update(e, tree)
	case *sql.Delete:
		return tx.remove(e, tree)
	case *sql.Select:
		return tx.query(e, tree)
	default:
		return nil, refuse(codeExecution, "a statement of an unknown kind")
	}
}

func (tx *Tx) insert(e *env, s *sql.Insert) (*Result, error) {
	t, err := tx.db.table(s.Table)
	if err != nil {
		return nil, err
	}
	if err := tx.mayWrite(t); err != nil {
		return nil, err
	}
	columns, err := t.targets(s)
	if err != nil {
		return nil, err
	}
	res := new(Result)
	for _, exprs := range s.Rows {
		values, err := e.row(t, columns, exprs)
		if err != nil {
			return nil, err
		}
		key := t.keyOf(values)
		if old := tx.get(t, key); old != nil {
			switch s.Mode {
			case sql.Refuse:
				return nil, refuse(codeUnique, "Unique constraint violation occurred. Table:%s", t.name)
			case sql.Ignore:
				continue
			}
			res.Merged++
		} else if s.Mode == sql.Replace {
			res.Merged++
		} else {
			res.Inserted++
		}
		tx.put(t, key, &row{values: values, key: key})
	}
	return res, nil
}

// row makes the values of a new row.
func (e *env) row(t *table, columns []int, exprs []sql.Expr) ([]value.Value, error) {
	values := make([]value.Value, len(t.columns))
	for i, x := range exprs {
		v, err := e.eval(x)
		if err != nil {
			return nil, err
		}
		values[columns[i]] = v
	}
	for i := range values {
		if d, ok := t.columns[i].Default.(sql.Literal); ok && !slices.Contains(columns, i) {
			values[i] = d.Value
		}
		var err error
		if values[i], err = assign(&t.columns[i], values[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (tx *Tx) update(e *env, s *sql.Update) (*Result, error) {
	t, err := tx.db.table(s.Table)
	if err != nil {
		return nil, err
	}
	if err := tx.mayWrite(t); err != nil {
		return nil, err
	}
	found, err := tx.find(e, t, s.Where)
	if err != nil {
		return nil, err
	}
	res := new(Result)
	for _, old := range found {
		values := append([]value.Value(nil), old.values...)
		e.in(t, old)
		for _, set := range s.Sets {
			v, err := e.eval(set.Expr)
			if err == nil {
				i := t.index[set.Column]
				values[i], err = assign(&t.columns[i], v)
			}
			if err != nil {
				return nil, err
			}
		}
		key := old.key
		if len(t.key) > 0 {
			if key = t.keyOf(values); key != old.key {
				if tx.get(t, key) != nil {
					return nil, refuse(codeUnique, "Unique constraint violation occurred. Table:%s", t.name)
				}
				tx.put(t, old.key, nil)
			}
		}
		tx.put(t, key, &row{values: values, key: key})
		res.Updated++
	}
	return res, nil
}

func (tx *Tx) remove(e *env, s *sql.Delete) (*Result, error) {
	t, err := tx.db.table(s.Table)
	if err != nil {
		return nil, err
	}
	if err := tx.mayWrite(t); err != nil {
		return nil, err
	}
	found, err := tx.find(e, t, s.Where)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		tx.put(t, r.key, nil)
	}
	return &Result{Deleted: int64(len(found))}, nil
}

// find is the rows for which a condition holds; the whole primary key in it is looked up.
func (tx *Tx) find(e *env, t *table, where sql.Expr) ([]*row, error) {
	candidates, ok, err := tx.lookup(e, t, where)
	if err != nil {
		return nil, err
	}
	if !ok {
		candidates = tx.all(t)
	}
	if where == nil {
		return candidates, nil
	}
	var found []*row
	for _, r := range candidates {
		e.in(t, r)
		v, err := e.eval(where)
		if err != nil {
			return nil, err
		}
		if v.Type() == value.Boolean && v.Int() == 1 {
			found = append(found, r)
		}
	}
	return found, nil
}

// lookup finds the one row whose primary key a condition tells; ok is false if it does not tell.
func (tx *Tx) lookup(e *env, t *table, where sql.Expr) (rows []*row, ok bool, err error) {
	if len(t.key) == 0 {
		return nil, false, nil
	}
	equals := make(map[string]sql.Expr)
	collectEquals(where, equals)
	values := make([]value.Value, len(t.columns))
	for _, i := range t.key {
		x, ok := equals[t.columns[i].Name]
		if !ok {
			return nil, false, nil
		}
		v, err := e.eval(x)
		if err != nil || v.IsNull() {
			return nil, false, err
		}
		if values[i], err = assign(&t.columns[i], v); err != nil {
			return nil, false, nil
		}
		if c, ok := compare(values[i], v); !ok || c != 0 {
			return nil, false, nil // not a value that the column could have
		}
	}
	if r := tx.get(t, t.keyOf(values)); r != nil {
		rows = append(rows, r)
	}
	return rows, true, nil
}

// collectEquals gathers what AND joins of the form column = constant.
func collectEquals(x sql.Expr, into map[string]sql.Expr) {
	b, ok := x.(*sql.Binary)
	if !ok {
		return
	}
	switch b.Op {
	case "AND":
		collectEquals(b.X, into)
		collectEquals(b.Y, into)
	case "=":
		for _, pair := range [][2]sql.Expr{{b.X, b.Y}, {b.Y, b.X}} {
			c, isColumn := pair[0].(sql.Column)
			switch pair[1].(type) {
			case sql.Literal, sql.Param:
				if isColumn {
					into[c.Name] = pair[1]
				}
			}
		}
	}
}
