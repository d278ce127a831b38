package codec

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// typeNames are what Config.Types takes, for errors. timestamp may be followed by a layout in parentheses.
var typeNames = []string{"int", "float", "decimal", "bool", "string", "timestamp"}

// fieldType says how a field's text is read.
type fieldType struct {
	name   string // one of typeNames; "" is string
	layout string // of timestamp: a layout of package time; "" takes what message.ParseTime takes
	unit   int64  // of timestamp: nanoseconds in one, when it counts since 1970
}

// mismatch says why a text is not of a type.
type mismatch struct {
	message, hint string
}

// units are the layouts that count since 1970.
var units = map[string]int64{"unix": 1e9, "unix_ms": 1e6, "unix_us": 1e3, "unix_ns": 1}

const layoutHint = `write the layout as the time Mon Jan 2 15:04:05 2006 would look, as in timestamp(2006-01-02 15:04:05), or unix, unix_ms, unix_us, unix_ns`

func parseType(text string) (fieldType, error) {
	name, rest, hasLayout := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	if !hasLayout {
		for _, n := range typeNames {
			if n == name {
				return fieldType{name: n}, nil
			}
		}
		return fieldType{}, fmt.Errorf("unknown type %s: there are %s", quote(text), strings.Join(typeNames, ", "))
	}
	layout, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	switch {
	case name != "timestamp":
		return fieldType{}, fmt.Errorf("only timestamp takes a layout, not %s", quote(name))
	case !closed:
		return fieldType{}, errors.New(`the ")" after the layout is missing`)
	case units[layout] != 0:
		return fieldType{name: name, unit: units[layout]}, nil
	case strings.Contains(layout, "%") ||
		time.Unix(0, 0).Format(layout) == time.Unix(987654321, 123456789).Format(layout):
		return fieldType{}, fmt.Errorf("%s is no layout of a time: %s", quote(layout), layoutHint)
	}
	return fieldType{name: name, layout: layout}, nil
}

// convert reads a field's text, appends its JSON to dst and returns its value. Types other than string do not see the
// spaces around the text, and take an empty one as null.
func (t fieldType) convert(dst []byte, text string) ([]byte, message.Value, *mismatch) {
	if t.name == "" || t.name == "string" {
		return jsontext.AppendQuoted(dst, text), message.String(text), nil
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return append(dst, "null"...), message.Null(), nil
	}
	switch t.name {
	case "int":
		return convertInt(dst, text)
	case "float", "decimal":
		return t.convertNumber(dst, text)
	case "bool":
		return convertBool(dst, text)
	default:
		return t.convertTime(dst, text)
	}
}

const textHint = "mend what writes it, or give the field the type string"

func tooLong(text string) *mismatch {
	if len(text) <= MaxDigits {
		return nil
	}
	return &mismatch{fmt.Sprintf("a number of %d characters: at most %d are read", len(text), MaxDigits),
		"leave it a string"}
}

func convertInt(dst []byte, text string) ([]byte, message.Value, *mismatch) {
	if m := tooLong(text); m != nil {
		return dst, message.Value{}, m
	}
	digits, ok := integerText(text)
	if !ok {
		m := &mismatch{message: quote(text) + " is no integer"}
		if _, _, isNumber := numberText(text); isNumber {
			m.hint = "give it the type float or decimal"
		} else {
			m.hint = textHint
		}
		return dst, message.Value{}, m
	}
	return append(dst, digits...), integer(digits), nil
}

func (t fieldType) convertNumber(dst []byte, text string) ([]byte, message.Value, *mismatch) {
	if m := tooLong(text); m != nil {
		return dst, message.Value{}, m
	}
	number, plain, ok := numberText(text)
	switch {
	case !ok:
		return dst, message.Value{}, &mismatch{quote(text) + " is no number", textHint}
	case t.name == "decimal" && !plain:
		return dst, message.Value{}, &mismatch{quote(text) + " is no plain decimal number", "give it the type float"}
	case t.name == "decimal":
		return append(dst, number...), message.Decimal(number), nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return dst, message.Value{}, &mismatch{quote(text) + " is out of a float's range", "leave it a string"}
	}
	return append(dst, number...), message.Float(f), nil
}

func convertBool(dst []byte, text string) ([]byte, message.Value, *mismatch) {
	switch strings.ToLower(text) {
	case "true", "t", "yes", "y", "on", "1":
		return append(dst, "true"...), message.Bool(true), nil
	case "false", "f", "no", "n", "off", "0":
		return append(dst, "false"...), message.Bool(false), nil
	}
	return dst, message.Value{},
		&mismatch{quote(text) + " is no bool", "true, t, yes, y, on, 1 and false, f, no, n, off, 0 are"}
}

func (t fieldType) convertTime(dst []byte, text string) ([]byte, message.Value, *mismatch) {
	at, m := t.parseTime(text)
	if m != nil {
		return dst, message.Value{}, m
	}
	at = at.UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return dst, message.Value{}, &mismatch{message: quote(text) + " is not within the years 0 to 9999"}
	}
	dst = append(dst, '"')
	dst = at.AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"'), message.Time(at), nil
}

func (t fieldType) parseTime(text string) (time.Time, *mismatch) {
	if t.unit != 0 {
		return t.sinceEpoch(text)
	}
	if t.layout != "" {
		at, err := time.Parse(t.layout, text)
		if err != nil {
			return at, &mismatch{fmt.Sprintf("%s is no time of the layout %s", quote(text), quote(t.layout)),
				"change the layout in types"}
		}
		return at, nil
	}
	// message.ParseTime cuts to microseconds: bodies keep the nanoseconds of the one form that usually has them.
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	at, err := message.ParseTime(text)
	if err != nil {
		return at, &mismatch{quote(text) + " is no time like 2006-01-02T15:04:05Z or 2006-01-02 15:04:05",
			"name its layout in types: timestamp(…)"}
	}
	return at, nil
}

// sinceEpoch reads a count of units, with a fraction or without, exactly to the nanosecond.
func (t fieldType) sinceEpoch(text string) (time.Time, *mismatch) {
	digits, negative := unsigned(text)
	whole, fraction, _ := strings.Cut(digits, ".")
	count, err := strconv.ParseUint(whole, 10, 62)
	if err != nil || strings.Trim(fraction, "0123456789") != "" {
		return time.Time{}, &mismatch{message: quote(text) + " is no count of time units since 1970"}
	}
	perSecond := uint64(1e9 / t.unit)
	seconds, rest := int64(count/perSecond), int64(count%perSecond)*t.unit
	if seconds > math.MaxInt32*1000 { // beyond any year that is accepted, and safe to add to
		return time.Time{}, &mismatch{message: quote(text) + " is not within the years 0 to 9999"}
	}
	for scale, i := t.unit/10, 0; scale > 0 && i < len(fraction); scale, i = scale/10, i+1 {
		rest += int64(fraction[i]-'0') * scale
	}
	if negative {
		seconds, rest = -seconds, -rest
	}
	return time.Unix(seconds, rest), nil
}
