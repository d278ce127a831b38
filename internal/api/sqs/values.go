package sqs

import (
	"math"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/sqsattr"
)

// valueOf is the value that other doors and conditions see of a checked attribute. exact tells that shown makes the
// same attribute of it again; else the data type and the text of a number have to be kept beside it.
func valueOf(a *wire.Attribute) (v message.Value, exact bool) {
	switch sqsattr.Base(a.DataType) {
	case sqsattr.Binary:
		return message.Bytes(a.Binary), a.DataType == sqsattr.Binary
	case sqsattr.Number:
		v, exact = sqsattr.NumberOf(a.Text)
		return v, exact && a.DataType == sqsattr.Number
	default:
		return message.String(a.Text), a.DataType == sqsattr.String
	}
}

// validNumber tells whether SQS takes a text as a number: up to 38 digits that count, and a size from 10^-128 to
// 10^126.
func validNumber(text string) bool {
	mantissa, exponent := text, "0"
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	if mantissa != "" && (mantissa[0] == '+' || mantissa[0] == '-') {
		mantissa = mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	e, err := strconv.Atoi(exponent)
	if err != nil || len(text) > 256 || whole == "" && fraction == "" ||
		!sqsattr.Digits(whole+fraction) {
		return false
	}
	all := strings.TrimLeft(whole+fraction, "0")
	if all == "" {
		return true
	}
	magnitude := len(all) - len(fraction) + e // 1 has 1, 0.1 has 0
	return len(strings.TrimRight(all, "0")) <= 38 && magnitude >= -127 && magnitude <= 127
}

// shown is a value as SQS shows it; ok is false for null, for which SQS has no form.
func shown(name string, v message.Value) (a wire.Attribute, ok bool) {
	switch v.Kind() {
	case message.KindNull:
		return a, false
	case message.KindBytes:
		return wire.BinaryAttribute(name, sqsattr.Binary, []byte(v.AsString())), true
	case message.KindInt, message.KindUint, message.KindDecimal:
		return wire.TextAttribute(name, sqsattr.Number, v.Text()), true
	case message.KindFloat:
		if f := v.AsFloat(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return wire.TextAttribute(name, sqsattr.Number, v.Text()), true
		}
	case message.KindString:
		if text := v.AsString(); !wire.ValidText(text) {
			return wire.BinaryAttribute(name, sqsattr.Binary, []byte(text)), true
		}
	}
	return wire.TextAttribute(name, sqsattr.String, v.Text()), true
}

// typeLines is what a message keeps of its attributes.
type typeLines sqsattr.Lines

// add keeps an attribute.
func (t *typeLines) add(a *wire.Attribute) { (*sqsattr.Lines)(t).Add(a.Name, a.DataType, a.Text) }

// apply gives an attribute what was kept of it.
func (t typeLines) apply(a *wire.Attribute, v message.Value) {
	dataType, text, ok := sqsattr.Lines(t).Of(a.Name, v)
	switch {
	case !ok:
	case sqsattr.Base(dataType) == sqsattr.Number:
		*a = wire.TextAttribute(a.Name, dataType, text)
	case (a.Binary != nil) == (sqsattr.Base(dataType) == sqsattr.Binary):
		a.DataType = dataType
	}
}
