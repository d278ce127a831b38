package mysql

import (
	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// modulo makes a whole number of what is left of a division of two, for which go-mysql-server has a DECIMAL. It is
// unsigned where the first one is.
type modulo struct{ typ gms.Type }

func (m modulo) typeOf(gms.Type) gms.Type { return m.typ }

func (m modulo) look(ctx *gms.Context, v any) (any, error) {
	if _, ok := v.(*apd.Decimal); !ok {
		return v, nil
	}
	n, _, err := m.typ.Convert(ctx, v)
	return n, err
}

// moduloIn is for % and MOD().
func moduloIn(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity) {
	m, ok := e.(*expression.Mod)
	if !ok || !m.Resolved() {
		return e, transform.SameTree
	}
	left := m.LeftChild.Type(ctx)
	if !isWhole(left) || !isWhole(m.RightChild.Type(ctx)) {
		return e, transform.SameTree
	}
	if types.IsUnsigned(left) {
		return &seen[modulo]{e, modulo{types.Uint64}}, transform.NewTree
	}
	return &seen[modulo]{e, modulo{types.Int64}}, transform.NewTree
}

// isWhole tells whether a type is one of whole numbers.
func isWhole(t gms.Type) bool {
	_, scale, exact := digitsOf(t)
	_, decimal := t.(gms.DecimalType)
	return exact && scale == 0 && !decimal
}
