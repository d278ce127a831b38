package mysql

import (
	"context"
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// walking is asked by go-mysql-server for the rows of each node of a plan before it makes them itself. It lets it make
// them, and counts them: so a join that nobody waits for any more ends, and one that walks or keeps too much.
type walking struct{ base *rowexec.BaseBuilder }

// building is the context in which a node's children are built. It is told by it that the node itself is not to be
// counted twice.
type building struct {
	context.Context
	node gms.Node
	hold bool // the node keeps its children's rows
}

// Build implements gms.NodeExecBuilder. It returns nil for what go-mysql-server is to build without being counted.
func (w walking) Build(ctx *gms.Context, n gms.Node, row gms.Row) (gms.RowIter, error) {
	s := sessionOf(ctx)
	if s == nil || s.meter == nil {
		return nil, nil
	}
	m := s.meter
	m.running = true
	parent, within := ctx.Context.(*building)
	if within && parent.node == n {
		return nil, nil
	}
	hold := within && parent.hold || !within && m.built // a subquery's rows are put together
	bound := transform.SameTree
	if !m.built {
		var err error
		if n, bound, err = boundIn(ctx, n, true); err != nil { // the analyzer passes simple statements by
			return nil, err
		}
		var same transform.TreeIdentity
		if n, same, err = datedRows(ctx, n); err != nil {
			return nil, err
		}
		bound = bound && same
		if err := lonelyInterval(ctx, n); err != nil {
			return nil, err
		}
		if m.columns, err = computedIn(ctx, s.door, n); err != nil {
			return nil, err
		}
	}
	m.built = true
	if !counted(n) {
		if bound == transform.NewTree {
			return w.base.Build(ctx, n, row)
		}
		return nil, nil
	}
	if err := m.alive(); err != nil {
		return nil, err
	}
	if kept, err := keptIn(ctx, n); err != nil {
		return nil, err
	} else {
		n = kept
	}
	b := &building{Context: ctx.Context, node: n, hold: keeps(n)}
	if within {
		b.Context = parent.Context
	}
	below := *ctx
	below.Context = b
	iter, err := w.make(&below, m, n, row)
	if err != nil || iter == nil {
		return iter, err
	}
	return &counting{RowIter: iter, meter: m, reads: reads(n), hold: hold}, nil
}

// make makes the rows of a node: go-mysql-server does, but for the node that it would run in two goroutines.
func (w walking) make(ctx *gms.Context, m *meter, n gms.Node, row gms.Row) (gms.RowIter, error) {
	if g, ok := n.(*plan.GroupBy); ok && len(g.GroupByExprs) > 0 {
		if rollsUp(g) {
			return w.rollup(ctx, m, g, row)
		}
		return w.group(ctx, m, g, row)
	}
	if iter, err := w.sorted(ctx, m, n, row); iter != nil || err != nil {
		return iter, err
	}
	return w.base.Build(ctx, n, row)
}

// counted tells whether a node reads rows. Those that change something are looked at by go-mysql-server from outside,
// and are left as they are.
func counted(n gms.Node) bool {
	switch n := n.(type) {
	case *plan.Project:
		return counted(n.Child)
	case *plan.ResolvedTable, *plan.IndexedTableAccess, *plan.TableAlias, *plan.SubqueryAlias, *plan.Values,
		*plan.ValueDerivedTable, *plan.JoinNode,
		*plan.SetOp, *plan.RecursiveCte, *plan.RecursiveTable, *plan.Sort, *plan.TopN, *plan.Distinct,
		*plan.OrderedDistinct, *plan.GroupBy, *plan.Window,
		*plan.Filter, *plan.Having, *plan.HashLookup, *plan.CachedResults, *plan.JSONTable, *plan.Limit, *plan.Offset,
		*plan.EmptyTable, *plan.Max1Row,
		gms.TableFunction:
		return true
	}
	return false
}

// reads tells whether the rows of a node are new ones, not those of a node below.
func reads(n gms.Node) bool {
	switch n.(type) {
	case *plan.JoinNode, *plan.RecursiveCte:
		return true
	}
	return len(n.Children()) == 0
}

// keeps tells whether a node keeps the rows that it is given. What sorts counts them itself.
func keeps(n gms.Node) bool {
	switch n := n.(type) {
	case *plan.Distinct, *plan.HashLookup, *plan.CachedResults, *plan.RecursiveCte, *plan.Window:
		return true
	case *plan.SetOp:
		return n.Distinct || n.SetOpType != plan.UnionType
	case *plan.GroupBy:
		return slices.ContainsFunc(n.SelectDeps, func(e gms.Expression) bool {
			_, joins := e.(joining)
			return joins || hoards(e)
		})
	}
	return false
}

// counting counts the rows of a node.
type counting struct {
	gms.RowIter
	meter *meter
	reads bool
	hold  bool
}

func (c *counting) Next(ctx *gms.Context) (gms.Row, error) {
	row, err := c.RowIter.Next(ctx)
	if err != nil {
		return nil, c.meter.whyRow(err)
	}
	if c.reads {
		if err := c.meter.walk(); err != nil {
			return nil, err
		}
	} else if err := c.meter.alive(); err != nil {
		return nil, err
	}
	if c.hold {
		if err := c.meter.hold(rowBytes(row)); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// whyRow lets the end of rows be the end of rows, unless the statement has to end.
func (m *meter) whyRow(err error) error {
	if m.err != nil {
		return m.err
	}
	return err
}

// rowBytes is about what a row costs.
func rowBytes(row gms.Row) int64 {
	n := int64(24 + 16*len(row))
	for _, v := range row {
		n += valueBytes(v)
	}
	return n
}

// valueBytes is about what a value has beyond its header.
func valueBytes(v any) int64 {
	switch v := v.(type) {
	case nil, int64, uint64, int32, uint32, int8, uint8, int16, uint16, bool, float64, float32:
		return 8
	case string:
		return int64(len(v))
	case []byte:
		return int64(len(v))
	case gms.JSONWrapper:
		return jsonBytes(v)
	}
	return 64
}
