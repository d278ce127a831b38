package mysql

import (
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// maxTop is how many rows an ORDER BY with a LIMIT may keep in a heap. go-mysql-server makes that heap as large as
// the LIMIT before it reads the
// first row: LIMIT 5000000000000 ended the process. With more, all rows are sorted, which costs what there is, and
// is counted.
const maxTop = 10_000

// limited makes the rows of a node that sorts and limits, if go-mysql-server should not: nil where it may. It applies
// an OFFSET behind the order, too, where go-mysql-server skips rows of a UNION before it sorts them.
func (w walking) limited(ctx *gms.Context, n gms.Node, row gms.Row) (gms.RowIter, error) {
	var limit, offset gms.Expression
	found := false
	switch of := n.(type) {
	case *plan.TopN:
		if rows, err := rowsOf(ctx, of.Limit); err != nil || rows <= maxTop {
			return nil, err
		}
		limit, found = of.Limit, of.CalcFoundRows
		n = plan.NewSort(of.Fields, of.Child)
	case *plan.SetOp:
		if len(of.SortFields) == 0 {
			return nil, nil
		}
		sorted := *of
		limit, offset, sorted.Limit, sorted.Offset = of.Limit, of.Offset, nil, nil
		n = &sorted
	case *plan.RecursiveCte:
		if len(of.Union().SortFields) == 0 {
			return nil, nil
		}
		again, err := of.WithChildren(ctx, of.Children()...)
		if err != nil {
			return nil, err
		}
		sorted := again.(*plan.RecursiveCte)
		limit, sorted.Union().Limit = of.Union().Limit, nil
		n = sorted
	default:
		return nil, nil
	}
	if limit == nil && offset == nil {
		return nil, nil
	}
	if b, ok := ctx.Context.(*building); ok {
		b.node = n // in the other's place: it is not to be counted twice
	}
	return w.cut(ctx, n, row, limit, offset, found)
}

// cut is what is left of the rows of a node.
func (w walking) cut(ctx *gms.Context, n gms.Node, row gms.Row, limit, offset gms.Expression, found bool,
) (gms.RowIter, error) {
	most, err := rowsOf(ctx, limit)
	if err != nil {
		return nil, err
	}
	var skip int64
	if offset != nil {
		if skip, err = rowsOf(ctx, offset); err != nil {
			return nil, err
		}
	}
	iter, err := w.base.Build(ctx, n, row)
	if err != nil {
		return nil, err
	}
	return &iters.LimitIter{ChildIter: &skipping{iter, skip}, Limit: most, CalcFoundRows: found}, nil
}

// skipping leaves out the first rows.
type skipping struct {
	gms.RowIter
	left int64
}

func (s *skipping) Next(ctx *gms.Context) (gms.Row, error) {
	for ; s.left > 0; s.left-- {
		if _, err := s.RowIter.Next(ctx); err != nil {
			return nil, err
		}
	}
	return s.RowIter.Next(ctx)
}

// rowsOf is the number of rows that a LIMIT or OFFSET means. A sum of both that overflows is negative, and means
// all, as does none.
func rowsOf(ctx *gms.Context, e gms.Expression) (int64, error) {
	if e == nil {
		return maxCount, nil
	}
	v, err := e.Eval(ctx, nil)
	if err != nil {
		return 0, err
	}
	if n := number64(v); n >= 0 {
		return min(n, maxCount), nil
	}
	return maxCount, nil
}
