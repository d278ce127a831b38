package mysql

import (
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/rows"
)

var (
	errNotFinite = errors.New("MySQL has no NaN and no infinity")
	errYear      = errors.New("MySQL's dates begin with the year 1 and end with the year 9999")
)

// appendText appends what stands for a value that is neither null nor a plain number.
func appendText(dst []byte, v rows.Value) ([]byte, error) {
	switch v.Kind() {
	case rows.Date:
		return appendTime(dst, time.Unix(v.Int()*86_400, 0), "2006-01-02")
	case rows.TimeOfDay:
		return time.Unix(0, v.Int()/1000*1000).UTC().AppendFormat(dst, "15:04:05.000000"), nil
	case rows.Timestamp, rows.TimestampTZ: // the session's zone is UTC
		seconds, nanos := v.Moment()
		return appendTime(dst, time.Unix(seconds, int64(nanos)), "2006-01-02 15:04:05.000000")
	case rows.UUID:
		raw := v.Text()
		for i := range len(raw) {
			if i == 4 || i == 6 || i == 8 || i == 10 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, []byte{raw[i]})
		}
		return dst, nil
	}
	return append(dst, v.Text()...), nil
}

func appendTime(dst []byte, t time.Time, layout string) ([]byte, error) {
	t = t.UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return dst, errYear
	}
	return t.AppendFormat(dst, layout), nil
}

// argument is a value as the library takes it. What needs a text of its own goes into text.
func argument(text []byte, v rows.Value) (_ []byte, arg driver.Value, err error) {
	switch v.Kind() {
	case rows.Null:
		return text, nil, nil
	case rows.Bool:
		if v.Bool() {
			return text, int64(1), nil
		}
		return text, int64(0), nil
	case rows.Int:
		return text, v.Int(), nil
	case rows.Uint:
		return text, v.Uint(), nil
	case rows.Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return text, nil, errNotFinite
		}
		return text, v.Float(), nil
	case rows.Text, rows.Decimal, rows.JSON, rows.Bytes:
		return text, v.Text(), nil
	}
	start := len(text)
	if text, err = appendText(text, v); err != nil {
		return text, nil, err
	}
	return text, text[start:len(text):len(text)], nil
}

// size is about how many bytes a value takes on its way.
func size(v rows.Value) int { return len(v.Text()) + 32 }

// appendField appends a value as LOAD DATA reads it here: fields end with a tab, rows with a newline, and a backslash
// stands before what is meant itself.
func appendField(dst []byte, v rows.Value) ([]byte, error) {
	switch v.Kind() {
	case rows.Null:
		return append(dst, `\N`...), nil
	case rows.Bool:
		if v.Bool() {
			return append(dst, '1'), nil
		}
		return append(dst, '0'), nil
	case rows.Int:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case rows.Uint:
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	case rows.Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return dst, errNotFinite
		}
		return strconv.AppendFloat(dst, v.Float(), 'g', -1, 64), nil
	case rows.Text, rows.JSON, rows.Bytes:
		text := v.Text()
		for i := range len(text) {
			switch c := text[i]; c {
			case 0:
				dst = append(dst, `\0`...)
			case '\\', '\t', '\n':
				dst = append(dst, '\\', c)
			default:
				dst = append(dst, c)
			}
		}
		return dst, nil
	}
	return appendText(dst, v)
}
