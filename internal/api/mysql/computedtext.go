package mysql

import (
	"regexp"
	"strings"
	"unicode/utf8"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// longestVarchar is how many letters a text has at most that is no LONGTEXT.
const longestVarchar = 65_535 / 4

// fixedLength are functions whose texts have so many letters at most.
var fixedLength = map[string]int{
	"md5": 32, "sha": 40, "sha1": 40, "sha2": 128, "version": 60, "uuid": 36, "database": 64, "schema": 64,
	"user": 288, "current_user": 288, "session_user": 288, "system_user": 288, "dayname": 9, "monthname": 9,
	"bin": 64, "oct": 64, "conv": 64, "inet_ntoa": 31, "charset": 64, "collation": 64,
}

// ofArgument are functions whose texts are no longer than their first argument, and longest those that are no longer
// than the longest.
var (
	ofArgument = map[string]bool{"upper": true, "ucase": true, "lower": true, "lcase": true, "trim": true,
		"ltrim": true, "rtrim": true, "reverse": true, "substring_index": true, "unhex": true}
	longest = map[string]bool{"coalesce": true, "ifnull": true, "if": true, "nullif": true, "greatest": true,
		"least": true, "elt": true}
)

// chars is how many letters an expression's text has at most, or bytes; -1 where that is too many or nothing tells.
func (t teller) chars(e gms.Expression) int {
	e, t = t.origin(e)
	if e == nil {
		return -1
	}
	n := -1
	of := e.Type(t.Context)
	switch f := e.(type) {
	case *expression.Literal:
		switch v := f.Value().(type) {
		case nil:
			n = 0
		case string:
			n = utf8.RuneCountInString(v)
		case []byte:
			n = len(v)
		default:
			n = t.charsOfType(of)
		}
	case *expression.Convert:
		if n = lengthOf(f); n < 0 || !types.IsText(of) {
			if n = t.charsOfType(of); n < 0 && types.IsText(of) {
				n = t.chars(f.Child)
			}
		}
	case gms.FunctionExpression:
		n = t.charsOfFunction(f, of)
	default:
		if values := ofOne(e); values != nil && types.IsText(of) {
			n = t.most(values)
		} else {
			n = t.charsOfType(of)
		}
	}
	if n > longestVarchar {
		return -1
	}
	return n
}

// most is the most of several.
func (t teller) most(all []gms.Expression) (most int) {
	for _, e := range all {
		n := t.chars(e)
		if n < 0 {
			return n
		}
		most = max(most, n)
	}
	return most
}

// sum is that of all together, and of what stands between them.
func (t teller) sum(all []gms.Expression, between int) int {
	sum := max(0, len(all)-1) * between
	for _, e := range all {
		n := t.chars(e)
		if n < 0 {
			return n
		}
		sum += n
	}
	return sum
}

func (t teller) charsOfFunction(f gms.FunctionExpression, of gms.Type) int {
	name, args := strings.ToLower(f.FunctionName()), f.Children()
	if fixed, ok := fixedLength[name]; ok {
		return fixed
	}
	if !types.IsText(of) {
		return t.charsOfType(of)
	}
	if values := ofOne(f); values != nil {
		return t.most(values)
	}
	switch {
	case name == "concat":
		return t.sum(args, 0)
	case name == "concat_ws" && len(args) > 1:
		between := t.chars(args[0])
		if between < 0 {
			return between
		}
		return t.sum(args[1:], between)
	case name == "hex" && len(args) == 1:
		n := t.chars(args[0])
		if n >= 0 && types.IsTextOnly(args[0].Type(t.Context)) {
			n *= 4 // each letter has as many bytes at most
		}
		return max(-1, 2*n)
	case ofArgument[name] && len(args) > 0:
		return t.chars(args[0])
	case longest[name]:
		return t.most(args)
	case countAt[name] > 0 && len(args) >= countAt[name]:
		return t.counted(name, args)
	case name == "format":
		return 64
	case name == "date_format", name == "time_format":
		return t.sum(args[1:], 0) * 10
	}
	return t.charsOfType(of)
}

// countAt are functions one of whose arguments says how long their text is: its place, from 1.
var countAt = map[string]int{"left": 2, "right": 2, "substring": 3, "substr": 3, "mid": 3, "lpad": 2, "rpad": 2,
	"space": 1, "repeat": 2}

func (t teller) counted(name string, args []gms.Expression) int {
	place := countAt[name] - 1
	if name == "space" {
		place = len(args) - 1 // it is made of REPEAT
	}
	l, ok := innermost(args[place]).(*expression.Literal)
	count := longestVarchar + 1
	if ok {
		count = int(max(0, min(number64(l.Value()), longestVarchar+1)))
	}
	switch name {
	case "repeat":
		n := t.chars(args[0])
		if n < 0 {
			return n
		}
		return min(n*count, longestVarchar+1)
	case "lpad", "rpad", "space":
		return count
	}
	n := t.chars(args[0])
	if n < 0 {
		return count
	}
	return min(n, count)
}

// charsOfType is how many letters a value of a type has at most.
func (t teller) charsOfType(of gms.Type) int {
	switch s := of.(type) {
	case gms.StringType:
		if n := s.MaxCharacterLength(); types.IsText(of) && n <= longestVarchar {
			return int(n)
		}
		return -1
	case gms.DatetimeType:
		w, _ := dateOf(of)
		switch {
		case w.day:
			return len("2006-01-02")
		case w.digits == 0:
			return len("2006-01-02 15:04:05")
		}
		return len("2006-01-02 15:04:05.") + w.digits
	}
	if members := membersOf(of); members != nil {
		most := 0
		for _, m := range members {
			if n := utf8.RuneCountInString(m); types.IsSet(of) {
				most += n + 1
			} else {
				most = max(most, n)
			}
		}
		return most
	}
	switch {
	case types.IsInteger(of), types.IsDecimal(of), types.IsTimespan(of):
		return int(of.MaxTextResponseByteLength(t.Context))
	case types.IsFloat(of):
		return 23
	}
	return -1
}

// castLength is the length that a CAST asks for, in the text of one: it tells it nowhere else.
var castLength = regexp.MustCompile(`, \w+\((\d+)(?:,\d+)?\)\)$`)

// lengthOf is the length that a CAST asks for; -1: none.
func lengthOf(c *expression.Convert) int {
	text := c.String()
	if m := castLength.FindStringSubmatch(text[max(0, len(text)-64):]); m != nil {
		return digits(m[1])
	}
	return -1
}
