package mysql

import (
	"encoding/binary"
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/hikyaku/hikyaku/internal/message"
)

// What literals are that are held against something else: bits against a number are a number, and a number or a text
// against a date is a date.

// bitsNumber is the number of a literal of bits: x'41', 0x41, b'1000001'.
func bitsNumber(e gms.Expression) (gms.Expression, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return e, false
	}
	bits, ok := l.Value().([]byte)
	if !ok {
		return e, false
	}
	var last [8]byte
	bits = bits[max(0, len(bits)-len(last)):]
	copy(last[len(last)-len(bits):], bits)
	return &named{expression.NewLiteral(binary.BigEndian.Uint64(last[:]), types.Uint64), e.String()}, true
}

// heldIn is a comparison whose literals are of the type of what they are held against.
func heldIn(ctx *gms.Context, e gms.Expression) (gms.Expression, bool, error) {
	has := func(is func(gms.Type) bool) bool {
		return slices.ContainsFunc(leaves(e), func(c gms.Expression) bool {
			return c != nil && is(c.Type(ctx))
		})
	}
	var of func(first bool, c gms.Expression) (gms.Expression, bool)
	switch {
	case has(types.IsJSON):
		of = func(_ bool, c gms.Expression) (gms.Expression, bool) { return besideDocuments(ctx, c, e) }
	case has(types.IsTime):
		of = func(_ bool, c gms.Expression) (gms.Expression, bool) {
			return dateLiteral(ctx, c, message.TypeDateTime)
		}
	case has(types.IsTimespan):
		of = func(_ bool, c gms.Expression) (gms.Expression, bool) { return dateLiteral(ctx, c, message.TypeTime) }
	case has(types.IsNumber):
		of = besideNumbers(ctx, leaves(e))
		if _, row := e.Children()[0].(expression.Tuple); row { // which is held against others in its places
			of = func(_ bool, c gms.Expression) (gms.Expression, bool) { return bitsNumber(c) }
		}
	default:
		return e, false, nil
	}
	return told(ctx, e, func(i int, c gms.Expression) (gms.Expression, bool) {
		list, ok := c.(expression.Tuple)
		if !ok {
			return of(i == 0, c)
		}
		all, changed := slices.Clone(list), false
		for i, c := range all {
			one, is := of(false, c)
			all[i], changed = one, changed || is
		}
		return all, changed
	})
}

// nullIn is a NULLIF whose arguments are held against each other. A text that is read as a number comes back as it is.
func nullIn(ctx *gms.Context, f *function.NullIf) (gms.Expression, bool, error) {
	made, changed, err := heldIn(ctx, f)
	if err != nil || !changed {
		return made, changed, err
	}
	if first := made.Children()[0]; isSeen[legible](first) {
		null := expression.NewLiteral(nil, types.Null)
		return function.NewIf(ctx, expression.NewEquals(first, made.Children()[1]), null, f.LeftChild), true, nil
	}
	return made, true, nil
}

// besideNumbers is for one of the values that are compared, of which the first is held against each other one: a text
// that is held against numbers alone is read as one.
func besideNumbers(ctx *gms.Context, all []gms.Expression) func(bool, gms.Expression) (gms.Expression, bool) {
	number := func(e gms.Expression) bool { return e != nil && types.IsNumber(e.Type(ctx)) }
	others := !slices.ContainsFunc(all[1:], func(e gms.Expression) bool { return !number(e) })
	return func(first bool, c gms.Expression) (gms.Expression, bool) {
		if bits, ok := bitsNumber(c); ok {
			return bits, true
		}
		if first && !others || !first && !number(all[0]) {
			return c, false
		}
		return legibleOf(ctx, c)
	}
}

// besideDocuments is one of the values that are compared: no document is bytes or a time, and those are texts where one
// of the others is a document.
func besideDocuments(ctx *gms.Context, c, among gms.Expression) (gms.Expression, bool) {
	isDocument := func(e gms.Expression) bool { return e != nil && types.IsJSON(e.Type(ctx)) }
	if !slices.ContainsFunc(leaves(among), isDocument) {
		return c, false
	}
	switch t := c.Type(ctx); {
	case types.IsTimespan(t):
		return timeText(ctx, c), true
	case isBytes(t):
		return &seen[wording]{c, wording{}}, true
	}
	return c, false
}

// rowIn is a comparison of rows, which are equal where all of their values are: go-mysql-server refuses those that are
// of several types.
func rowIn(ctx *gms.Context, e expression.Comparer) (gms.Expression, bool, error) {
	left, ok := e.Left().(expression.Tuple)
	right, also := e.Right().(expression.Tuple)
	if !ok || !also || len(left) != len(right) {
		return e, false, nil
	}
	var all gms.Expression
	for i := range left {
		var one gms.Expression = expression.NewEquals(left[i], right[i])
		if _, safe := e.(*expression.NullSafeEquals); safe {
			one = expression.NewNullSafeEquals(left[i], right[i])
		}
		one, _, err := toldIn(ctx, one)
		if err != nil {
			return nil, false, err
		}
		if all == nil {
			all = one
		} else {
			all = expression.NewAnd(all, one)
		}
	}
	return all, all != nil, nil
}

// leaves are what is compared, with the values of lists.
func leaves(e gms.Expression) (all []gms.Expression) {
	for _, c := range e.Children() {
		if list, ok := c.(expression.Tuple); ok {
			all = append(all, list...)
		} else {
			all = append(all, c)
		}
	}
	return all
}

// dateLiteral is the date or time that a literal is, where go-mysql-server would not know it: 20240102, '24-1-2'.
func dateLiteral(ctx *gms.Context, e gms.Expression, t message.ColumnType) (gms.Expression, bool) {
	l, ok := e.(*expression.Literal)
	if !ok || l.Value() == nil {
		return e, false
	}
	number := types.IsNumber(l.Type(ctx))
	text, is := l.Value().(string)
	switch {
	case is:
		if plain, ok := canonical(t, text); ok && plain != text {
			return expression.NewLiteral(plain, l.Type(ctx)), true
		}
	case number && t == message.TypeDateTime:
		if m, ok := dayOf(ctx, l.Value()); ok {
			return expression.NewLiteral(m.day, types.DatetimeMaxPrecision), true
		}
	}
	return e, false
}

// ofDays are the functions of a date, and how many of their first arguments are dates.
var ofDays = map[string]int{
	"date": 1, "date_format": 1, "datediff": 2, "day": 1, "dayname": 1, "dayofmonth": 1, "dayofweek": 1, "dayofyear": 1,
	"last_day": 1, "month": 1, "monthname": 1, "quarter": 1, "to_days": 1, "week": 1, "weekday": 1, "weekofyear": 1,
	"year": 1, "yearweek": 1, "adddate": 1, "subdate": 1, "date_add": 1, "date_sub": 1,
}

// dayNumber is the date that a number is.
type dayNumber struct{}

func (dayNumber) typeOf(gms.Type) gms.Type { return types.DatetimeMaxPrecision }

func (dayNumber) look(ctx *gms.Context, v any) (any, error) {
	if m, ok := dayOf(ctx, v); ok {
		return m.day, nil
	}
	return text64(v), nil
}

// dayIn is an argument of such a function.
func dayIn(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	if t := e.Type(ctx); types.IsInteger(t) || types.IsDecimal(t) {
		if l, ok := e.(*expression.Literal); ok && l.Value() != nil && len(text64(l.Value())) <= len("20260102") {
			if m, ok := dayOf(ctx, l.Value()); ok {
				return expression.NewLiteral(m.day, types.Date), true
			}
		}
		return &seen[dayNumber]{e, dayNumber{}}, true
	}
	return e, false
}

// momentIn is a text or number that is cast to a date or a time.
func momentIn(ctx *gms.Context, to gms.Type, e gms.Expression) (gms.Expression, bool) {
	switch t := e.Type(ctx); {
	case !types.IsText(t) && !types.IsNumber(t), types.IsJSON(t), isSeen[day](e), isSeen[clock](e):
		return e, false
	case types.IsTimespan(to):
		return &seen[clock]{e, clock{}}, true
	}
	return &seen[day]{e, day{}}, true
}
