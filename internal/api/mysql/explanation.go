package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// explanation says what a statement reads: a row for each table of each of its SELECTs.
type explanation struct {
	ctx     context.Context
	session *session
	rows    []explainedTable
	selects int
}

// explainedTable is a row of EXPLAIN.
type explainedTable struct {
	id     int    // of the SELECT, from 1; 0: the result of a union
	kind   string // SIMPLE, PRIMARY, …
	table  string // as it is called in the statement; "" for none
	access string
	count  int64 // of rows; -1: unknown
	extra  string
}

// statement explains the statement itself.
func (x *explanation) statement(st sqlparser.Statement) error {
	switch st := st.(type) {
	case sqlparser.SelectStatement:
		kind := "SIMPLE"
		if _, set := st.(*sqlparser.SetOp); set || len(inner(st)) > 0 {
			kind = "PRIMARY"
		}
		return x.query(st, kind)
	case *sqlparser.Insert:
		x.selects++
		kind := strings.ToUpper(st.Action)
		x.rows = append(x.rows, explainedTable{id: x.selects, kind: kind, table: st.Table.Name.String(), access: "ALL",
			count: -1})
		if from, ok := st.Rows.(sqlparser.SelectStatement); ok {
			x.selects-- // it has the same number
			return x.query(from, "SIMPLE")
		}
		return nil
	case *sqlparser.Delete:
		return x.changed("DELETE", st.TableExprs, st.Where)
	case *sqlparser.Update:
		return x.changed("UPDATE", st.TableExprs, st.Where)
	}
	return sqlError(erUnsupported, "42000", "EXPLAIN is for SELECT, INSERT, DELETE and UPDATE")
}

func (x *explanation) changed(kind string, from sqlparser.TableExprs, where *sqlparser.Where) error {
	x.selects++
	tables, _, err := x.tables(from, x.selects, kind)
	if where != nil && len(tables) > 0 {
		tables[0].extra = "Using where"
	}
	x.rows = append(x.rows, tables...)
	return err
}

// query explains a SELECT, or several that a UNION holds together.
func (x *explanation) query(st sqlparser.SelectStatement, kind string) error {
	switch st := st.(type) {
	case *sqlparser.ParenSelect:
		return x.query(st.Select, kind)
	case *sqlparser.SetOp:
		first := x.selects + 1
		if err := x.query(st.Left, kind); err != nil {
			return err
		}
		second := x.selects + 1
		if err := x.query(st.Right, "UNION"); err != nil {
			return err
		}
		if st.Type != sqlparser.UnionAllStr {
			name := fmt.Sprintf("<union%d,%d>", first, second)
			x.rows = append(x.rows, explainedTable{kind: "UNION RESULT", table: name, access: "ALL", count: -1,
				extra: "Using temporary"})
		}
		return nil
	case *sqlparser.Select:
		return x.block(st, kind)
	}
	x.selects++
	x.rows = append(x.rows, explainedTable{id: x.selects, kind: kind, count: -1, extra: "No tables used"})
	return nil
}

// block explains a SELECT, and behind it those within it.
func (x *explanation) block(st *sqlparser.Select, kind string) error {
	x.selects++
	id := x.selects
	tables, derived, err := x.tables(st.From, id, kind)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		tables = []explainedTable{{id: id, kind: kind, count: -1, extra: "No tables used"}}
	} else {
		for i := range tables {
			var extra []string
			if st.Where != nil {
				extra = append(extra, "Using where")
			}
			if i == 0 && (len(st.GroupBy) > 0 || st.QueryOpts.Distinct) {
				extra = append(extra, "Using temporary")
			}
			if i == 0 && len(st.OrderBy) > 0 {
				extra = append(extra, "Using filesort")
			}
			if i > 0 {
				extra = append(extra, "Using join buffer (hash join)")
			}
			tables[i].extra = strings.Join(extra, "; ")
		}
	}
	x.rows = append(x.rows, tables...)
	for _, d := range derived {
		if err := x.query(d.Select, "DERIVED"); err != nil {
			return err
		}
	}
	for _, sub := range inner(st) {
		if slices.Contains(derived, sub) {
			continue
		}
		if err := x.query(sub.Select, "SUBQUERY"); err != nil {
			return err
		}
	}
	return nil
}

// inner are the subqueries of a statement that stand in no other.
func inner(st sqlparser.SQLNode) (all []*sqlparser.Subquery) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		sub, ok := n.(*sqlparser.Subquery)
		if ok {
			all = append(all, sub)
		}
		return !ok, nil
	}, st)
	return all
}

// tables are those of a FROM, in their order, and the subqueries among them.
func (x *explanation) tables(from sqlparser.TableExprs, id int, kind string) (rows []explainedTable,
	derived []*sqlparser.Subquery, err error) {
	for _, e := range from {
		switch e := e.(type) {
		case *sqlparser.AliasedTableExpr:
			row := explainedTable{id: id, kind: kind, table: e.As.String(), access: "ALL", count: -1}
			switch t := e.Expr.(type) {
			case sqlparser.TableName:
				if strings.EqualFold(t.Name.String(), "dual") && t.DbQualifier.IsEmpty() {
					continue
				}
				if row.table == "" {
					row.table = t.Name.String()
				}
				if row.count, err = x.count(t); err != nil {
					return nil, nil, err
				}
			case *sqlparser.Subquery:
				derived = append(derived, t)
				row.table = fmt.Sprintf("<derived%d>", x.selects+len(derived))
			}
			rows = append(rows, row)
		case *sqlparser.JoinTableExpr:
			some, more, err := x.tables(sqlparser.TableExprs{e.LeftExpr, e.RightExpr}, id, kind)
			if err != nil {
				return nil, nil, err
			}
			rows, derived = append(rows, some...), append(derived, more...)
		case *sqlparser.ParenTableExpr:
			some, more, err := x.tables(e.Exprs, id, kind)
			if err != nil {
				return nil, nil, err
			}
			rows, derived = append(rows, some...), append(derived, more...)
		}
	}
	return rows, derived, nil
}

// count is how many rows a table shows, -1 when that is not known. Who may not read it is not told.
func (x *explanation) count(t sqlparser.TableName) (int64, error) {
	s := x.session
	n := queue.Name{Namespace: t.DbQualifier.String(), Name: t.Name.String()}
	if n.Namespace == "" {
		n.Namespace = s.GetCurrentDatabase()
	}
	n, _, _, err := s.door.find(x.ctx, n)
	if err != nil {
		return -1, absent(err) // a common table expression, or one of information_schema
	}
	if err := s.may(access.Take, n, "SELECT"); err != nil {
		return -1, err
	}
	if mode, _ := s.seat.now(); mode {
		return 1, nil
	}
	st, err := s.door.store.Stats(x.ctx, n)
	if err != nil {
		return -1, fromStoreOf(err, n)
	}
	return int64(max(st.Messages()-st.Claimed, 0)), nil
}
