package mysql

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/hikyaku/hikyaku/internal/api/mysql/spelling"
)

// rolledUp is the last expression of a GROUP BY … WITH ROLLUP. The groups that sum up others have NULL in the place of
// what those are told apart by.
type rolledUp struct{}

func (rolledUp) Resolved() bool               { return true }
func (rolledUp) String() string               { return spelling.Rollup }
func (rolledUp) Type(*gms.Context) gms.Type   { return types.Int64 }
func (rolledUp) IsNullable(*gms.Context) bool { return false }
func (rolledUp) Children() []gms.Expression   { return nil }

func (r rolledUp) WithChildren(*gms.Context, ...gms.Expression) (gms.Expression, error) {
	return r, nil
}

// Eval makes every group the same as without it.
func (rolledUp) Eval(*gms.Context, gms.Row) (any, error) { return int64(0), nil }

// groupingOf is GROUPING(a, b): a bit for each of what it names, the last one the lowest, which tells that it is NULL
// because the group sums up others. To the planner it is an aggregate.
type groupingOf struct {
	args []gms.Expression
	id   gms.ColumnId
}

var _ gms.Aggregation = (*groupingOf)(nil)

func (g *groupingOf) Resolved() bool               { return expression.ExpressionsResolved(g.args...) }
func (g *groupingOf) Type(*gms.Context) gms.Type   { return types.Int64 }
func (g *groupingOf) IsNullable(*gms.Context) bool { return false }
func (g *groupingOf) Children() []gms.Expression   { return g.args }

//lint:ignore ST1003 go-mysql-server calls it so
func (g *groupingOf) Id() gms.ColumnId { return g.id }

func (g *groupingOf) String() string {
	texts := make([]string, len(g.args))
	for i, a := range g.args {
		texts[i] = a.String()
	}
	return "grouping(" + strings.Join(texts, ", ") + ")"
}

//lint:ignore ST1003 go-mysql-server calls it so
func (g *groupingOf) WithId(id gms.ColumnId) gms.IdExpression { return &groupingOf{g.args, id} }

func (g *groupingOf) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	return &groupingOf{children, g.id}, nil
}

func (g *groupingOf) Window() *gms.WindowDefinition { return nil }

func (g *groupingOf) WithWindow(*gms.Context, *gms.WindowDefinition) gms.WindowAdaptableExpression {
	return g
}

// errGrouping is what MySQL says of GROUPING where nothing is rolled up.
func errGrouping() error { return sqlError(1111, "HY000", "Invalid use of group function") }

func (g *groupingOf) NewWindowFunction(*gms.Context) (gms.WindowFunction, error) {
	return nil, errGrouping()
}

func (g *groupingOf) NewBuffer(*gms.Context) (gms.AggregationBuffer, error) {
	return nil, errGrouping()
}

func (g *groupingOf) Eval(*gms.Context, gms.Row) (any, error) { return nil, errGrouping() }

// bits are those of a group that is told apart by so many of what stands in the GROUP BY.
func (g *groupingOf) bits(keys []gms.Expression, level int) (bits int64, err error) {
	for i, a := range g.args {
		at := keyAt(keys, a)
		if at < 0 {
			return 0, sqlError(3602, "HY000", "Argument #%d of GROUPING function is not in GROUP BY", i+1)
		}
		bits <<= 1
		if at >= level {
			bits |= 1
		}
	}
	return bits, nil
}

// keyAt is where an expression stands in a GROUP BY; -1: nowhere.
func keyAt(keys []gms.Expression, e gms.Expression) int {
	text := innermost(e).String()
	return slices.IndexFunc(keys, func(k gms.Expression) bool { return strings.EqualFold(innermost(k).String(), text) })
}

// groupingIsAnAggregate lets the planner take GROUPING for one, which has its place among what a GROUP BY makes.
var groupingIsAnAggregate = sync.OnceFunc(func() {
	planbuilder.IsAggregateFunc = func(name string) bool {
		return name == spelling.Grouping || planbuilder.IsMySQLAggregateFuncName(name)
	}
})

// rolled makes the rows of a GROUP BY … WITH ROLLUP: the groups in their order, and behind those that are alike but for
// what they are told apart by last the one that sums them up.
type rolled struct {
	grouping
	keys  []gms.Expression // without the rolledUp
	deps  [][]gms.Expression
	order []rolledGroup
}

// rolledGroup is a group that is told apart by the first values of the keys.
type rolledGroup struct {
	values  gms.Row
	buffers []gms.AggregationBuffer
}

// rollsUp tells whether a GROUP BY is one WITH ROLLUP.
func rollsUp(n *plan.GroupBy) bool {
	last := len(n.GroupByExprs) - 1
	if last < 0 {
		return false
	}
	_, is := n.GroupByExprs[last].(rolledUp)
	return is
}

// rollup builds a GROUP BY … WITH ROLLUP over what is built of its child.
func (w walking) rollup(ctx *gms.Context, m *meter, n *plan.GroupBy, row gms.Row) (gms.RowIter, error) {
	keys := n.GroupByExprs[:len(n.GroupByExprs)-1]
	for _, k := range keys {
		if _, is := innermost(k).(*expression.GetField); !is && !keyOf(n.SelectDeps, innermost(k)) {
			return nil, sqlError(erUnsupported, "42000", "GROUP BY of an expression WITH ROLLUP is not supported in a "+
				"subquery that is a value: group by a column of a subquery in the FROM")
		}
	}
	r := &rolled{keys: keys, deps: make([][]gms.Expression, len(keys)+1)}
	for level := range r.deps {
		for _, e := range n.SelectDeps {
			if g, ok := e.(*groupingOf); ok {
				bits, err := g.bits(keys, level)
				if err != nil {
					return nil, err
				}
				e = expression.NewLiteral(bits, types.Int64)
			} else if keyAt(keys, e) >= level {
				e = expression.NewLiteral(nil, types.Null)
			}
			r.deps[level] = append(r.deps[level], e)
		}
	}
	child, err := w.base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	r.grouping = grouping{node: n, child: child, meter: m, schema: make(gms.Schema, len(keys)),
		key: make(gms.Row, len(keys))}
	for i, e := range keys {
		r.schema[i] = &gms.Column{Type: e.Type(ctx)}
	}
	return r, nil
}

// Next reads all rows when it is first called, and returns a row for each group.
func (r *rolled) Next(ctx *gms.Context) (gms.Row, error) {
	if !r.read {
		r.read = true
		err := r.gather(ctx)
		if err == nil {
			err = r.sort(ctx)
		}
		if err != nil {
			r.dispose(ctx)
			return nil, err
		}
	}
	return r.grouping.Next(ctx)
}

// gather reads all rows, each into one group of every level.
func (r *rolled) gather(ctx *gms.Context) error {
	at := make([]map[uint64][]gms.AggregationBuffer, len(r.deps))
	for level := range at {
		at[level] = map[uint64][]gms.AggregationBuffer{}
	}
	for {
		row, err := r.child.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i, e := range r.keys {
			if r.key[i], err = e.Eval(ctx, row); err != nil {
				return err
			}
		}
		for level := range r.deps {
			if err := r.meter.alive(); err != nil {
				return err
			}
			key, err := hash.HashOf(ctx, r.schema[:level], r.key[:level])
			if err != nil {
				return err
			}
			group, known := at[level][key]
			if !known {
				values := slices.Clone(r.key[:level])
				if err := r.meter.hold(rowBytes(values)); err != nil {
					return err
				}
				if group, err = r.begin(ctx, r.deps[level]); err != nil {
					return err
				}
				at[level][key] = group
				r.order = append(r.order, rolledGroup{values, group})
			}
			for _, b := range group {
				if err := b.Update(ctx, row); err != nil {
					return err
				}
			}
		}
	}
}

// sort brings the groups into their order.
func (r *rolled) sort(ctx *gms.Context) (err error) {
	slices.SortStableFunc(r.order, func(a, b rolledGroup) int {
		if err != nil {
			return 0
		}
		for i := range min(len(a.values), len(b.values)) {
			var c int
			if c, err = compareKeys(ctx, r.schema[i].Type, a.values[i], b.values[i]); c != 0 || err != nil {
				return c
			}
		}
		return len(b.values) - len(a.values)
	})
	for i, g := range r.order {
		r.groups[i] = g.buffers
	}
	return errors.Join(err, r.meter.alive())
}

// compareKeys compares values that rows are grouped by: NULL stands before all others.
func compareKeys(ctx *gms.Context, t gms.Type, a, b any) (int, error) {
	switch {
	case a == nil && b == nil:
		return 0, nil
	case a == nil:
		return -1, nil
	case b == nil:
		return 1, nil
	}
	return t.Compare(ctx, a, b)
}
