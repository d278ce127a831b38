package mysql

import (
	"fmt"
	"strings"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// dateFormat is DATE_FORMAT. The %y of go-mysql-server has one digit in the first ten years of a century.
type dateFormat struct{ *function.DateFormat }

func (d dateFormat) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	e, err := d.DateFormat.WithChildren(ctx, children...)
	if f, ok := e.(*function.DateFormat); ok && err == nil {
		return dateFormat{f}, nil
	}
	return e, err
}

// Eval is the date in the format.
func (d dateFormat) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	format, err := d.RightChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	text, ok := format.(string)
	if !ok || !strings.Contains(text, "%y") {
		return d.DateFormat.Eval(ctx, row)
	}
	v, err := d.LeftChild.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	if v, _, err = types.DatetimeMaxPrecision.Convert(ctx, v); err != nil {
		return nil, err
	}
	t, ok := v.(time.Time)
	if !ok {
		return nil, nil
	}
	return function.NewDateFormat(ctx, expression.NewLiteral(t, types.DatetimeMaxPrecision),
		expression.NewLiteral(withYear(text, t.Year()), types.LongText)).Eval(ctx, nil)
}

// withYear puts two digits in the place of each %y.
func withYear(format string, year int) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		switch rest := format[i:]; {
		case strings.HasPrefix(rest, "%y"):
			fmt.Fprintf(&b, "%02d", year%100)
			i++
		case len(rest) > 1 && rest[0] == '%': // also %%, behind which a y is a letter
			b.WriteString(rest[:2])
			i++
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}
