package mysql

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
)

// The bounds of what go-mysql-server keeps as integers.
var (
	leastInt, mostInt   = big.NewInt(-1 << 63), big.NewInt(1<<63 - 1)
	leastUint, mostUint = new(big.Int), new(big.Int).SetUint64(1<<64 - 1)
)

// ranged is the nearest integer to a value that a variable can have: MySQL takes it, and warns, where a value is out of
// range, and refuses the value only with STRICT_ALL_TABLES. What is no integer is left to the variable's type.
func ranged(ctx *gms.Context, v gms.SystemVariable, name string, value any, strict bool) (any, error) {
	if name == leaseVariable { // ours, of which MySQL knows nothing: 0 would be a lease without an end
		return value, nil
	}
	least, most := leastInt, mostInt
	switch v.GetType().Type() {
	case sqltypes.Int64:
	case sqltypes.Uint64:
		least, most = leastUint, mostUint
	default:
		return value, nil
	}
	asked, ok := settingNumber(value)
	if !ok {
		return value, nil
	}
	takes := func(n *big.Int) (any, bool) {
		var held any = n.Int64()
		if most == mostUint {
			held = n.Uint64()
		}
		_, _, err := v.GetType().Convert(ctx, held)
		return held, err == nil
	}
	outside := asked.Cmp(least) < 0 || asked.Cmp(most) > 0
	near := new(big.Int).Set(asked)
	if asked.Cmp(least) < 0 {
		near.Set(least)
	} else if asked.Cmp(most) > 0 {
		near.Set(most)
	}
	held, ok := takes(near)
	if !ok {
		if held, ok = nearest(takes, v.GetDefault(), near); !ok {
			return value, nil
		}
		outside = true
	}
	// what MySQL keeps in 64 bits without a sign is not outside of what an int64 stands for here
	if !outside || most == mostInt && near.Cmp(mostInt) == 0 && asked.Cmp(mostUint) <= 0 {
		return held, nil
	}
	if strict {
		return nil, sqlError(1231, "42000", "Variable '%s' can't be set to the value of '%.64s'", name, asked.String())
	}
	ctx.Warn(1292, "Truncated incorrect %s value: '%.64s'", name, asked.String())
	return held, nil
}

// nearest looks between the default of a variable, which it takes, and a number that it does not take for the last one
// that it takes.
func nearest(takes func(*big.Int) (any, bool), usual any, refused *big.Int) (held any, ok bool) {
	in, ok := settingNumber(usual)
	if !ok {
		return nil, false
	}
	if held, ok = takes(in); !ok {
		return nil, false
	}
	for out := refused; ; {
		between := new(big.Int).Add(in, out)
		between.Rsh(between, 1)
		if between.Cmp(in) == 0 || between.Cmp(out) == 0 {
			return held, true
		}
		if mid, fits := takes(between); fits {
			in, held = between, mid
		} else {
			out = between
		}
	}
}

// settingNumber is the integer that a value is; ok is false for anything else.
func settingNumber(value any) (n *big.Int, ok bool) {
	switch v := value.(type) {
	case int:
		return big.NewInt(int64(v)), true
	case int8:
		return big.NewInt(int64(v)), true
	case int16:
		return big.NewInt(int64(v)), true
	case int32:
		return big.NewInt(int64(v)), true
	case int64:
		return big.NewInt(v), true
	case uint8:
		return big.NewInt(int64(v)), true
	case uint16:
		return big.NewInt(int64(v)), true
	case uint32:
		return big.NewInt(int64(v)), true
	case uint64:
		return new(big.Int).SetUint64(v), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		n, exact := big.NewFloat(v).Int(nil)
		return n, exact == big.Exact
	case *apd.Decimal:
		if v.Form != apd.Finite || v.Exponent < -maxScale || v.Exponent > maxScale {
			return nil, false
		}
		return new(big.Int).SetString(v.Text('f'), 10)
	}
	return nil, false
}

// strict tells whether a value that is out of range is refused. A session that begins has no mode yet.
func (s *session) strict() bool { return s != nil && s.mode != nil && s.mode.StrictAllTables() }
