package mysql

import (
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// compared is a call of GREATEST or LEAST, made of arguments that go-mysql-server can compare: it refuses times and
// documents, and takes texts beside numbers for numbers, where MySQL compares texts.
func compared(ctx *gms.Context, f gms.Function, args []gms.Expression) (gms.Expression, error) {
	is := func(kind func(gms.Type) bool) func(gms.Type) bool {
		return func(t gms.Type) bool { return kind(t) || t == types.Null }
	}
	args = append([]gms.Expression(nil), args...)
	switch {
	case ofAll(ctx, args, is(types.IsTimespan)) && !ofAll(ctx, args, is(types.IsNumber)):
		for i, a := range args {
			args[i], _ = numeralOf(ctx, a, false)
		}
		made, err := f.NewInstance(ctx, args)
		if err != nil {
			return nil, err
		}
		return &seen[span]{made, span{}}, nil
	case ofAll(ctx, args, is(types.IsNumber)):
		if !ofAll(ctx, args, func(t gms.Type) bool { return !types.IsFloat(t) }) {
			for i, a := range args {
				if types.IsUnsigned(a.Type(ctx)) {
					args[i] = &seen[real]{a, real{}}
				}
			}
		}
	case ofAll(ctx, args, is(types.IsTime)): // go-mysql-server's is a DATETIME(6)
		made, err := f.NewInstance(ctx, args)
		if err != nil {
			return nil, err
		}
		if ofAll(ctx, args, is(types.IsDateType)) {
			return expression.NewConvert(made, expression.ConvertToDate), nil
		}
		digits := 0
		for _, a := range args {
			if t, ok := a.Type(ctx).(gms.DatetimeType); ok && !types.IsDateType(t) {
				digits = max(digits, t.Precision())
			}
		}
		return expression.NewConvertWithLengthAndScale(made, expression.ConvertToDatetime, digits, 0), nil
	case !ofAll(ctx, args, is(types.IsTime)):
		for i, a := range args {
			args[i], _ = wordedOf(ctx, a)
		}
	}
	return f.NewInstance(ctx, args)
}

// span is the time that a number of its digits is.
type span struct{}

func (span) typeOf(gms.Type) gms.Type { return types.Time }

func (span) look(_ *gms.Context, v any) (any, error) { return types.Time.ConvertToTimespan(v) }
