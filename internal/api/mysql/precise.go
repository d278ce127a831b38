package mysql

import (
	"strings"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// precise is a date to which an interval was added, with the digits of a second that the date has: go-mysql-server
// gives it six, and writes them all. It is also the clock, of which go-mysql-server keeps more digits than are asked
// for, and rounds them, up to a second that has not come.
type precise struct{ typ gms.Type }

func (p precise) typeOf(gms.Type) gms.Type { return p.typ }

func (p precise) look(_ *gms.Context, v any) (any, error) {
	t, ok := v.(time.Time)
	d, is := p.typ.(gms.DatetimeType)
	if !ok || !is {
		return v, nil
	}
	unit := time.Second
	for range d.Precision() {
		unit /= 10
	}
	return t.Add(-time.Duration(t.Nanosecond()) % unit), nil
}

// utcLetters stand around the digits that a UTC_TIMESTAMP(n) is asked for, which it tells nowhere else.
const utcLetters = "UTC_IMESAP()"

// preciseIn gives DATE_ADD, UTC_TIMESTAMP and their like their type.
func preciseIn(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity) {
	var typ gms.Type
	switch f := e.(type) {
	case *function.DateAdd:
		typ, e = preciseType(ctx, f.Type(ctx), f.Date, f.Interval), &moved{f}
	case *function.DateSub:
		typ, e = preciseType(ctx, f.Type(ctx), f.Date, f.Interval), &moved{f}
	case *function.ConvertTz:
		typ = zonedType(ctx, f.Children()[0])
	case *function.UTCTimestamp:
		typ = datetimeOf(digits(strings.Trim(f.String(), utcLetters)))
	case *function.Now:
		if args := f.Children(); len(args) == 1 {
			typ = datetimeOf(wantedDigits(args))
		}
	}
	if typ == nil {
		_, shifted := e.(*moved)
		return e, transform.TreeIdentity(!shifted)
	}
	return &seen[precise]{e, precise{typ}}, transform.NewTree
}

// preciseType is the type of a date to which an interval is added; nil where go-mysql-server's is right. The digits are
// those of the date and, for seconds, those of the number, as MySQL has them.
func preciseType(ctx *gms.Context, own gms.Type, date gms.Expression, interval *expression.Interval) gms.Type {
	unit, number := strings.ToUpper(interval.Unit), interval.Child
	if micros, ok := number.(*expression.Arithmetic); ok && micros.RightChild == million {
		unit, number = "SECOND", micros.LeftChild
	}
	of, ok := date.Type(ctx).(gms.DatetimeType)
	if !ok || !types.IsDatetimeType(own) || strings.Contains(unit, "MICROSECOND") {
		return nil
	}
	digits := 0
	if !types.IsDateType(of) {
		digits = of.Precision()
	}
	if unit == "SECOND" {
		_, scale, exact := digitsOf(number.Type(ctx))
		if !exact {
			return nil
		}
		digits = max(digits, min(scale, 6))
	}
	return datetimeOf(digits)
}

// datetimeOf is a DATETIME with so many digits of a second; nil: there is none.
func datetimeOf(digits int) gms.Type {
	typ, err := types.CreateDatetimeType(sqltypes.Datetime, digits)
	if err != nil {
		return nil
	}
	return typ
}

// zonedType is the type of a date in another time zone; nil where go-mysql-server's, of six digits, is right.
func zonedType(ctx *gms.Context, date gms.Expression) gms.Type {
	digits := 0
	switch t := date.Type(ctx).(type) {
	case gms.DatetimeType:
		if !types.IsDateType(t) {
			digits = t.Precision()
		}
	default:
		text, ok := date.(*expression.Literal)
		if !ok {
			return nil
		}
		_, fraction, _ := strings.Cut(text64(text.Value()), ".")
		digits = min(len(fraction), 6)
	}
	return types.MustCreateDatetimeType(sqltypes.Datetime, digits)
}
