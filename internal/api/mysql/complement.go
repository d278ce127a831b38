package mysql

import (
	"math"

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
