package mysql

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Texts of times and dates that MySQL reads and go-mysql-server does not.
var (
	daysTime = regexp.MustCompile(`^\s*(-?)(\d{1,2}) +(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(\.\d{0,6})?)?)?\s*$`)
	looseDay = regexp.MustCompile(`^\s*(\d{4}|\d{2})[^\dA-Za-z\s](\d{1,2})[^\dA-Za-z\s](\d{1,2})` +
		`(?:[T\s]+(\d{1,2})[^\dA-Za-z\s](\d{1,2})(?:[^\dA-Za-z\s](\d{1,2})(\.\d{0,6})?)?)?\s*$`)
	tightDay = regexp.MustCompile(`^\s*(\d{4}|\d{2})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})(\.\d{0,6})?)?\s*$`)
)

// canonical writes a text for a column with a date or a time as everybody reads it. ok is false for what is none of
// MySQL's other forms: it is left as it is.
func canonical(t message.ColumnType, text string) (string, bool) {
	if len(text) > longestDate {
		return "", false
	}
	switch t {
	case message.TypeTime:
		m := daysTime.FindStringSubmatch(text)
		if m == nil {
			return "", false
		}
		days, hours := digits(m[2]), digits(m[3])
		return fmt.Sprintf("%s%02d:%02d:%02d%s", m[1], 24*days+hours, digits(m[4]), digits(m[5]), m[6]), true
	case message.TypeDate, message.TypeDateTime, message.TypeTimestamp:
		m := tightDay.FindStringSubmatch(text)
		if m == nil {
			m = looseDay.FindStringSubmatch(text)
		}
		if m == nil {
			return "", false
		}
		day := fmt.Sprintf("%04d-%02d-%02d", year(m[1]), digits(m[2]), digits(m[3]))
		if m[4] == "" {
			return day, true
		}
		return fmt.Sprintf("%s %02d:%02d:%02d%s", day, digits(m[4]), digits(m[5]), digits(m[6]), m[7]), true
	}
	return "", false
}

// digits is a text of digits.
func digits(text string) int {
	n, _ := strconv.Atoi(text) // "" is 0
	return n
}

// year is a year of two digits or four.
func year(text string) int {
	n := digits(text)
	if len(text) == 4 {
		return n
	}
	return century(n)
}

// century is a year that is written with two digits: 70 to 99 are of the last century.
func century(n int) int {
	if n < 70 {
		return 2000 + n
	}
	return 1900 + n
}

// asKept writes a text for a column as go-mysql-server reads it: times and dates, and members of an ENUM or SET.
func asKept(c *message.Column, text string) (string, bool) {
	if !c.Type.IsChoice() {
		return canonical(c.Type, text)
	}
	v, err := c.Convert(message.String(text))
	return v.AsString(), err == nil
}

// fit writes the values of an INSERT as go-mysql-server reads them, after it refused one. false: there is nothing to be
// written otherwise.
func (l *long) fit(ctx context.Context, s *session) (changed bool, err error) {
	insert, values := l.insertOf()
	if values == nil {
		return false, nil
	}
	columns, err := l.columnsFor(ctx, s, insert)
	if err != nil {
		return false, err
	}
	inText := false
	for _, row := range values.Values {
		for i, e := range row {
			v, ok := e.(*sqlparser.SQLVal)
			if !ok || i >= len(columns) || columns[i] == nil {
				continue
			}
			switch {
			case v.Type == sqlparser.StrVal || v.Type == sqlparser.IntVal:
				if text, ok := asKept(columns[i], string(v.Val)); ok {
					v.Type, v.Val, inText = sqlparser.StrVal, []byte(text), true
				}
			case v.Type == sqlparser.ValArg && l.bound != nil && len(v.Val) > 1:
				if b := l.bound.BindVars[string(v.Val[1:])]; b != nil && b.Type != sqltypes.Null {
					if text, ok := asKept(columns[i], string(b.Value)); ok && text != string(b.Value) {
						b.Type, b.Value, changed = sqltypes.VarChar, []byte(text), true
					}
				}
			}
		}
	}
	if inText {
		if text := sqlparser.String(insert); text != l.query {
			l.query, changed = text, true
		}
	}
	return changed, nil
}
