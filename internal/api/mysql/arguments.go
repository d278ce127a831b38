package mysql

import (
	"slices"
	"strings"
	"unicode/utf8"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Arguments that MySQL takes whatever they are: a number where a text is asked for, a text or a document where a number
// is. go-mysql-server ends with an error there, or in a panic where a number is too large for it.

// wording makes a text of any value.
type wording struct{}

func (wording) typeOf(gms.Type) gms.Type { return types.LongText }

func (wording) look(ctx *gms.Context, v any) (any, error) { return wordOf(ctx, v) }

// wordOf is a value as MySQL writes it. Bytes stay what they are.
func wordOf(ctx *gms.Context, v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case bool:
		if v {
			return "1", nil
		}
		return "0", nil
	case types.Timespan:
		return v.String(), nil
	case float32:
		return floatText(float64(v), 32), nil
	case float64:
		return floatText(v, 64), nil
	}
	text, _, err := types.LongText.Convert(ctx, v)
	if err != nil {
		return "", err
	}
	return text64(text), nil
}

// wordedOf is an expression that is a text or bytes.
func wordedOf(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	if e, ok := writtenOf(ctx, e); ok {
		return e, true
	}
	switch t := e.Type(ctx); {
	case isChoice(t):
		return &seen[speller]{e, speller{choice: t}}, true
	case types.IsText(t) && !types.IsJSON(t), t == types.Null:
		return e, false
	case types.IsFloat(t):
		return &seen[floating]{e, floating{(teller{Context: ctx}).decimals(e)}}, true
	}
	return &seen[wording]{e, wording{}}, true
}

// countsOf are the places of the arguments that count something, of functions that read no more than the size of it:
// from the first to before the second.
var countsOf = map[string][2]int{
	"elt": {0, 1}, "insert": {1, 3}, "left": {1, 2}, "locate": {2, 3}, "lpad": {1, 2}, "mid": {1, 3}, "repeat": {1, 2},
	"regexp_instr": {2, 5}, "regexp_replace": {3, 5}, "regexp_substr": {2, 4}, "right": {1, 2}, "round": {1, 2},
	"rpad": {1, 2}, "sha2": {1, 2}, "space": {1, 2}, "substr": {1, 3}, "substring": {1, 3}, "substring_index": {2, 3},
	"truncate": {1, 2},
}

// ofBits are the functions whose first argument is bits.
var ofBits = map[string]bool{"export_set": true, "make_set": true}

// reading are the functions that read nothing but texts, but for what counts.
var reading = map[string]bool{
	"aes_decrypt": true, "aes_encrypt": true, "compress": true, "find_in_set": true, "inet6_aton": true,
	"inet_aton": true, "insert": true, "instr": true, "is_uuid": true, "left": true, "locate": true, "lpad": true,
	"ltrim": true, "mid": true, "regexp_like": true, "replace": true, "reverse": true, "right": true, "rpad": true,
	"rtrim": true, "str_to_date": true, "strcmp": true, "substr": true, "substring": true, "substring_index": true,
	"trim": true, "unhex": true,
}

// asCharacters are those of them that know no bytes but characters.
var asCharacters = map[string]bool{"inet_aton": true, "unhex": true}

// readingBytes are those for which a text and bytes are the same, and which know only texts.
var readingBytes = map[string]bool{"crc32": true}

// quoting are those that put a text into quotes of JSON, or take it out of them.
var quoting = map[string]bool{"json_quote": true, "json_unquote": true}

// inDocument tells of an argument of a function of documents whether it is a document, a path or a name, and no value
// to be put into a document.
func inDocument(name string, i int) bool {
	switch name {
	case "json_array", "json_arrayagg", "json_quote", "json_unquote", "json_valid":
		return false
	case "json_object", "json_objectagg":
		return i%2 == 0
	case "json_array_append", "json_array_insert", "json_insert", "json_replace", "json_set":
		return i == 0 || i%2 == 1
	}
	return strings.HasPrefix(name, "json_")
}

// ofReals are the functions of numbers with a floating point.
var ofReals = map[string]bool{
	"acos": true, "asin": true, "atan": true, "atan2": true, "cos": true, "cot": true, "degrees": true,
	"exp": true, "inet_ntoa": true, "ln": true, "log": true, "log10": true, "log2": true, "pow": true,
	"power": true, "radians": true, "sin": true, "sleep": true, "sqrt": true, "tan": true,
}

// takenIn is a function whose arguments are what it can take.
func takenIn(ctx *gms.Context, f gms.FunctionExpression, name string) (gms.Expression, bool, error) {
	counts := countsOf[name]
	all := f.Children()
	return told(ctx, f, func(i int, c gms.Expression) (gms.Expression, bool) {
		t := c.Type(ctx)
		switch json := types.IsJSON(t); {
		case counts[0] <= i && i < counts[1]:
			return countOf(ctx, c)
		case (name == "bin" || name == "oct") && !types.IsNumber(t) && !isBytes(t):
			text, _ := wordedOf(ctx, c)
			return bitsOf(ctx, text)
		case ofBits[name] && i == 0:
			return bitsOf(ctx, c)
		case name == "bit_count" && t != types.Null && !types.IsSigned(t) && !isSeen[bitwise](c) &&
			!(isBytes(t) && isLiteral(c)):
			return &seen[bitwise]{c, bitwise{signed: true}}, true
		case asCharacters[name] && isBytes(t), name == "date_format" && i == 1 && isBytes(t):
			return &seen[characters]{c, characters{}}, true
		case isBytes(t) && inDocument(name, i):
			return &seen[documentText]{c, documentText{}}, true
		case quoting[name] && !isSeen[quotable](c) && t != types.Null:
			return &seen[quotable]{c, quotable{name}}, true
		case name == "field":
			return fieldOf(ctx, all, c)
		case (name == "locate" || name == "instr") && i < 2 && !isSeen[folded](c) && folds(ctx, all):
			text, _ := wordedOf(ctx, c)
			return &seen[folded]{text, folded{}}, true
		case reading[name], name == "date_format" && i == 1, name == "json_search" && i > 0,
			json && (name == "hex" || name == "export_set" || name == "make_set"):
			return wordedOf(ctx, c)
		case readingBytes[name]:
			if isBytes(t) {
				return &seen[wording]{c, wording{}}, true
			}
			return wordedOf(ctx, c)
		case json && (reckoners[name] || name == "conv"),
			ofReals[name] && (isOdd(t) || isBytes(t) && !isLiteral(c)):
			return &seen[real]{c, real{}}, true
		case ofReals[name]:
			return legibleOf(ctx, c)
		case i < daysRead[name] && !types.IsTime(t) && !types.IsTimespan(t) && !isSeen[day](c) && !json &&
			t != types.Null:
			return &seen[day]{c, day{}}, true
		case json && dated[name]:
			return &seen[dateIn]{c, dateIn{}}, true
		case name == "from_days":
			return daysOf(ctx, c)
		case name == "coalesce" || name == "ifnull":
			if !alike(ctx, all) {
				return wordedOf(ctx, c)
			}
			return exactly10(ctx, all, c)
		case makesJSON[name] && types.IsTimespan(t):
			return &seen[timeIn]{c, timeIn{}}, true
		}
		return c, false
	})
}

// exactly10 is one of several exact numbers, of which the result is one: a DECIMAL that all fit into, where one is a
// DECIMAL. go-mysql-server takes the digits of one of them.
func exactly10(ctx *gms.Context, all []gms.Expression, c gms.Expression) (gms.Expression, bool) {
	some := slices.DeleteFunc(slices.Clone(all), func(e gms.Expression) bool { return e.Type(ctx) == types.Null })
	to, ok := extremeType(ctx, some).(gms.DecimalType)
	if t := c.Type(ctx); !ok || t == types.Null || t.Equals(to) {
		return c, false
	}
	return &seen[roundedTo]{&seen[adder]{c, adder{to}}, roundedTo{to}}, true
}

// alike tells whether documents and times are among their like.
func alike(ctx *gms.Context, all []gms.Expression) bool {
	json, span, other := false, false, false
	for _, e := range all {
		switch t := e.Type(ctx); {
		case types.IsJSON(t):
			json = true
		case types.IsTimespan(t):
			span = true
		case t != types.Null:
			other = true
		}
	}
	return !json && !span || !json && !other || !span && !other
}

// ofAll tells whether the types of all expressions are of a kind.
func ofAll(ctx *gms.Context, all []gms.Expression, kind func(gms.Type) bool) bool {
	for _, e := range all {
		if e != nil && !kind(e.Type(ctx)) {
			return false
		}
	}
	return true
}

// dateIn is the text in a document that may be a date; any other is none.
type dateIn struct{}

func (dateIn) typeOf(gms.Type) gms.Type { return types.LongText }

func (dateIn) look(ctx *gms.Context, v any) (any, error) {
	j, ok := v.(gms.JSONWrapper)
	if !ok {
		return v, nil
	}
	inner, err := j.ToInterface(ctx)
	if text, ok := inner.(string); ok || err != nil {
		return text, err
	}
	ctx.Warn(3156, "Invalid JSON value for CAST to DATETIME from column <expr>")
	return nil, nil
}

// timeIn is a time as it stands in a document: with all digits of its second.
type timeIn struct{}

func (timeIn) typeOf(gms.Type) gms.Type { return types.LongText }

func (timeIn) look(_ *gms.Context, v any) (any, error) {
	text := text64(v)
	if t, ok := v.(types.Timespan); ok && t.AsMicroseconds()%1_000_000 == 0 {
		text += ".000000"
	}
	return text, nil
}

// characters makes characters of bytes, whatever they are.
type characters struct{}

func (characters) typeOf(gms.Type) gms.Type { return types.LongText }

func (characters) look(_ *gms.Context, v any) (any, error) {
	return strings.ToValidUTF8(text64(v), "?"), nil
}

// documentText makes a text of bytes that stand in a document, or where one is read.
type documentText struct{}

func (documentText) typeOf(gms.Type) gms.Type { return types.LongText }

func (documentText) look(_ *gms.Context, v any) (any, error) {
	text := text64(v)
	if !utf8.ValidString(text) {
		return nil, sqlError(3144, "22032", "Cannot create a JSON value from a string with CHARACTER SET 'binary'.")
	}
	return text, nil
}

// quotable refuses what is neither a text nor, for JSON_UNQUOTE, a document.
type quotable struct{ name string }

func (q quotable) typeOf(inner gms.Type) gms.Type {
	if types.IsJSON(inner) && q.name == "json_unquote" {
		return inner
	}
	return types.LongText
}

func (q quotable) look(ctx *gms.Context, v any) (any, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return documentText{}.look(ctx, v)
	case gms.JSONWrapper:
		if q.name == "json_unquote" {
			return v, nil
		}
	}
	return nil, sqlError(3064, "HY000", "Incorrect type for argument 1 in function %s.", q.name)
}

// day is the date that a value is; NULL with a warning where it is none.
type day struct{}

func (day) typeOf(gms.Type) gms.Type { return types.DatetimeMaxPrecision }

func (day) look(ctx *gms.Context, v any) (any, error) {
	if m, ok := dayOf(ctx, v); ok {
		return m.day, nil
	}
	return noMoment(ctx, v)
}

// clock is the time that a value is; NULL with a warning where it is none.
type clock struct{}

func (clock) typeOf(gms.Type) gms.Type { return types.Time }

func (clock) look(ctx *gms.Context, v any) (any, error) { return timeOf(ctx, []any{v}) }

// daysRead are the functions of go-mysql-server that read fewer dates than MySQL, and how many of their first arguments
// are dates.
var daysRead = map[string]int{
	"date": 1, "date_format": 1, "datediff": 2, "day": 1, "dayname": 1, "dayofmonth": 1, "dayofweek": 1, "dayofyear": 1,
	"last_day": 1, "month": 1, "monthname": 1, "quarter": 1, "to_days": 1, "weekday": 1, "year": 1,
}

// truth tells whether a document counts as true: all do but the number 0.
type truth struct{}

func (truth) typeOf(gms.Type) gms.Type { return types.Boolean }

func (truth) look(ctx *gms.Context, v any) (any, error) {
	j, ok := v.(gms.JSONWrapper)
	if !ok {
		return v, nil
	}
	inner, err := j.ToInterface(ctx)
	if err != nil {
		return nil, err
	}
	switch inner.(type) {
	case nil, bool, string, map[string]any, []any:
		return true, nil
	}
	n, err := numberOf(ctx, inner)
	return err == nil && !n.IsZero(), err
}
