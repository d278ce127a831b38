package mysql

import (
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// checked is a function of go-mysql-server that gets texts where it wants texts, and is not asked where an argument is
// NULL: it answers with an error there, or ends in a panic.
type checked struct {
	gms.Expression
	name string
}

// checkedTexts are those functions.
var checkedTexts = map[string]bool{"inet6_aton": true}

// checkedFunctions are all of them.
func checkedFunctions() (fs []gms.Function) {
	for _, f := range function.BuiltIns {
		name := f.FunctionName()
		if checkedTexts[name] {
			fs = append(fs, gms.FunctionN{Name: name,
				Fn: func(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) {
					e, err := f.NewInstance(ctx, typedFor(ctx, name, args))
					if err != nil {
						return nil, err
					}
					return &checked{e, name}, nil
				}})
		}
	}
	return fs
}

// FunctionName implements gms.FunctionExpression.
func (c *checked) FunctionName() string { return c.name }

// Description is for go-mysql-server's lists of functions.
func (c *checked) Description() string { return c.name }

// IsNullable tells that NULL may be answered.
func (c *checked) IsNullable(*gms.Context) bool { return true }

// CollationCoercibility is the inner expression's.
func (c *checked) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, c.Expression)
}

// WithChildren implements gms.Expression.
func (c *checked) WithChildren(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) {
	e, err := c.Expression.WithChildren(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &checked{e, c.name}, nil
}

// Eval evaluates each argument once.
func (c *checked) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	args := c.Children()
	values := make([]gms.Expression, len(args))
	for i, a := range args {
		text, ok, err := collated(ctx, a, row)
		if !ok || err != nil {
			return nil, err
		}
		values[i] = expression.NewLiteral(text, types.LongText)
	}
	e, err := c.Expression.WithChildren(ctx, values...)
	if err != nil {
		return nil, err
	}
	return e.Eval(ctx, row)
}
