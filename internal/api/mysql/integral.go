package mysql

import (
	"regexp"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// integral makes whole numbers of what is converted to a DECIMAL without digits behind the point, of which
// go-mysql-server keeps all.
type integral struct{ typ gms.DecimalType }

// wholeDecimal finds the digits in what go-mysql-server writes for such a conversion, which tells them nowhere else.
var wholeDecimal = regexp.MustCompile(`, decimal(?:\((\d{1,2})\))?\)$`)

// wholeOf is the eye for a conversion; false where digits stand behind the point.
func wholeOf(c *expression.Convert) (integral, bool) {
	text := c.String()
	m := wholeDecimal.FindStringSubmatch(text[max(0, len(text)-32):])
	if m == nil {
		return integral{}, false
	}
	count := 10
	if m[1] != "" {
		count = digits(m[1])
	}
	typ, err := types.CreateColumnDecimalType(uint8(count), 0)
	if err != nil || count == 0 {
		return integral{}, false
	}
	return integral{typ}, true
}

func (w integral) typeOf(gms.Type) gms.Type { return w.typ }

// look rounds half away from zero, as MySQL does.
func (w integral) look(ctx *gms.Context, v any) (any, error) {
	d, ok := v.(*apd.Decimal)
	if !ok {
		return v, nil
	}
	rounded := new(apd.Decimal)
	if _, err := apd.BaseContext.WithPrecision(uint32(d.NumDigits())+100).Quantize(rounded, d, 0); err != nil {
		return nil, err
	}
	if rounded.IsZero() {
		rounded.Negative = false
		return rounded, nil
	}
	if rounded.NumDigits() > int64(w.typ.Precision()) {
		ctx.Warn(1264, "Out of range value for column 'DECIMAL' at row 1")
		most := apd.New(1, int32(w.typ.Precision()))
		if _, err := apd.BaseContext.WithPrecision(100).Sub(rounded, most, apd.New(1, 0)); err != nil {
			return nil, err
		}
		rounded.Negative = d.Negative
	}
	return rounded, nil
}
