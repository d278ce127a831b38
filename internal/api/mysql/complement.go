package mysql

import (
	"math"
	"strconv"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
)

// complement makes whole numbers of a DECIMAL below 0 that is converted to UNSIGNED, of which go-mysql-server leaves
// out the sign.
type complement struct{}

func (complement) look(_ *gms.Context, v any) (any, error) {
	d, ok := v.(*apd.Decimal)
	if !ok || !d.Negative {
		return v, nil
	}
	whole := new(apd.Decimal)
	if _, err := apd.BaseContext.WithPrecision(uint32(d.NumDigits())+1).RoundToIntegralValue(whole, d); err != nil {
		return nil, err
	}
	if n, err := whole.Int64(); err == nil {
		return n, nil
	}
	return int64(math.MinInt64), nil
}

// signedBits makes a whole number with a sign of one without, or of a text: it has the bits of a number of 64 bits, and
// those of the largest or the smallest where it is beyond. go-mysql-server answers 0, or the largest.
type signedBits struct{}

func (signedBits) look(ctx *gms.Context, v any) (any, error) {
	switch n := v.(type) {
	case uint64:
		return int64(n), nil
	case string:
		sign, whole, _, _ := decimalNumber(n[:min(len(n), longestDate)])
		bits, err := strconv.ParseUint(whole, 10, 64)
		switch {
		case whole == "" || err == nil && bits <= math.MaxInt64:
			return v, nil
		case sign == "-" && err == nil && bits == 1<<63:
			return int64(math.MinInt64), nil
		case sign == "-":
			ctx.Warn(erTruncated, "Truncated incorrect INTEGER value: '%.64s'", n)
			return int64(math.MinInt64), nil
		case err != nil:
			ctx.Warn(erTruncated, "Truncated incorrect INTEGER value: '%.64s'", n)
			return int64(-1), nil
		}
		ctx.Warn(1105, "Cast to signed converted positive out-of-range integer to its negative complement")
		return int64(bits), nil
	}
	return v, nil
}
