package mysql

import (
	"context"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// misplacedWait tells whether a statement calls queue_wait where it would be evaluated for each row, or while rows are
// read. It may stand among what a SELECT without tables selects, and in a SET. A statement that does not parse is left
// to whoever runs it.
func misplacedWait(query string) bool {
	if !containsFold(query, "queue_wait") {
		return false
	}
	st, _, err := sqlparser.ParseOne(context.Background(), query)
	if err != nil {
		return false
	}
	switch st := st.(type) {
	case *sqlparser.Select:
		return waitsBadly(st)
	case *sqlparser.Set:
		return false
	}
	return waits(st)
}

// waitsBadly tells it of a SELECT.
func waitsBadly(s *sqlparser.Select) bool {
	if !withoutTables(s.From) {
		return waits(s)
	}
	if waits(s.Where) || waits(s.Having) || waits(s.GroupBy) || waits(s.OrderBy) || waits(s.Limit) || waits(s.With) {
		return true
	}
	bad := false
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		switch node := node.(type) {
		case *sqlparser.Select:
			bad = bad || waitsBadly(node)
			return false, nil
		case *sqlparser.SetOp:
			bad = bad || waits(node)
			return false, nil
		}
		return !bad, nil
	}, s.SelectExprs)
	return bad
}

func withoutTables(from sqlparser.TableExprs) bool {
	for _, f := range from {
		a, ok := f.(*sqlparser.AliasedTableExpr)
		if !ok {
			return false
		}
		n, ok := a.Expr.(sqlparser.TableName)
		if !ok || !strings.EqualFold(n.Name.String(), "dual") {
			return false
		}
	}
	return true
}

// waits tells whether queue_wait is called anywhere in it.
func waits(in sqlparser.SQLNode) (found bool) {
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		if f, ok := node.(*sqlparser.FuncExpr); ok && f.Name.EqualString("queue_wait") {
			found = true
		}
		return !found, nil
	}, in)
	return found
}

// writesFile tells whether a SELECT writes a file of this machine. A statement that does not parse is left to whoever
// runs it, which finds no folder for files: see noFolder.
func writesFile(query string) (writes bool) {
	if !containsFold(query, "outfile") && !containsFold(query, "dumpfile") {
		return false
	}
	st, _, err := sqlparser.ParseOne(context.Background(), query)
	if err != nil {
		return false
	}
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		if s, ok := node.(*sqlparser.Select); ok && s.Into != nil {
			writes = writes || s.Into.Outfile != "" || s.Into.Dumpfile != ""
		}
		return !writes, nil
	}, st)
	return writes
}

// misplacedWindow refuses window functions where there are no windows yet, and those that go-mysql-server does not
// have. A statement that does not parse is left to whoever runs it.
func misplacedWindow(query string) error {
	if !containsFold(query, "over") {
		return nil
	}
	parsed, err := sqlparser.Parse(query)
	if err != nil {
		return nil
	}
	if name := filtersByWindow(parsed); name != "" {
		return sqlError(3593, "HY000", "You cannot use the window function '%s' in this context.", name)
	}
	if overAggregates(parsed) {
		return sqlError(erUnsupported, "42000", "Window functions over aggregates are not supported: put the "+
			"aggregates into a subquery (SELECT RANK() OVER (ORDER BY s) FROM (SELECT SUM(a) AS s FROM t GROUP BY g) "+
			"AS sums)")
	}
	return nil
}

// filtersByWindow is the name of a window function that stands in a WHERE, a HAVING, a GROUP BY or the ON of a join; ""
// if none does.
func filtersByWindow(parsed sqlparser.SQLNode) (name string) {
	inside := func(in sqlparser.SQLNode) {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			switch f := n.(type) {
			case *sqlparser.Subquery:
				return false, nil // it has windows of its own
			case *sqlparser.FuncExpr:
				if f.Over != nil {
					name = f.Name.Lowered()
				}
			}
			return name == "", nil
		}, in)
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Select:
			inside(n.Where)
			inside(n.Having)
			inside(n.GroupBy)
		case *sqlparser.Delete:
			inside(n.Where)
		case *sqlparser.JoinTableExpr:
			inside(n.Condition.On)
		}
		return name == "", nil
	}, parsed)
	return name
}

// overAggregates tells whether a window function is about an aggregate without a window, as in RANK() OVER (ORDER BY
// SUM(a)): go-mysql-server has no windows over groups.
func overAggregates(parsed sqlparser.SQLNode) (found bool) {
	aggregates := func(in sqlparser.SQLNode) {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			switch f := n.(type) {
			case *sqlparser.Subquery:
				return false, nil
			case *sqlparser.FuncExpr:
				found = found || f.Over == nil && f.IsAggregate()
			}
			return !found, nil
		}, in)
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if f, ok := n.(*sqlparser.FuncExpr); ok && f.Over != nil {
			aggregates(f.Exprs)
			aggregates(sqlparser.Exprs(f.Over.PartitionBy))
			aggregates(f.Over.OrderBy)
		}
		return !found, nil
	}, parsed)
	return found
}

// containsFold tells whether a text contains an ASCII word in any case.
func containsFold(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if (text[i]|0x20 == word[0]) && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}
