package mysql

import (
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// What a date is where a text or a number is asked for. go-mysql-server takes every date for one with a clock, and
// seconds since 1970 for its number, or ends with an error.

// written makes the text of a date, with the digits of a second that its type has.
type written struct {
	day    bool
	digits int
}

func (w written) typeOf(gms.Type) gms.Type { return types.LongText }

func (w written) look(_ *gms.Context, v any) (any, error) {
	t, ok := v.(time.Time)
	switch {
	case !ok:
		return v, nil
	case w.day:
		return t.Format(time.DateOnly), nil
	case w.digits == 0:
		return t.Format(time.DateTime), nil
	}
	return t.Format(time.DateTime + "." + strings.Repeat("0", w.digits)), nil
}

// numeral makes the number of a date or time: 20260102, 20260102030405, 30405.
type numeral struct {
	written
	time, whole bool // whole: without a fraction, rounded
}

func (n numeral) typeOf(gms.Type) gms.Type {
	switch {
	case n.time && !n.whole: // no type of a TIME tells how many digits there are
		return types.Float64
	case n.day || n.whole || n.digits == 0:
		return types.Int64
	}
	return types.MustCreateDecimalType(uint8(14+n.digits), uint8(n.digits))
}

func (n numeral) look(ctx *gms.Context, v any) (any, error) {
	switch text := v.(type) { // of some functions that make dates
	case string, []byte:
		m, ok := dayOf(ctx, text)
		if n.time {
			m, ok = momentOf(ctx, text)
		}
		if !ok {
			return v, nil
		}
		if v = m.day; !m.dated {
			v = m.clock
		}
	}
	switch v := v.(type) {
	case types.Timespan:
		return n.clock(v.AsMicroseconds()), nil
	case time.Time:
		year, month, day := v.Date()
		date := int64(year)*10_000 + int64(month)*100 + int64(day)
		if n.day {
			return date, nil
		}
		if n.whole {
			v = v.Round(time.Second)
			year, month, day = v.Date()
			date = int64(year)*10_000 + int64(month)*100 + int64(day)
		}
		hour, minute, second := v.Clock()
		number := date*1_000_000 + int64(hour)*10_000 + int64(minute)*100 + int64(second)
		if n.whole || n.digits == 0 {
			return number, nil
		}
		d, _, err := apd.NewFromString(v.Format("20060102150405." + strings.Repeat("0", n.digits)))
		return d, err
	}
	return v, nil
}

func (n numeral) clock(micros int64) any {
	sign := int64(1)
	if micros < 0 {
		sign, micros = -1, -micros
	}
	if n.whole {
		micros = (micros + 500_000) / 1_000_000 * 1_000_000
	}
	seconds := micros / 1_000_000
	number := sign * (seconds/3600*10_000 + seconds/60%60*100 + seconds%60)
	if n.whole {
		return number
	}
	return float64(number) + float64(sign*(micros%1_000_000))/1e6
}

// dateOf is how a date is written; false for what is none.
func dateOf(t gms.Type) (written, bool) {
	d, ok := t.(gms.DatetimeType)
	switch {
	case !ok:
		return written{}, false
	case types.IsDateType(t):
		return written{day: true}, true
	}
	return written{digits: d.Precision()}, true
}

// writtenOf is an expression whose dates are texts.
func writtenOf(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	if e == nil {
		return nil, false
	}
	if w, ok := dateOf(e.Type(ctx)); ok {
		return &seen[written]{e, w}, true
	}
	if types.IsTimespan(e.Type(ctx)) {
		return timeText(ctx, e), true
	}
	return e, false
}

// numeralOf is an expression whose dates and times are numbers.
func numeralOf(ctx *gms.Context, e gms.Expression, whole bool) (gms.Expression, bool) {
	if number, ok := bitsNumber(e); ok {
		return number, true
	}
	switch t := e.Type(ctx); {
	case isBytes(t): // of a column: go-mysql-server would take the bytes themselves for a number
		return &seen[wording]{e, wording{}}, true
	case types.IsTimespan(t):
		return &seen[numeral]{e, numeral{time: true, whole: whole}}, true
	default:
		w, ok := dateOf(t)
		if f, is := e.(gms.FunctionExpression); is && !ok { // whose type is that of a text
			ok = f.FunctionName() == "curdate" || f.FunctionName() == "current_date"
			w.day = true
		}
		if !ok {
			return e, false
		}
		return &seen[numeral]{e, numeral{written: w, whole: whole}}, true
	}
}

// writers are the functions that read texts, in whatever argument a date stands.
var writers = map[string]bool{
	"ascii": true, "bit_length": true, "char_length": true, "character_length": true, "concat": true,
	"concat_ws": true, "crc32": true, "elt": true, "export_set": true, "field": true, "find_in_set": true,
	"group_concat": true, "hex": true, "insert": true, "instr": true, "lcase": true, "left": true, "length": true,
	"locate": true, "lower": true, "lpad": true, "ltrim": true, "make_set": true, "md5": true, "mid": true,
	"octet_length": true, "ord": true, "position": true, "quote": true, "regexp_instr": true, "regexp_like": true,
	"regexp_replace": true, "regexp_substr": true, "repeat": true, "replace": true, "reverse": true, "right": true,
	"rpad": true, "rtrim": true, "sha": true, "sha1": true, "sha2": true, "soundex": true, "strcmp": true,
	"substr": true, "substring": true, "substring_index": true, "to_base64": true, "trim": true, "ucase": true,
	"upper": true,
}

// reckoners are those that read numbers.
var reckoners = map[string]bool{"abs": true, "ceil": true, "ceiling": true, "floor": true, "mod": true, "round": true,
	"sign": true, "truncate": true}

// telling is how an argument is told of its dates and numbers.
type telling struct{ *gms.Context }

func (t telling) text(_ int, c gms.Expression) (gms.Expression, bool) { return writtenOf(t.Context, c) }

func (t telling) number(_ int, c gms.Expression) (gms.Expression, bool) {
	if c, ok := numeralOf(t.Context, c, false); ok {
		return c, true
	}
	return legibleOf(t.Context, c)
}

// real is a number with a floating point where it is a text.
func (t telling) real(i int, c gms.Expression) (gms.Expression, bool) {
	if types.IsTextOnly(c.Type(t.Context)) && !isChoice(c.Type(t.Context)) {
		return &seen[real]{c, real{}}, true
	}
	return t.number(i, c)
}

func (t telling) whole(_ int, c gms.Expression) (gms.Expression, bool) {
	return numeralOf(t.Context, c, true)
}

func (t telling) truth(_ int, c gms.Expression) (gms.Expression, bool) {
	switch typ := c.Type(t.Context); {
	case types.IsJSON(typ):
		return &seen[truth]{c, truth{}}, true
	case types.IsTimespan(typ):
		return numeralOf(t.Context, c, false)
	case types.IsTextOnly(typ):
		return legibleOf(t.Context, c)
	case isBytes(typ):
		if number, ok := bitsNumber(c); ok {
			return number, true
		}
		return legibleOf(t.Context, &seen[wording]{c, wording{}})
	}
	return bitsNumber(c)
}

// float is a text, also of a number with a floating point.
func (t telling) float(i int, c gms.Expression) (gms.Expression, bool) {
	if c, ok := t.text(i, c); ok || !types.IsFloat(c.Type(t.Context)) {
		return c, ok
	}
	return &seen[floating]{c, floating{(teller{Context: t.Context}).decimals(c)}}, true
}

// toldIn is an expression whose dates are the texts or numbers that it asks for.
func toldIn(ctx *gms.Context, e gms.Expression) (gms.Expression, bool, error) {
	if e == nil || !e.Resolved() {
		return e, false, nil
	}
	t := telling{ctx}
	switch f := e.(type) {
	case *expression.Convert:
		switch of := f.Type(ctx); {
		case types.IsTime(of) || types.IsTimespan(of):
			return told(ctx, e, func(_ int, c gms.Expression) (gms.Expression, bool) { return momentIn(ctx, of, c) })
		case of == types.LongText || of == types.LongBlob:
			return told(ctx, e, t.float)
		case of == types.Int64 || of == types.Uint64:
			return told(ctx, e, t.whole)
		case types.IsNumber(of) && !types.IsYear(of):
			return told(ctx, e, t.number)
		}
	case *expression.Arithmetic, *expression.Mod, *expression.IntDiv, *expression.Div:
		return told(ctx, e, t.number)
	case *expression.UnaryMinus:
		return told(ctx, e, t.real)
	case *expression.CollatedExpression, *expression.ConvertUsing:
		return told(ctx, e, func(_ int, c gms.Expression) (gms.Expression, bool) {
			if c.Type(ctx) == types.Null {
				return &seen[wording]{c, wording{}}, true
			}
			return wordedOf(ctx, c)
		})
	case *aggregation.CountDistinct:
		return told(ctx, e, func(_ int, c gms.Expression) (gms.Expression, bool) {
			return &seen[hexed]{c, hexed{}}, isBytes(c.Type(ctx))
		})
	case *expression.BitOp:
		return bitsIn(ctx, f)
	case *expression.Like:
		if f.Escape != nil && hasColumn(ctx, f.Escape) {
			return nil, false, sqlError(erWrongArguments, "HY000", "Incorrect arguments to ESCAPE")
		}
		return told(ctx, e, t.text)
	case *expression.And, *expression.Or, *expression.Xor, *expression.Not, *expression.IsTrue:
		return told(ctx, e, t.truth)
	case *expression.Equals, *expression.NullSafeEquals:
		if row, ok, err := rowIn(ctx, f.(expression.Comparer)); ok || err != nil {
			return row, true, err
		}
		return heldIn(ctx, e)
	case expression.Comparer, *expression.Between, *expression.InTuple, *expression.HashInTuple:
		return heldIn(ctx, e)
	case *function.NullIf:
		return nullIn(ctx, f)
	case *expression.Case:
		return toldCase(ctx, f)
	case *function.If:
		texts := types.IsText(f.Type(ctx))
		return told(ctx, e, func(i int, c gms.Expression) (gms.Expression, bool) {
			switch {
			case i == 0:
				return t.truth(i, c)
			case texts:
				return t.float(i, c)
			}
			return c, false
		})
	case *function.Extract:
		return extractOf(f), true, nil
	case gms.FunctionExpression:
		return t.function(f)
	}
	return e, false, nil
}

// function is toldIn of a function.
func (t telling) function(f gms.FunctionExpression) (gms.Expression, bool, error) {
	ctx, name := t.Context, strings.ToLower(f.FunctionName())
	made, changed, err := takenIn(ctx, f, name)
	if err != nil {
		return nil, false, err
	}
	if changed {
		own, ok := made.(gms.FunctionExpression)
		if !ok {
			return made, true, nil
		}
		more, _, err := telling{ctx}.ready(own, name)
		return more, true, err
	}
	return t.ready(f, name)
}

// ready is function of one that takes all of its arguments but for dates and times.
func (t telling) ready(f gms.FunctionExpression, name string) (gms.Expression, bool, error) {
	ctx := t.Context
	days := ofDays[name]
	switch {
	case name == "ifnull" || name == "coalesce":
		if types.IsText(f.Type(ctx)) {
			return told(ctx, f, t.float)
		}
	case name == "greatest" || name == "least":
		if slices.ContainsFunc(f.Children(), func(c gms.Expression) bool { return types.IsText(c.Type(ctx)) }) {
			return told(ctx, f, t.text)
		}
	case floats[name]:
		return told(ctx, f, t.float)
	case makesJSON[name]:
		return told(ctx, f, func(i int, c gms.Expression) (gms.Expression, bool) {
			if types.IsDateType(c.Type(ctx)) {
				return t.text(i, c)
			}
			return c, false
		})
	case writers[name]:
		return told(ctx, f, func(i int, c gms.Expression) (gms.Expression, bool) {
			if counts := countsOf[name]; i >= counts[0] && i < counts[1] {
				return c, false
			}
			return t.text(i, c)
		})
	case name == "sign":
		return told(ctx, f, t.real)
	case reckoners[name]:
		return told(ctx, f, t.number)
	case days > 0:
		return told(ctx, f, func(i int, c gms.Expression) (gms.Expression, bool) {
			if i >= days {
				return c, false
			}
			return dayIn(ctx, c)
		})
	}
	return f, false, nil
}

// floats are the writers that write numbers with a floating point as MySQL does, and makesJSON those of documents.
var (
	floats = map[string]bool{"concat": true, "concat_ws": true, "group_concat": true, "length": true,
		"char_length": true, "lower": true, "upper": true, "reverse": true}
	makesJSON = map[string]bool{"json_object": true, "json_array": true, "json_arrayagg": true, "json_objectagg": true,
		"json_array_append": true, "json_array_insert": true, "json_insert": true, "json_replace": true,
		"json_set": true}
)

// told is an expression with its arguments as of says.
func told(
	ctx *gms.Context, e gms.Expression, of func(int, gms.Expression) (gms.Expression, bool),
) (gms.Expression, bool, error) {
	var children []gms.Expression
	for i, c := range e.Children() {
		if c == nil {
			continue
		}
		if n, changed := of(i, c); changed {
			if children == nil {
				children = append(children, e.Children()...)
			}
			children[i] = n
		}
	}
	if children == nil {
		return e, false, nil
	}
	made, err := e.WithChildren(ctx, children...)
	return made, true, err
}

// caseBeside is for what a CASE compares: its expression, which is the first, and the conditions.
func caseBeside(ctx *gms.Context, c *expression.Case) func(first bool, e gms.Expression) (gms.Expression, bool) {
	compared := []gms.Expression{c.Expr}
	for _, b := range c.Branches {
		compared = append(compared, b.Cond)
	}
	numbers := besideNumbers(ctx, compared)
	return func(first bool, e gms.Expression) (gms.Expression, bool) {
		if e, ok := besideDocuments(ctx, e, c); ok {
			return e, true
		}
		return numbers(first, e)
	}
}

// toldCase is a CASE whose conditions are true or not, and whose values are texts, if one is.
func toldCase(ctx *gms.Context, c *expression.Case) (gms.Expression, bool, error) {
	whole, changed := *c, false
	whole.Branches = append([]expression.CaseBranch(nil), c.Branches...)
	beside := caseBeside(ctx, c)
	if c.Expr != nil {
		whole.Expr, changed = beside(true, c.Expr)
	}
	for i, b := range whole.Branches {
		cond, is := beside(false, b.Cond)
		if c.Expr == nil {
			cond, is = telling{ctx}.truth(i, b.Cond)
		}
		whole.Branches[i].Cond, changed = cond, changed || is
	}
	if !types.IsText(c.Type(ctx)) {
		return &whole, changed, nil
	}
	for i, b := range whole.Branches {
		value, is := writtenOf(ctx, b.Value)
		whole.Branches[i].Value, changed = value, changed || is
	}
	if c.Else != nil {
		value, is := writtenOf(ctx, c.Else)
		whole.Else, changed = value, changed || is
	}
	return &whole, changed, nil
}
