// Package sqsattr is what a message that came through SQS keeps in attributes, because SQS knows it and nobody else has
// a word for it: the door of SQS writes it, and who shows messages as SQS does reads it.
package sqsattr

import (
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// The names of these attributes. SQS lets no attribute of a user begin so.
const (
	Trace  = "AWS.TraceHeader"
	Sender = "AWS.SenderId" // only with users
	Types  = "AWS.Types"    // see Lines
)

// Hidden tells whether an attribute is one of the above. SQS shows them in other places.
func Hidden(name string) bool {
	return strings.HasPrefix(name, "AWS.") && (name == Trace || name == Sender || name == Types)
}

// The data types of SQS. Each may have an ending that says more: Number.float.
const (
	String = "String"
	Number = "Number"
	Binary = "Binary"
)

// Base is a data type without its ending.
func Base(dataType string) string {
	kind, _, _ := strings.Cut(dataType, ".")
	return kind
}

// NumberOf is the number that a text is. exact tells that the number's own text is the same.
func NumberOf(text string) (v message.Value, exact bool) {
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
	return Digits(whole) && Digits(rest)
}

// Digits tells whether a text is nothing but digits.
func Digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// Lines is what a message keeps of attributes whose data type or number text their values do not tell: lines
// "name=type" or "name=type=text". Names and types have no "=" and no line ends.
type Lines string

// Add keeps an attribute. The text is a number's.
func (l *Lines) Add(name, dataType, text string) {
	*l += Lines(name + "=" + dataType)
	if Base(dataType) == Number {
		*l += Lines("=" + text)
	}
	*l += "\n"
}

// Of is what was kept of an attribute, if its value is still the one that it was kept for: a pipeline may have changed
// it since. The text is a number's.
func (l Lines) Of(name string, v message.Value) (dataType, text string, ok bool) {
	for line := range strings.Lines(string(l)) {
		n, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if n != name {
			continue
		}
		dataType, text, isNumber := strings.Cut(rest, "=")
		switch {
		case isNumber:
			was, _ := NumberOf(text)
			ok = Base(dataType) == Number && was == v
		case Base(dataType) == Binary:
			ok = v.Kind() == message.KindBytes
		default:
			ok = v.Kind() == message.KindString
		}
		return dataType, text, ok
	}
	return "", "", false
}
