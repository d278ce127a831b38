package mysql

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// What stands here gives go-mysql-server's functions arguments at which they do not end in a panic.

// mended are functions by name, made of arguments that they can bear.
var mended = map[string]func(ctx *gms.Context, args []gms.Expression) []gms.Expression{
	"rand": func(ctx *gms.Context, args []gms.Expression) []gms.Expression {
		if len(args) == 1 { // it takes what is no number, or NULL, for one
			zero := expression.NewLiteral(int64(0), types.Int64)
			args = []gms.Expression{function.NewIfNull(ctx, expression.NewConvert(args[0], expression.ConvertToSigned),
				zero)}
		}
		return args
	},
	"unix_timestamp": func(ctx *gms.Context, args []gms.Expression) []gms.Expression {
		// it evaluates the argument without a connection, to know its type
		if len(args) == 1 && hasVariable(ctx, args[0]) {
			args = []gms.Expression{expression.NewConvert(args[0], expression.ConvertToDatetime)}
		}
		if len(args) == 1 && isBytes(args[0].Type(ctx)) {
			args = []gms.Expression{&seen[wording]{args[0], wording{}}}
		}
		if len(args) == 1 && types.IsInteger(args[0].Type(ctx)) { // 20260102 is a date
			args = []gms.Expression{&seen[precise]{&seen[dayNumber]{args[0], dayNumber{}}, precise{datetimeOf(0)}}}
		}
		return args
	},
	"json_keys": func(ctx *gms.Context, args []gms.Expression) []gms.Expression { return foundOf(ctx, args, 1) },
	"std":       deviations, "stddev": deviations, "stddev_pop": deviations, "stddev_samp": deviations,
	"variance": deviations, "var_pop": deviations, "var_samp": deviations,
}

// deviations are made of doubles: go-mysql-server gives what they come to the type of their argument, and rounds it to
// that of integers.
func deviations(_ *gms.Context, args []gms.Expression) []gms.Expression {
	if len(args) == 1 {
		args = []gms.Expression{expression.NewConvert(args[0], expression.ConvertToDouble)}
	}
	return args
}

// pointless is a DECIMAL without digits behind its point that is an integer to MySQL.
type pointless struct{}

func (pointless) typeOf(inner gms.Type) gms.Type {
	if d, ok := inner.(gms.DecimalType); ok && d.Scale() == 0 {
		return types.Int64
	}
	return inner
}

func (pointless) look(_ *gms.Context, v any) (any, error) {
	if d, ok := v.(*apd.Decimal); ok && d.Exponent >= 0 {
		return d.Int64()
	}
	return v, nil
}

func hasVariable(ctx *gms.Context, e gms.Expression) (found bool) {
	transform.InspectExpr(ctx, e, func(_ *gms.Context, e gms.Expression) bool {
		switch e.(type) {
		case *expression.UserVar, *expression.SystemVar, *call:
			found = true
		}
		return found
	})
	return found
}

// defaulted are the arguments of LAG or LEAD, of which the first and the default are of one kind: go-mysql-server has
// the type of the first for both.
func defaulted(ctx *gms.Context, args []gms.Expression) []gms.Expression {
	if len(args) != 3 {
		return args
	}
	a, b := args[0].Type(ctx), args[2].Type(ctx)
	if a == types.Null || b == types.Null || a.Equals(b) || types.IsNumber(a) && types.IsNumber(b) ||
		types.IsText(a) && types.IsText(b) && !types.IsJSON(a) && !types.IsJSON(b) {
		return args
	}
	value, _ := wordedOf(ctx, args[0])
	usual, _ := wordedOf(ctx, args[2])
	return []gms.Expression{value, args[1], usual}
}

func hasColumn(ctx *gms.Context, e gms.Expression) (found bool) {
	transform.InspectExpr(ctx, e, func(_ *gms.Context, e gms.Expression) bool {
		_, is := e.(*expression.GetField)
		found = found || is
		return found
	})
	return found
}

// sound is what SOUNDEX makes: nothing of a text without letters.
type sound struct{}

func (sound) look(_ *gms.Context, v any) (any, error) {
	if v == "0000" {
		return "", nil
	}
	return v, nil
}

// substringIndex is SUBSTRING_INDEX, which finds nothing where there is nothing to look for: go-mysql-server splits the
// text into its characters.
type substringIndex struct {
	*function.SubstringIndex
	delimiter gms.Expression
}

func (s substringIndex) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	e, err := s.SubstringIndex.WithChildren(ctx, children...)
	if made, ok := e.(*function.SubstringIndex); ok && err == nil {
		return substringIndex{made, children[1]}, nil
	}
	return e, err
}

// Eval is what stands before or behind the delimiters.
func (s substringIndex) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	v, err := s.SubstringIndex.Eval(ctx, row)
	if v == nil || err != nil {
		return v, err
	}
	if delimiter, err := s.delimiter.Eval(ctx, row); err != nil || text64(delimiter) == "" {
		return "", err
	}
	return v, nil
}

// framed is FIRST_VALUE, LAST_VALUE, LAG or LEAD until it has its window. go-mysql-server cannot make them anew where
// the window has neither an order nor partitions.
type framed struct{ gms.WindowAdaptableExpression }

// WithWindow gives the function its window, of one partition at least.
func (f framed) WithWindow(ctx *gms.Context, window *gms.WindowDefinition) gms.WindowAdaptableExpression {
	if window != nil && len(window.OrderBy)+len(window.PartitionBy) == 0 {
		whole := *window
		whole.PartitionBy = []gms.Expression{oneLiteral}
		window = &whole
	}
	return f.WindowAdaptableExpression.WithWindow(ctx, window)
}

// mendedFunctions are those that are framed, and those of mended.
func mendedFunctions() (fs []gms.Function) {
	for _, f := range function.BuiltIns {
		name, made := f.FunctionName(), f.NewInstance
		switch {
		case name == "first_value" || name == "last_value" || name == "lag" || name == "lead":
			made = func(ctx *gms.Context, args []gms.Expression) (gms.Expression, error) {
				if len(args) == 1 {
					if carried, ok := args[0].(*ofFrame); ok {
						return carried, nil
					}
				}
				e, err := f.NewInstance(ctx, defaulted(ctx, args))
				if w, ok := e.(gms.WindowAdaptableExpression); ok && err == nil {
					return framed{w}, nil
				}
				return e, err
			}
		case name == "soundex":
			made = func(ctx *gms.Context, args []gms.Expression) (gms.Expression, error) {
				e, err := f.NewInstance(ctx, typedFor(ctx, name, args))
				if err != nil {
					return nil, err
				}
				return &seen[sound]{e, sound{}}, nil
			}
		case name == "substring_index":
			made = func(ctx *gms.Context, args []gms.Expression) (gms.Expression, error) {
				e, err := f.NewInstance(ctx, typedFor(ctx, name, args))
				if s, ok := e.(*function.SubstringIndex); ok && err == nil {
					return substringIndex{s, s.Children()[1]}, nil
				}
				return e, err
			}
		case name == "date_format":
			made = func(ctx *gms.Context, args []gms.Expression) (gms.Expression, error) {
				e, err := f.NewInstance(ctx, typedFor(ctx, name, args))
				if d, ok := e.(*function.DateFormat); ok && err == nil {
					return dateFormat{d}, nil
				}
				return e, err
			}
		case name == "compress":
			made = func(ctx *gms.Context, args []gms.Expression) (gms.Expression, error) {
				e, err := f.NewInstance(ctx, args)
				if c, ok := e.(*function.Compress); ok && err == nil {
					return packed{c}, nil
				}
				return e, err
			}
		case mended[name] != nil:
			made = func(ctx *gms.Context, args []gms.Expression) (gms.Expression, error) {
				e, err := f.NewInstance(ctx, mended[name](ctx, typedFor(ctx, name, args)))
				if u, ok := e.(*function.UnixTimestamp); ok && err == nil {
					return &seen[pointless]{u, pointless{}}, nil
				}
				return e, err
			}
		default:
			continue
		}
		call := func(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) { return made(ctx, args) }
		fs = append(fs, gms.FunctionN{Name: name, Fn: call})
	}
	return fs
}

// mendedIn is an expression, no function, of which the same is true.
func mendedIn(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
	switch e := e.(type) {
	case *json.JSONExtract:
		return extractedOf(e), transform.NewTree, nil
	case *expression.Like:
		if e.Escape != nil && !isSeen[escape](e.Escape) {
			e = expression.NewLike(e.LeftChild, e.RightChild, &seen[escape]{e.Escape, escape{}}).(*expression.Like)
		}
		return &like{Like: e}, transform.NewTree, nil
	case *expression.Convert:
		if child := e.Child; e.Type(ctx) == types.Uint64 && child.Resolved() && types.IsDecimal(child.Type(ctx)) &&
			!isSeen[complement](child) {
			converted, err := e.WithChildren(ctx, &seen[complement]{child, complement{}})
			return converted, transform.NewTree, err
		}
		if child := e.Child; types.IsInteger(e.Type(ctx)) && child.Resolved() && types.IsFloat(child.Type(ctx)) &&
			!isSeen[evened](child) {
			converted, err := e.WithChildren(ctx, &seen[evened]{child, evened{}})
			return converted, transform.NewTree, err
		}
		if child := e.Child; e.Type(ctx) == types.Int64 && child.Resolved() && !isSeen[signedBits](child) &&
			(child.Type(ctx) == types.Uint64 || types.IsTextOnly(child.Type(ctx))) {
			converted, err := e.WithChildren(ctx, &seen[signedBits]{child, signedBits{}})
			return converted, transform.NewTree, err
		}
		d, ok := e.Type(ctx).(gms.DecimalType)
		if !ok || isSeen[decimalText](e.Child) || isSeen[weigh](e.Child) {
			break
		}
		fit := &seen[decimalText]{e.Child, decimalText{int(d.Precision()), int(d.Scale())}}
		converted, err := e.WithChildren(ctx, fit)
		if w, ok := wholeOf(e); ok && err == nil {
			converted = &seen[integral]{converted, w}
		}
		return converted, transform.NewTree, err
	}
	return e, transform.SameTree, nil
}

// escape is what stands behind ESCAPE: an empty text means that nothing escapes.
type escape struct{}

func (escape) look(_ *gms.Context, v any) (any, error) {
	if text64(v) == "" {
		return "\uffff", nil // no character, so that it stands in no pattern
	}
	return v, nil
}

// decimalText keeps a text that is converted to a DECIMAL within the digits that one has.
type decimalText struct{ digits, scale int }

// decimalNumber finds the number that a text begins with: its sign, its digits before and behind the point, and its
// exponent. It takes a nanosecond or two for a byte, of which there may be millions.
func decimalNumber(text string) (sign, whole, fraction, power string) {
	digits := func() (found string) {
		n := 0
		for n < len(text) && '0' <= text[n] && text[n] <= '9' {
			n++
		}
		found, text = text[:n], text[n:]
		return found
	}
	signed := func() (found string) {
		if text != "" && (text[0] == '-' || text[0] == '+') {
			found, text = text[:1], text[1:]
		}
		return found
	}
	text = strings.TrimLeft(text, " \t\r\n\v\f")
	sign, whole = signed(), digits()
	if strings.HasPrefix(text, ".") {
		text = text[1:]
		fraction = digits()
	}
	if text != "" && text[0]|0x20 == 'e' {
		text = text[1:]
		power = signed()
		power += digits()
	}
	return sign, whole, fraction, power
}

func (d decimalText) look(ctx *gms.Context, v any) (any, error) {
	sign, whole, fraction, exponent := decimalNumber(text64(v))
	significant := strings.TrimLeft(whole+fraction, "0")
	if len(significant) == 0 {
		return v, nil
	}
	power, err := strconv.Atoi("0" + strings.TrimLeft(exponent, "+-"))
	if err != nil || power > math.MaxInt32 {
		power = math.MaxInt32
	}
	if strings.HasPrefix(exponent, "-") {
		power = -power
	}
	before := len(significant) - len(fraction) + power // digits before the point
	switch {
	case before < -maxScale:
		return "0", nil
	case before > d.digits-d.scale:
		ctx.Warn(1264, "Out of range value for column 'DECIMAL' at row 1")
		return sign + strings.Repeat("9", d.digits-d.scale) + "." + strings.Repeat("9", d.scale), nil
	case len(significant) > 2*maxScale: // the library takes a time that grows with the square of the digits
		before = min(before, len(significant))
		significant = strings.Repeat("0", max(0, -before)) + significant[:2*maxScale]
		return sign + significant[:max(0, before)] + "." + significant[max(0, before):], nil
	}
	return v, nil
}

// maxScale is more than the digits that any DECIMAL has behind its point.
const maxScale = 100
