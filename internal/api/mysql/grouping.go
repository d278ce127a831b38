package mysql

import (
	"errors"
	"io"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// grouping makes the rows of a GROUP BY, in the goroutine of the statement. go-mysql-server's own iterator groups in a
// second goroutine what the first reads; when the second fails, the first waits for ever to hand over its next row,
// whatever becomes of the statement's context.
type grouping struct {
	node  *plan.GroupBy
	child gms.RowIter
	meter *meter

	schema gms.Schema                // of key
	key    gms.Row                   // of the row that is grouped
	read   bool                      // all rows are
	groups [][]gms.AggregationBuffer // in the order in which they appeared; those that were answered with are nil
	next   int
}

// bufferBytes is about what an aggregate of a group costs without the values that it keeps.
const bufferBytes = 64

// group builds a GROUP BY over what is built of its child.
func (w walking) group(ctx *gms.Context, m *meter, n *plan.GroupBy, row gms.Row) (gms.RowIter, error) {
	child, err := w.base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	g := &grouping{node: n, child: child, meter: m, schema: make(gms.Schema, len(n.GroupByExprs)),
		key: make(gms.Row, len(n.GroupByExprs))}
	for i, e := range n.GroupByExprs {
		g.schema[i] = &gms.Column{Type: e.Type(ctx)}
	}
	return g, nil
}

// Next reads all rows when it is first called, and returns a row for each group.
func (g *grouping) Next(ctx *gms.Context) (gms.Row, error) {
	if !g.read {
		g.read = true
		if err := g.gather(ctx); err != nil {
			g.dispose(ctx) // no group is whole
			return nil, err
		}
	}
	if g.next == len(g.groups) {
		return nil, io.EOF
	}
	group := g.groups[g.next]
	row := make(gms.Row, len(group))
	for i, b := range group {
		var err error
		if row[i], err = b.Eval(ctx); err != nil {
			return nil, err
		}
		b.Dispose(ctx)
	}
	g.groups[g.next] = nil
	g.next++
	return row, nil
}

// gather reads all rows into their groups. As in go-mysql-server, what has the same hash is the same group.
func (g *grouping) gather(ctx *gms.Context) error {
	at := map[uint64][]gms.AggregationBuffer{}
	for {
		row, err := g.child.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := g.meter.alive(); err != nil {
			return err
		}
		key, err := g.keyOf(ctx, row)
		if err != nil {
			return err
		}
		group, known := at[key]
		if !known {
			if group, err = g.begin(ctx, g.node.SelectDeps); err != nil {
				return err
			}
			at[key] = group
		}
		for _, b := range group {
			if err := b.Update(ctx, row); err != nil {
				return err
			}
		}
	}
}

func (g *grouping) keyOf(ctx *gms.Context, row gms.Row) (uint64, error) {
	for i, e := range g.node.GroupByExprs {
		v, err := e.Eval(ctx, row)
		if err != nil {
			return 0, err
		}
		g.key[i] = v
	}
	return hash.HashOf(ctx, g.schema, g.key)
}

// begin begins a group, of which so much is to be made.
func (g *grouping) begin(ctx *gms.Context, deps []gms.Expression) ([]gms.AggregationBuffer, error) {
	if err := g.meter.hold(keptBytes + bufferBytes*int64(len(deps))); err != nil {
		return nil, err
	}
	group := make([]gms.AggregationBuffer, 0, len(deps))
	defer func() { g.groups = append(g.groups, group) }() // also a part of one has to be disposed of
	for _, e := range deps {
		a, ok := e.(gms.Aggregation)
		if !ok {
			// where a group has several values of what is no aggregate, it is its first row's
			a = aggregation.NewFirst(e)
		}
		b, err := a.NewBuffer(ctx)
		if err != nil {
			return nil, err
		}
		group = append(group, b)
	}
	return group, nil
}

// Close gives back what the groups hold, and closes the child.
func (g *grouping) Close(ctx *gms.Context) error {
	g.dispose(ctx)
	return g.child.Close(ctx)
}

func (g *grouping) dispose(ctx *gms.Context) {
	for _, group := range g.groups {
		for _, b := range group {
			b.Dispose(ctx)
		}
	}
	g.groups, g.next = nil, 0
}
