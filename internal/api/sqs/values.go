package sqs

import (
	"math"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/message"
)

// The attributes under which a message keeps what SQS knows and other doors have no word for. SQS lets no attribute of
// a user begin so.
const (
	attributeTrace  = "AWS.TraceHeader"
	attributeSender = "AWS.SenderId" // only with users
	attributeTypes  = "AWS.Types"    // see typeLines
)

// hidden tells whether an attribute is one of the above. SQS shows them in other places.
func hidden(name string) bool {
	return strings.HasPrefix(name, "AWS.") &&
		(name == attributeTrace || name == attributeSender || name == attributeTypes)
}

// The data types of SQS. Each may have an ending that says more: Number.float.
const (
	typeString = "String"
	typeNumber = "Number"
	typeBinary = "Binary"
)

// base is a data type without its ending.
func base(dataType string) string {
	kind, _, _ := strings.Cut(dataType, ".")
	return kind
}

// valueOf is the value that other doors and conditions see of a checked attribute. exact tells that shown makes the
// same attribute of it again; else the data type and the text of a number have to be kept beside it.
func valueOf(a *wire.Attribute) (v message.Value, exact bool) {
	switch base(a.DataType) {
	case typeBinary:
		return message.Bytes(a.Binary), a.DataType == typeBinary
	case typeNumber:
		v, exact = numberOf(a.Text)
		return v, exact && a.DataType == typeNumber
	default:
		return message.String(a.Text), a.DataType == typeString
	}
}

// numberOf is the number that a text is. exact tells that the number's own text is the same.
func numberOf(text string) (v message.Value, exact bool) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		v = message.Int(i)
	} else if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		v = message.Uint(u)
	} else if plainDecimal(text) {
		return message.Decimal(text), true
	} else if f, err := strconv.ParseFloat(text, 64); err == nil {
		v = message.Float(f)
	} else {
		return message.String(text), false // beyond what a number here can be; its text is kept
	}
	return v, v.Text() == text
}

// plainDecimal tells whether a text is digits with at most one point between them, perhaps with a minus, and no zero
// too many in front.
func plainDecimal(text string) bool {
	whole, rest, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if whole == "" || len(whole) > 1 && whole[0] == '0' || point && rest == "" {
		return false
	}
	return digits(whole) && digits(rest)
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
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
	if err != nil || len(text) > 256 || whole == "" && fraction == "" || !digits(whole) || !digits(fraction) {
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
		return wire.BinaryAttribute(name, typeBinary, []byte(v.AsString())), true
	case message.KindInt, message.KindUint, message.KindDecimal:
		return wire.TextAttribute(name, typeNumber, v.Text()), true
	case message.KindFloat:
		if f := v.AsFloat(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return wire.TextAttribute(name, typeNumber, v.Text()), true
		}
	case message.KindString:
		if text := v.AsString(); !wire.ValidText(text) {
			return wire.BinaryAttribute(name, typeBinary, []byte(text)), true
		}
	}
	return wire.TextAttribute(name, typeString, v.Text()), true
}

// typeLines is what a message keeps of attributes whose data type or number text their values do not tell: lines
// "name=type" or "name=type=text". Names and types have no "=" and no line ends.
type typeLines string

// add keeps an attribute.
func (t *typeLines) add(a *wire.Attribute) {
	*t += typeLines(a.Name + "=" + a.DataType)
	if base(a.DataType) == typeNumber {
		*t += typeLines("=" + a.Text)
	}
	*t += "\n"
}

// apply gives an attribute what was kept of it, if its value is still the one that it was kept for: a pipeline may have
// changed it since.
func (t typeLines) apply(a *wire.Attribute, v message.Value) {
	for line := range strings.Lines(string(t)) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if name != a.Name {
			continue
		}
		dataType, text, isNumber := strings.Cut(rest, "=")
		kept := wire.Attribute{Name: name, DataType: dataType, Text: a.Text, HasText: a.HasText, Binary: a.Binary}
		if isNumber {
			kept.Text, kept.HasText, kept.Binary = text, true, nil
		}
		if (kept.Binary != nil) != (base(dataType) == typeBinary) {
			return
		}
		if was, _ := valueOf(&kept); was == v {
			*a = kept
		}
		return
	}
}
