package mysql

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// reals are functions of numbers by name. go-mysql-server's own answer NULL where a result is out of range, cut it to
// 64 bits, or (CEIL and FLOOR) round the very number that the row has, so that the column is another one behind them.
var reals = map[string]clockwork{
	"exp":     {1, 1, ofDouble, real1(math.Exp)},
	"degrees": {1, 1, ofDouble, real1(func(x float64) float64 { return x / math.Pi * 180 })},
	"radians": {1, 1, ofDouble, real1(func(x float64) float64 { return x * (math.Pi / 180) })},
	"cot":     {1, 1, ofDouble, real1(func(x float64) float64 { return 1 / math.Tan(x) })},
	"ceil":    {1, 1, ofWhole, wholeOfReal(math.Ceil, (*apd.Context).Ceil)},
	"ceiling": {1, 1, ofWhole, wholeOfReal(math.Ceil, (*apd.Context).Ceil)},
	"floor":   {1, 1, ofWhole, wholeOfReal(math.Floor, (*apd.Context).Floor)},
	"format":  {2, 3, ofText, formatted},
}

func ofDouble(*gms.Context, []gms.Expression) gms.Type { return types.Float64 }

// ofWhole is a BIGINT where the digits before the point fit into one, else a DECIMAL without any behind it. It is a
// DOUBLE of what is no exact number.
func ofWhole(ctx *gms.Context, args []gms.Expression) gms.Type {
	const most = 18 // digits that every BIGINT has room for
	t := args[0].Type(ctx)
	digits, scale, exact := digitsOf(t)
	_, decimal := t.(gms.DecimalType)
	switch {
	case types.IsUnsigned(t):
		return types.Uint64
	case exact && decimal && digits-scale > most:
		return types.MustCreateDecimalType(uint8(min(digits-scale+1, types.DecimalTypeMaxPrecision)), 0)
	case exact, types.IsInteger(t), types.IsYear(t), types.IsBit(t):
		return types.Int64
	}
	return types.Float64
}

// real1 is a function of one number with a floating point.
func real1(of func(float64) float64) func(*gms.Context, []any) (any, error) {
	return func(ctx *gms.Context, args []any) (any, error) {
		x, err := realOf(ctx, args[0])
		return of(x), err
	}
}

// realOf is a value as a number with a floating point: that which a text begins with.
func realOf(ctx *gms.Context, v any) (float64, error) {
	number, _, err := types.Float64.Convert(ctx, v)
	if gms.ErrTruncatedIncorrect.Is(err) {
		ctx.Warn(erTruncated, "%s", err.Error())
		err = nil
	}
	x, _ := number.(float64)
	return x, err
}

// wholeOfReal makes a whole number of any.
func wholeOfReal(
	of func(float64) float64, exactly func(c *apd.Context, d, x *apd.Decimal) (apd.Condition, error),
) func(*gms.Context, []any) (any, error) {
	return func(ctx *gms.Context, args []any) (any, error) {
		if _, ok := signedOf(args[0]); ok {
			return args[0], nil
		}
		d, ok := args[0].(*apd.Decimal)
		if !ok {
			x, err := realOf(ctx, args[0])
			return of(x), err
		}
		whole := new(apd.Decimal)
		if _, err := exactly(apd.BaseContext.WithPrecision(uint32(d.NumDigits())+1), whole, d); err != nil {
			return nil, err
		}
		if whole.IsZero() {
			whole.Negative = false
		}
		return whole, nil
	}
}

// formatted is a number with so many digits behind the point, and a comma after each three before it. Other languages
// are go-mysql-server's, which knows no numbers beyond 64 bits.
func formatted(ctx *gms.Context, args []any) (any, error) {
	places, err := integers(ctx, args[1:2])
	if err != nil {
		return nil, err
	}
	digits := int(max(0, min(types.DecimalTypeMaxScale, places[0])))
	text := ""
	switch x := args[0].(type) {
	case float64:
		text = strconv.FormatFloat(x, 'f', digits, 64)
	case float32:
		text = strconv.FormatFloat(float64(x), 'f', digits, 32)
	default:
		n, err := numberOf(ctx, args[0])
		if err != nil {
			return nil, err
		}
		rounded := new(apd.Decimal)
		exact := apd.BaseContext.WithPrecision(uint32(n.NumDigits()+int64(max(0, n.Exponent))) + maxScale)
		if _, err := exact.Quantize(rounded, n, -int32(digits)); err != nil {
			return nil, err
		}
		text = rounded.Text('f')
	}
	if len(args) > 2 && !strings.EqualFold(text64(args[2]), "en_US") {
		local, err := function.NewFormat(ctx, expression.NewLiteral(text, types.LongText),
			expression.NewLiteral(int64(digits), types.Int64), expression.NewLiteral(text64(args[2]), types.LongText))
		if err != nil {
			return nil, err
		}
		return local.Eval(ctx, nil)
	}
	sign, whole := "", text
	if strings.HasPrefix(text, "-") {
		sign, whole = "-", text[1:]
	}
	whole, fraction, point := strings.Cut(whole, ".")
	var grouped strings.Builder
	grouped.WriteString(sign)
	for i, digit := range []byte(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			grouped.WriteByte(',')
		}
		grouped.WriteByte(digit)
	}
	if point {
		grouped.WriteString("." + fraction)
	}
	return grouped.String(), nil
}
