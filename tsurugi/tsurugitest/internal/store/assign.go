package store

import (
	"math"
	"math/big"
	"strings"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest/internal/sql"
)

// assign makes a value one that a column keeps.
func assign(c *sql.ColumnDef, v value.Value) (value.Value, error) {
	if v.IsNull() || v.Type() == value.Unknown {
		if c.NotNull {
			return v, refuse(codeNotNull, "Null assigned for non-nullable field %q.", c.Name)
		}
		return value.Value{}, nil
	}
	if !assignable(c.Type, v.Type()) {
		return v, refuse(codeType, "inconsistent_type: a value of type %v cannot be assigned to column %q of type %v",
			v.Type(), c.Name, c.Type)
	}
	switch c.Type {
	case value.Int4, value.Int8:
		return whole(c, v)
	case value.Float4, value.Float8:
		return float(c, v)
	case value.Decimal:
		return decimal(c, v)
	case value.Character:
		return text(c, v)
	case value.Octet:
		return octets(c, v)
	case value.TimePoint, value.TimePointWithTimeZone:
		seconds := v.Int() - int64(v.Zone())*60
		if c.Type == value.TimePoint {
			return value.OfSeconds(seconds, v.Nanos()), nil
		}
		return value.OfSecondsInZone(seconds, v.Nanos(), 0), nil
	case value.TimeOfDay, value.TimeOfDayWithTimeZone:
		nanos := v.Int() - int64(v.Zone())*60e9
		const day = 24 * 3600e9
		nanos = ((nanos % day) + day) % day
		if c.Type == value.TimeOfDay {
			return value.OfNanosOfDay(nanos), nil
		}
		return value.OfNanosOfDayInZone(nanos, 0), nil
	default:
		return v, nil
	}
}

// group puts types together whose values can be compared. Times with a zone and without one cannot.
func group(t value.Type) int {
	switch t {
	case value.Int4, value.Int8, value.Float4, value.Float8, value.Decimal:
		return 1
	default:
		return -int(t)
	}
}

// assignable tells whether the server converts a type to a column's: exact numbers to any, REAL and DOUBLE to each
// other, and all else to itself alone.
func assignable(column, v value.Type) bool {
	if v == value.Null || v == value.Unknown {
		return true
	}
	approximate := v == value.Float4 || v == value.Float8
	return group(column) == group(v) && (!approximate || column == value.Float4 || column == value.Float8)
}

func outOfRange(c *sql.ColumnDef, v value.Value) error {
	return refuse(codeOutOfRange, "value %v is out of the range of column %q, which is %v", v, c.Name, c.Type)
}

func whole(c *sql.ColumnDef, v value.Value) (value.Value, error) {
	n, _ := rational(v)
	if n == nil {
		return v, outOfRange(c, v)
	}
	i := new(big.Int).Quo(n.Num(), n.Denom())
	if !i.IsInt64() || c.Type == value.Int4 && i.Int64() != int64(int32(i.Int64())) {
		return v, outOfRange(c, v)
	}
	if c.Type == value.Int4 {
		return value.OfInt4(int32(i.Int64())), nil
	}
	return value.OfInt8(i.Int64()), nil
}

func float(c *sql.ColumnDef, v value.Value) (value.Value, error) {
	if v.Type() == c.Type {
		return v, nil
	}
	var f float64
	switch v.Type() {
	case value.Float4, value.Float8:
		f = v.Float()
	case value.Decimal:
		r, ok := rational(v)
		if !ok {
			return v, outOfRange(c, v)
		}
		f, _ = r.Float64()
	default:
		f = float64(v.Int())
	}
	if c.Type == value.Float8 {
		return value.OfFloat8(f), nil
	}
	if math.Abs(f) > math.MaxFloat32 && !math.IsInf(f, 0) {
		return v, outOfRange(c, v)
	}
	return value.OfFloat4(float32(f)), nil
}

// decimal makes a value have the column's scale. Digits behind that are cut.
func decimal(c *sql.ColumnDef, v value.Value) (value.Value, error) {
	r, ok := rational(v)
	if !ok {
		return v, outOfRange(c, v)
	}
	scaled := new(big.Int).Mul(r.Num(), power(c.Scale))
	scaled.Quo(scaled, r.Denom())
	if len(new(big.Int).Abs(scaled).String()) > c.Precision {
		return v, outOfRange(c, v)
	}
	return value.OfBigDecimal(scaled, int32(-c.Scale)), nil
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// rational is a number without loss; ok is false for what is none, or has more digits than any column keeps.
func rational(v value.Value) (*big.Rat, bool) {
	switch v.Type() {
	case value.Int4, value.Int8:
		return new(big.Rat).SetInt64(v.Int()), true
	case value.Float4, value.Float8:
		r := new(big.Rat).SetFloat64(v.Float())
		return r, r != nil
	case value.Decimal:
		const most = 10_000
		e := int(v.Exponent())
		switch {
		case e > most || e < -most:
			return nil, false
		case e >= 0:
			return new(big.Rat).SetInt(new(big.Int).Mul(v.Coefficient(), power(e))), true
		default:
			return new(big.Rat).SetFrac(v.Coefficient(), power(-e)), true
		}
	default:
		return nil, false
	}
}

func tooLong(c *sql.ColumnDef, n int) error {
	most := c.Length
	if most == 0 {
		most = sql.MaxLength
	}
	return refuse(codeTooLong, "value of %d bytes is too long for column %q, which holds %d", n, c.Name, most)
}

func text(c *sql.ColumnDef, v value.Value) (value.Value, error) {
	s := v.Text()
	if strings.IndexByte(s, 0) >= 0 {
		return v, refuse(codeInvalidValue, "the text for column %q has the character NUL", c.Name)
	}
	if c.Length == 0 && len(s) > sql.MaxLength {
		return v, tooLong(c, len(s))
	}
	if c.Length > 0 && len(s) > c.Length {
		if strings.TrimRight(s[c.Length:], " ") != "" {
			return v, tooLong(c, len(s))
		}
		s = s[:c.Length]
	}
	if !c.Varying {
		s += strings.Repeat(" ", c.Length-len(s))
	}
	return value.OfText(s), nil
}

func octets(c *sql.ColumnDef, v value.Value) (value.Value, error) {
	s := v.Text()
	if len(s) > sql.MaxLength || c.Length > 0 && len(s) > c.Length {
		return v, tooLong(c, len(s))
	}
	if !c.Varying {
		s += strings.Repeat("\x00", c.Length-len(s))
	}
	return value.OfBytes([]byte(s)), nil
}
