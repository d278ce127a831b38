package mysql

import (
	"regexp"
	"slices"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/hikyaku/hikyaku/internal/message"
)

// choiceType is go-mysql-server's type of an ENUM or SET, whose values are numbers to it: of an ENUM the member's place
// from 1, of a SET a bit for each member. Queues keep texts.
func choiceType(c message.Column) (gms.Type, error) {
	collation, err := gms.ParseCollation(c.Charset, c.Collation, false)
	if err != nil {
		return nil, err
	}
	members := append([]string(nil), c.Members...) // it changes what it is given
	if c.Type == message.TypeEnum {
		return types.CreateEnumType(members, collation)
	}
	return types.CreateSetType(members, collation)
}

// membersOf are the members of an ENUM or SET, nil of another type.
func membersOf(t gms.Type) []string {
	switch t := t.(type) {
	case gms.EnumType:
		return t.Values()
	case gms.SetType:
		return t.Values()
	}
	return nil
}

// byNumber are the functions for which an ENUM or SET is its number, or what it is. For all others it is its text:
// go-mysql-server would give many of them the number.
var byNumber = map[string]bool{
	"abs": true, "ceil": true, "ceiling": true, "floor": true, "round": true, "truncate": true, "sign": true,
	"sqrt": true,
	"pow":  true, "power": true, "mod": true, "exp": true, "ln": true, "log": true, "log2": true, "log10": true,
	"std": true, "stddev": true, "stddev_pop": true, "stddev_samp": true, "variance": true, "var_pop": true,
	"var_samp": true,
	"bin":      true, "oct": true, "bit_count": true, "format": true, "elt": true, "make_set": true,
	"bit_and": true, "bit_or": true, "bit_xor": true, "count": true, "any_value": true, "first": true, "last": true,
	"first_value": true, "last_value": true, "lag": true, "lead": true,
}

// ofTexts are functions of texts to which go-mysql-server does not know how to give a TIME.
var ofTexts = map[string]bool{
	"concat": true, "concat_ws": true, "upper": true, "ucase": true, "lower": true, "lcase": true, "reverse": true,
	"repeat": true,
	"lpad":   true, "rpad": true, "replace": true, "insert": true, "quote": true, "length": true, "char_length": true,
	"substring": true, "substr": true, "mid": true, "left": true, "right": true,
}

// typedFunctions are go-mysql-server's own, made so that they take an ENUM or SET for its text, and that sums are
// exact.
func typedFunctions() (fs []gms.Function) {
	for _, f := range function.BuiltIns {
		if name := f.FunctionName(); growing[name] == nil && !byNumber[name] {
			fs = append(fs, gms.FunctionN{Name: name,
				Fn: func(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) {
					args = typedFor(ctx, name, args)
					if name == "greatest" || name == "least" {
						return compared(ctx, f, args)
					}
					return f.NewInstance(ctx, args)
				}})
		}
	}
	return fs
}

// typedFor are the arguments of a function as MySQL takes them.
func typedFor(ctx *gms.Context, name string, args []gms.Expression) []gms.Expression {
	switch {
	case name == "sum" || name == "avg":
		return exactly(ctx, name, args)
	case name == "json_arrayagg" && len(args) == 1 && types.IsTimespan(args[0].Type(ctx)):
		return []gms.Expression{&seen[timeIn]{args[0], timeIn{}}}
	case (name == "adddate" || name == "subdate") && len(args) == 2 && isOdd(args[1].Type(ctx)):
		return []gms.Expression{args[0], &seen[real]{args[1], real{}}}
	case byNumber[name]:
		return args
	case ofTexts[name]:
		args = slices.Clone(args)
		for i, e := range args {
			counts := countsOf[name]
			if e != nil && types.IsTimespan(e.Type(ctx)) && (i < counts[0] || i >= counts[1]) {
				args[i] = timeText(ctx, e)
			}
		}
	}
	return spelt(ctx, args)
}

// spelt are expressions of which each ENUM or SET is a text.
func spelt(ctx *gms.Context, all []gms.Expression) []gms.Expression {
	changed := false
	for i, e := range all {
		if e == nil || !isChoice(e.Type(ctx)) {
			continue
		}
		if !changed {
			all, changed = slices.Clone(all), true
		}
		all[i] = &seen[speller]{e, speller{choice: e.Type(ctx)}}
	}
	return all
}

// timeText is a TIME as a text.
func timeText(ctx *gms.Context, e gms.Expression) gms.Expression {
	digits := 6
	if s := sessionOf(ctx); s != nil {
		clock := clockDigits{door: s.door}
		digits = (teller{Context: ctx, clock: &clock}).digitsOfTime(e)
		s.stick(clock.err)
	}
	return &seen[speller]{e, speller{e.Type(ctx), digits}}
}

// speller makes a text of the number that an ENUM, SET or TIME is to go-mysql-server.
type speller struct {
	choice gms.Type
	digits int // of a TIME's second
}

func (speller) typeOf(gms.Type) gms.Type { return types.LongText }

func (s speller) look(_ *gms.Context, v any) (any, error) {
	switch t := s.choice.(type) {
	case gms.EnumType:
		if n, ok := v.(uint16); ok {
			text, _ := t.At(int(n))
			return text, nil
		}
	case gms.SetType:
		if n, ok := v.(uint64); ok {
			return t.BitsToString(n)
		}
	case gms.Type:
		if span, ok := v.(types.Timespan); ok {
			return string(fraction([]byte(span.String()), s.digits)), nil
		}
	}
	return v, nil
}

// orderedIn is a comparison by order whose ENUM or SET is a text where it is held against one.
func orderedIn(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
	switch e.(type) {
	case *expression.LessThan, *expression.LessThanOrEqual, *expression.GreaterThan, *expression.GreaterThanOrEqual,
		*expression.Between:
	default:
		return e, transform.SameTree, nil
	}
	has := func(is func(gms.Type) bool) bool {
		return slices.ContainsFunc(e.Children(), func(c gms.Expression) bool { return c != nil && is(c.Type(ctx)) })
	}
	if !has(isChoice) || !has(types.IsText) {
		return e, transform.SameTree, nil
	}
	texts, err := e.WithChildren(ctx, spelt(ctx, e.Children())...)
	return texts, transform.NewTree, err
}

func isChoice(t gms.Type) bool {
	return t != nil && (t.Type() == sqltypes.Enum || t.Type() == sqltypes.Set)
}

// choiceColumn is an ENUM or SET in what SHOW CREATE TABLE prints.
var choiceColumn = regexp.MustCompile("(?m)^  `((?:[^`]|``)+)` (?:enum|set)" +
	`\('(?:[^']|'')*'(?:,'(?:[^']|'')*')*\)([^\n]*?)(?: DEFAULT '\d+')?(,?)$`)

// choiceLine is the line of a column as MySQL prints it: its members with their escapes, its default as a text.
func choiceLine(columns message.Columns, line []byte) []byte {
	m := choiceColumn.FindSubmatch(line)
	n, ok := columns.Lookup(strings.ReplaceAll(string(m[1]), "``", "`"))
	if !ok || !columns[n].Type.IsChoice() {
		return line
	}
	text := "  `" + string(m[1]) + "` " + columns[n].SQLType() + string(m[2])
	if d := columns[n].Default; d != nil {
		text += " DEFAULT " + d.SQL()
	}
	return append([]byte(text), m[3]...)
}
