package store

import (
	"strings"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/sql"
)

// An env is what the names in an expression mean.
type env struct {
	params map[string]value.Value
	table  *table
	now    *row
}

func (e *env) in(t *table, r *row) { e.table, e.now = t, r }

func (e *env) eval(x sql.Expr) (value.Value, error) {
	switch x := x.(type) {
	case sql.Literal:
		return x.Value, nil
	case sql.Param:
		v, ok := e.params[x.Name]
		if !ok {
			return v, refuse(codePlaceholder, "placeholder :%s has no value", x.Name)
		}
		return v, nil
	case sql.Column:
		if e.now == nil {
			return value.Value{}, refuse(codeSymbol, "symbol_not_found: column %q means nothing here", x.Name)
		}
		return e.now.values[e.table.index[x.Name]], nil
	case *sql.Unary:
		return e.unary(x)
	case *sql.Binary:
		return e.binary(x)
	default:
		return value.Value{}, refuse(codeType, "an aggregate function stands where there is one row only")
	}
}

func (e *env) unary(x *sql.Unary) (value.Value, error) {
	v, err := e.eval(x.X)
	if err != nil {
		return v, err
	}
	switch x.Op {
	case "IS NULL":
		return value.OfBool(v.IsNull()), nil
	case "IS NOT NULL":
		return value.OfBool(!v.IsNull()), nil
	case "NOT":
		if v.Type() != value.Boolean {
			return value.Value{}, nil
		}
		return value.OfBool(v.Int() == 0), nil
	default:
		if v.IsNull() {
			return v, nil
		}
		return arithmetic("-", value.OfInt8(0), v)
	}
}

func (e *env) binary(x *sql.Binary) (value.Value, error) {
	a, err := e.eval(x.X)
	if err != nil {
		return a, err
	}
	b, err := e.eval(x.Y)
	if err != nil {
		return b, err
	}
	switch x.Op {
	case "AND", "OR":
		return logic(x.Op, a, b), nil
	case "+", "-":
		if a.IsNull() || b.IsNull() {
			return value.Value{}, nil
		}
		return arithmetic(x.Op, a, b)
	case "||":
		if a.IsNull() || b.IsNull() {
			return value.Value{}, nil
		}
		return value.OfText(a.Text() + b.Text()), nil
	}
	if a.IsNull() || b.IsNull() {
		return value.Value{}, nil
	}
	c, ok := compare(a, b)
	if !ok {
		return value.Value{}, refuse(codeType, "inconsistent_type: %v cannot be compared with %v", a.Type(), b.Type())
	}
	return value.OfBool(holds(x.Op, c)), nil
}

func holds(op string, c int) bool {
	switch op {
	case "=":
		return c == 0
	case "<>":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	default:
		return c >= 0
	}
}

// logic is AND and OR of truth values, or of NULL, which is neither.
func logic(op string, a, b value.Value) value.Value {
	decides := op == "OR"
	for _, v := range []value.Value{a, b} {
		if v.Type() == value.Boolean && (v.Int() == 1) == decides {
			return value.OfBool(decides)
		}
	}
	if a.IsNull() || b.IsNull() {
		return value.Value{}
	}
	return value.OfBool(!decides)
}

func isFloat(v value.Value) bool { return v.Type() == value.Float4 || v.Type() == value.Float8 }

func number(v value.Value) float64 {
	switch v.Type() {
	case value.Float4, value.Float8:
		return v.Float()
	case value.Decimal:
		if r, ok := rational(v); ok {
			f, _ := r.Float64()
			return f
		}
		return 0
	default:
		return float64(v.Int())
	}
}

func arithmetic(op string, a, b value.Value) (value.Value, error) {
	if group(a.Type()) != 1 || group(b.Type()) != 1 {
		return value.Value{}, refuse(codeType, "inconsistent_type: %v %s %v", a.Type(), op, b.Type())
	}
	if isFloat(a) || isFloat(b) {
		if op == "+" {
			return value.OfFloat8(number(a) + number(b)), nil
		}
		return value.OfFloat8(number(a) - number(b)), nil
	}
	x, okX := rational(a)
	y, okY := rational(b)
	if !okX || !okY {
		return value.Value{}, refuse(codeEvaluation, "a number with too many digits")
	}
	if op == "+" {
		x.Add(x, y)
	} else {
		x.Sub(x, y)
	}
	if x.IsInt() && x.Num().IsInt64() {
		return value.OfInt8(x.Num().Int64()), nil
	}
	const digits = 38
	v, err := value.ParseDecimal(x.FloatString(digits))
	return v, err
}

// compare tells the order of two values; ok is false if they have none.
func compare(a, b value.Value) (int, bool) {
	if group(a.Type()) != group(b.Type()) {
		return 0, false
	}
	switch a.Type() {
	case value.Character, value.Octet:
		return strings.Compare(a.Text(), b.Text()), true
	case value.Float4, value.Float8, value.Decimal, value.Int4, value.Int8:
		if isFloat(a) || isFloat(b) {
			x, y := number(a), number(b)
			switch {
			case x < y:
				return -1, true
			case x > y:
				return 1, true
			}
			return 0, true
		}
		x, okX := rational(a)
		y, okY := rational(b)
		return cmp(x, y, okX && okY)
	default:
		if t := a.Time().Compare(b.Time()); !a.Time().IsZero() {
			return t, true
		}
		return strings.Compare(a.String(), b.String()), true
	}
}
