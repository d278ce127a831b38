package mysql

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
)

// growing are the functions that can make more bytes than they are given, with a bound on how many they make of their
// arguments. The others of go-mysql-server make at most a few bytes of each byte.
var growing = map[string]func(args []any) int64{
	"repeat":       func(a []any) int64 { return times(valueBytes(a[0]), number64(a[1])) },
	"space":        func(a []any) int64 { return number64(a[0]) },
	"lpad":         padded,
	"rpad":         padded,
	"concat":       total,
	"concat_ws":    func(a []any) int64 { return total(a) + times(valueBytes(a[0]), int64(len(a))) },
	"replace":      replaced,
	"insert":       total,
	"hex":          func(a []any) int64 { return 2 * total(a) },
	"to_base64":    func(a []any) int64 { return 2 * total(a) },
	"quote":        func(a []any) int64 { return 2*total(a) + 2 },
	"export_set":   func(a []any) int64 { return times(64, total(a)) },
	"make_set":     total,
	"date_format":  func(a []any) int64 { return 16 * total(a) },
	"time_format":  func(a []any) int64 { return 16 * total(a) },
	"format":       func(a []any) int64 { return total(a) + number64(a[1]) },
	"round":        decimals,
	"truncate":     decimals,
	"uncompress":   func(a []any) int64 { return uncompressed(a[0]) },
	"random_bytes": func(a []any) int64 { return number64(a[0]) },
	"elt":          total,
	"char":         total,
	"lower":        total,
	"upper":        total,
	"lcase":        total,
	"ucase":        total,
	"reverse":      total,
	"json_array":   total, "json_object": total, "json_array_append": total, "json_array_insert": total,
	"json_insert": total, "json_set": total,
	"json_replace": total, "json_merge": total, "json_merge_patch": total, "json_merge_preserve": total,
	"json_quote":  func(a []any) int64 { return 6 * total(a) },
	"json_pretty": func(a []any) int64 { return times(total(a), 64) },
	"json_search": total, "json_keys": total, "json_extract": total,
}

// growingFunctions are go-mysql-server's own, held to what a statement may make.
func growingFunctions() (fs []gms.Function) {
	for _, f := range function.BuiltIns {
		name := f.FunctionName()
		if size := growing[name]; size != nil {
			fs = append(fs, gms.FunctionN{Name: name,
				Fn: func(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) {
					switch {
					case name == "round" || name == "truncate":
						args = rounding(ctx, name, args)
					case name == "quote" && len(args) == 1: // of NULL it is that word
						word := expression.NewLiteral("NULL", types.LongText)
						inner, err := f.NewInstance(ctx, typedFor(ctx, name, args))
						if err != nil {
							return nil, err
						}
						return &named{function.NewIfNull(ctx, &grown{Expression: inner, name: name, size: size}, word),
							inner.String()}, nil
					}
					inner, err := f.NewInstance(ctx, typedFor(ctx, name, args))
					if err != nil {
						return nil, err
					}
					if workOf(name).eval != nil {
						inner = &clocked{name: name, args: spelt(ctx, args)}
					}
					if name == "space" { // go-mysql-server's own copies what it has for each space that it adds
						return &grown{Expression: function.NewRepeat(ctx, expression.NewLiteral(" ", types.LongText),
							args[0]), name: name, size: growing["repeat"]}, nil
					}
					return &grown{Expression: extractedOf(inner), name: name, size: size}, nil
				}})
		}
	}
	return fs
}

// rounding are the arguments of ROUND, of which go-mysql-server takes no texts but long ones for numbers, or of
// TRUNCATE. To both a number beyond a BIGINT is the largest of them.
func rounding(ctx *gms.Context, name string, args []gms.Expression) []gms.Expression {
	if len(args) > 0 && args[0].Type(ctx) == types.Uint64 {
		exact := &seen[adder]{args[0], adder{types.MustCreateDecimalType(20, 0)}}
		if len(args) > 1 { // none stand behind its point
			if n, ok := args[1].(*expression.Literal); ok && types.IsInteger(n.Type(ctx)) && number64(n.Value()) > 0 {
				return []gms.Expression{exact, expression.NewLiteral(int64(0), types.Int64)}
			}
		}
		return append([]gms.Expression{exact}, args[1:]...)
	}
	if len(args) == 0 || name != "round" || !types.IsTextOnly(args[0].Type(ctx)) {
		return args
	}
	number := expression.NewConvert(args[0], expression.ConvertToDouble)
	return append([]gms.Expression{number}, args[1:]...)
}

// grown is a call of one of them. It evaluates the arguments once, looks what would be made of them, and only then lets
// it be made: what is too large is NULL with a warning, as in MySQL.
type grown struct {
	gms.Expression // go-mysql-server's
	name           string
	size           func([]any) int64
}

var _ gms.CollationCoercible = (*grown)(nil)

// CollationCoercibility is the inner expression's.
func (g *grown) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, g.Expression)
}

// IsNonDeterministic is the inner expression's.
func (g *grown) IsNonDeterministic() bool {
	n, ok := g.Expression.(gms.NonDeterministicExpression)
	return ok && n.IsNonDeterministic()
}

// FunctionName is the inner expression's.
func (g *grown) FunctionName() string { return g.name }

// Description is for go-mysql-server's lists of functions.
func (g *grown) Description() string { return g.name }

func (g *grown) WithChildren(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) {
	inner, err := g.Expression.WithChildren(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &grown{Expression: inner, name: g.name, size: g.size}, nil
}

func (g *grown) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	children := g.Children()
	values := make([]any, len(children))
	literals := make([]gms.Expression, len(children))
	for i, c := range children {
		v, err := c.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if v, err = gms.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
		values[i], literals[i] = v, expression.NewLiteral(v, c.Type(ctx))
	}
	if inner, ok := g.Expression.(*function.Repeat); ok && inner != nil && values[0] != nil && values[1] != nil &&
		number64(values[1]) <= 0 {
		return "", nil // go-mysql-server knows no fewer than none
	}
	limit := int64(settings.MaxPacket)
	s := sessionOf(ctx)
	if s != nil && s.meter != nil {
		limit = s.meter.value
	}
	bytes := g.size(values)
	if bytes > limit {
		ctx.Warn(erTooBigResult, "Result of %s() was larger than max_allowed_packet (%d) - truncated", g.name, limit)
		return nil, nil
	}
	if s != nil && s.meter != nil {
		if err := s.meter.make(bytes); err != nil {
			return nil, err
		}
	}
	inner, err := g.Expression.WithChildren(ctx, literals...)
	if err != nil {
		return nil, err
	}
	return g.made(ctx, inner, row)
}

// made is what go-mysql-server makes of the values. Numbers that are far too large for it end in a panic there.
func (g *grown) made(ctx *gms.Context, inner gms.Expression, row gms.Row) (v any, err error) {
	defer func() {
		switch p := recover(); {
		case p == nil:
		case g.name != "round" && g.name != "truncate" && g.name != "format":
			panic(p)
		default:
			v, err = nil, sqlError(1690, "22003", "value is out of range in '%s()'", g.name)
		}
	}()
	return inner.Eval(ctx, row)
}

// times is a product that does not overflow.
func times(a, b int64) int64 {
	switch {
	case a <= 0 || b <= 0:
		return 0
	case a > maxCount/b:
		return maxCount
	}
	return a * b
}

// maxCount is more than anything that may be made.
const maxCount = int64(1) << 60

func total(args []any) (n int64) {
	for _, a := range args {
		n += valueBytes(a) + 1
	}
	return n
}

// padded is what LPAD and RPAD make: so many characters.
func padded(args []any) int64 {
	n := number64(args[1])
	if len(args) > 2 {
		n = times(n, 4)
	}
	return max(n, 0)
}

// replaced is what REPLACE makes.
func replaced(args []any) int64 {
	n := total(args)
	from, to := valueBytes(args[1]), valueBytes(args[2])
	if from == 0 || to <= from {
		return n
	}
	return n + times(int64(strings.Count(text64(args[0]), text64(args[1]))), to)
}

// decimals is what a number has with so many digits behind the point.
func decimals(args []any) int64 {
	if len(args) < 2 {
		return 64
	}
	n := number64(args[1])
	return max(n, -n)
}

// uncompressed is what compressed bytes say that they become.
func uncompressed(v any) int64 {
	b := text64(v)
	if len(b) < 4 {
		return 0
	}
	return int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16 | int64(b[3]&0x3f)<<24
}

// number64 is a value as a whole number, as far as it matters how large it is.
func number64(v any) int64 {
	switch v := v.(type) {
	case nil:
		return 0
	case int64:
		return v
	case int32:
		return int64(v)
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		return int64(min(v, uint64(maxCount)))
	case bool:
		return 1
	}
	n, text := int64(0), text64(v)
	var f float64
	if _, err := fmt.Sscan(strings.TrimSpace(text[:min(len(text), 64)]), &f); err == nil {
		n = rounded(f)
	} else {
		n = wholeNumber(argument{text: text})
	}
	switch v := v.(type) {
	case string:
		return n
	case []byte: // go-mysql-server reads the bytes themselves as a number, the first one the highest, where they fit
		if len(v) > 8 {
			return n
		}
		var own [8]byte
		copy(own[8-len(v):], v)
		return max(n, int64(min(binary.BigEndian.Uint64(own[:]), uint64(maxCount))))
	}
	// A time is a number of fourteen digits, and a document may be one: what go-mysql-server makes of them counts.
	if made, _, err := types.Float64.Convert(gms.NewEmptyContext(), v); err == nil {
		if f, ok := made.(float64); ok && math.Abs(f) >= math.Abs(float64(n)) {
			return rounded(f)
		}
	}
	return n
}

// rounded is at least a number's own size.
func rounded(f float64) int64 {
	if math.IsNaN(f) {
		return 0
	}
	return int64(max(min(f, float64(maxCount)), -float64(maxCount))) + 1
}

func text64(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// jsonBytes is the most that a document costs in memory, where each value has a header, and as text.
func jsonBytes(j gms.JSONWrapper) int64 {
	v, err := j.ToInterface(context.Background())
	if err != nil {
		return 64
	}
	return plainBytes(v)
}

func plainBytes(v any) int64 {
	switch v := v.(type) {
	case string:
		return quotedBytes(v) + 16
	case []byte:
		return 5*int64(len(v)) + 24 // the text is a list of numbers
	case []any:
		n := int64(24)
		for _, e := range v {
			n += plainBytes(e) + 16
		}
		return n
	case map[string]any:
		n := int64(48)
		for k, e := range v {
			n += quotedBytes(k) + plainBytes(e) + 48
		}
		return n
	}
	return 16
}

// quotedBytes is how long a text is in JSON, without its quotes.
func quotedBytes(s string) int64 {
	n := int64(len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ':
			n += 5
		case c == '"', c == '\\':
			n++
		}
	}
	return n
}

// parsedBytes is about what parsing a text as JSON costs: each value has a header and its share of a list that grows,
// and lists and objects are values of their own.
func parsedBytes(v any) int64 {
	if _, ok := v.(gms.JSONWrapper); ok {
		return 0 // it is parsed
	}
	text := text64(v)
	n := int64(len(text))
	for i := range len(text) {
		switch text[i] {
		case ',', ':':
			n += 64
		case '[', '{':
			n += 128
		}
	}
	return n
}
