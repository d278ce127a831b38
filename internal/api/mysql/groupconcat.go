package mysql

import (
	"slices"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// go-mysql-server's GROUP_CONCAT joins the first of its arguments alone, and leaves empty texts out. MySQL joins what
// all arguments of a row come to, and leaves out only NULL.

// emptyMark stands for an empty text while texts are joined. No text has it: it is no UTF-8.
const emptyMark = "\xff"

// marked is an expression whose empty texts are emptyMark.
type marked struct{}

func (marked) look(_ *gms.Context, v any) (any, error) {
	if v == "" {
		return emptyMark, nil
	}
	return v, nil
}

// joining is GROUP_CONCAT as MySQL does it.
type joining struct {
	*aggregation.GroupConcat
	marks bool // empty texts are emptyMark
}

// joiningOf is GROUP_CONCAT over one expression that has the texts of all of its arguments. g is not changed.
func joiningOf(ctx *gms.Context, g *aggregation.GroupConcat) (gms.Expression, error) {
	all, outputs := g.Children(), g.OutputExpressions()
	order, one := all[:len(all)-len(outputs)], outputs[0]
	if len(outputs) > 1 {
		var err error
		if one, err = function.NewConcat(ctx, outputs...); err != nil {
			return nil, err
		}
	}
	marks := types.IsTextOnly(one.Type(ctx)) && !slices.ContainsFunc(outputs, func(e gms.Expression) bool {
		return types.IsBinaryType(e.Type(ctx)) // bytes may be those of the mark
	})
	if marks {
		one = &seen[marked]{one, marked{}}
	}
	children := make([]gms.Expression, 0, len(order)+1)
	for _, c := range order {
		children = append(children, onceEachOf(c))
	}
	return joining{g, marks}.WithChildren(ctx, append(children, &seen[weigh]{one, keptWeight})...)
}

// WithChildren implements gms.Expression.
func (j joining) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	made, err := j.GroupConcat.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return joining{made.(*aggregation.GroupConcat), j.marks}, nil
}

// NewBuffer implements gms.Aggregation.
func (j joining) NewBuffer(ctx *gms.Context) (gms.AggregationBuffer, error) {
	b, err := j.GroupConcat.NewBuffer(ctx)
	return joined{b, j.marks}, err
}

// joined takes the marks out again.
type joined struct {
	gms.AggregationBuffer
	marks bool
}

// Update implements gms.AggregationBuffer. go-mysql-server appends its text to the row, where that of another
// GROUP_CONCAT of the same row would overwrite it.
func (j joined) Update(ctx *gms.Context, row gms.Row) error {
	return j.AggregationBuffer.Update(ctx, slices.Clip(row))
}

// Eval implements gms.AggregationBuffer.
func (j joined) Eval(ctx *gms.Context) (any, error) {
	v, err := j.AggregationBuffer.Eval(ctx)
	if text, ok := v.(string); ok && j.marks {
		v = strings.ReplaceAll(text, emptyMark, "")
	}
	return v, err
}
