package mysql

import (
	"math"
	"sync"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// limitVariable is the most rows that a SELECT without a LIMIT answers with: JDBC's setMaxRows sets it, and so does
// mysql --safe-updates.
const limitVariable = "sql_select_limit"

// noLimit is its default, as MySQL has it.
const noLimit = uint64(math.MaxUint64)

// limitRule is the name of go-mysql-server's rule that heeds it.
const limitRule = "applyDefaultSelectLimit"

// everySelectIsLimited gives what that rule passes over its limit, too. It has to be called before an analyzer is
// built.
var everySelectIsLimited = sync.OnceFunc(func() { changeRule(limitRule, limiting) })

func limiting(rule analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *gms.Context, a *analyzer.Analyzer, n gms.Node, scope *plan.Scope, sel analyzer.RuleSelector,
		flags *gms.QueryFlags) (gms.Node, transform.TreeIdentity, error) {
		s := sessionOf(ctx)
		if s == nil || !s.limits || !scope.IsEmpty() || scope.RecursionDepth() > 0 {
			return n, transform.SameTree, nil
		}
		switch n.(type) {
		case *plan.Distinct, *plan.Having, *plan.Filter, *plan.TableAlias, *plan.ResolvedTable, *plan.JoinNode:
			v, err := s.GetSessionVariable(ctx, limitVariable)
			if err != nil {
				return nil, transform.SameTree, err
			}
			most, _ := v.(uint64)
			return plan.NewLimit(expression.NewLiteral(int64(most), types.Int64), n), transform.NewTree, nil
		}
		return rule(ctx, a, n, scope, sel, flags)
	}
}

// readLimit takes over what was said of limits, at first what SET GLOBAL said.
func (s *session) readLimit(ctx *gms.Context) error {
	v, err := s.GetSessionVariable(ctx, limitVariable)
	s.limits = v != noLimit
	return err
}
