package mysql

import (
	"math"
	"strconv"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// legible is a text, which is read as a number, as go-mysql-server reads it right. Of itself it takes for none what has
// an e behind its digits and no digit behind that, such as the hash 64eb18, takes 0x10 for 16, and ends in an error, or
// in a panic, with what is larger than any number.
type legible struct{}

func (legible) look(ctx *gms.Context, v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		return v, nil
	}
	number := legibleText(text)
	if number != text {
		ctx.Warn(1292, "Truncated incorrect DOUBLE value: '%s'", head(text, maxShown))
	}
	return number, nil
}

// unread are the bytes of which one is in each text that go-mysql-server reads wrong.
const unread = "eEnNxXbBoO_"

// legibleText is the number that a text begins with, where go-mysql-server finds another one, else the text itself.
func legibleText(text string) string {
	if !strings.ContainsAny(text, unread) {
		return text
	}
	sign, whole, fraction, power := decimalNumber(text)
	if whole+fraction == "" {
		return "0"
	}
	number := sign + whole
	if fraction != "" {
		number += "." + fraction
	}
	if strings.Trim(power, "+-") != "" {
		number += "e" + power
	}
	if f, err := strconv.ParseFloat(number, 64); err != nil && math.IsInf(f, 0) {
		return strconv.FormatFloat(math.Copysign(math.MaxFloat64, f), 'g', -1, 64)
	}
	if strings.TrimSpace(text) == number {
		return text
	}
	return number
}

// legibleOf is an expression that go-mysql-server reads right where it takes it for a number.
func legibleOf(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	if t := e.Type(ctx); !types.IsTextOnly(t) || isChoice(t) || isSeen[legible](e) {
		return e, false
	}
	if l, ok := e.(*expression.Literal); ok {
		if text, ok := l.Value().(string); ok && legibleText(text) == text {
			return e, false
		}
	}
	return &seen[legible]{e, legible{}}, true
}
