package postgres

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/rows"
)

// appendText appends a value as a field of COPY's text format, which types without a binary form of ours want.
func appendText(dst []byte, f form, v rows.Value) []byte {
	switch v.Kind() {
	case rows.Null:
		return append(dst, `\N`...)
	case rows.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case rows.Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case rows.Uint:
		return strconv.AppendUint(dst, v.Uint(), 10)
	case rows.Float:
		return appendFloat(dst, f, v.Float())
	case rows.Bytes:
		dst = append(dst, `\\x`...) // a backslash in it is written twice
		return hex.AppendEncode(dst, []byte(v.Text()))
	case rows.Date:
		return appendTime(dst, time.Unix(v.Int()*86_400, 0), "2006-01-02")
	case rows.TimeOfDay:
		return time.Unix(0, v.Int()/1000*1000).UTC().AppendFormat(dst, "15:04:05.000000")
	case rows.Timestamp, rows.TimestampTZ:
		seconds, nanos := v.Moment()
		layout := "2006-01-02 15:04:05.000000"
		if v.Kind() == rows.TimestampTZ {
			layout += "Z"
		}
		return appendTime(dst, time.Unix(seconds, int64(nanos)), layout)
	case rows.UUID:
		return appendUUID(dst, v.Text())
	}
	return appendEscaped(dst, v.Text())
}

func appendFloat(dst []byte, f form, n float64) []byte {
	switch {
	case math.IsNaN(n):
		return append(dst, "NaN"...)
	case math.IsInf(n, 0):
		if n < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	case f == formFloat4:
		return strconv.AppendFloat(dst, n, 'g', -1, 32)
	}
	return strconv.AppendFloat(dst, n, 'g', -1, 64)
}

// appendTime cuts off what is finer than a microsecond, and writes years before the first as those before Christ, of
// which there is no zeroth.
func appendTime(dst []byte, t time.Time, layout string) []byte {
	t = t.UTC()
	if t.Year() > 0 {
		return t.AppendFormat(dst, layout)
	}
	dst = append(dst, strconv.Itoa(10_000 + 1 - t.Year())[1:]...) // up to 4713
	return t.AppendFormat(dst, layout[len("2006"):]+" BC")
}

func appendUUID(dst []byte, raw string) []byte {
	for i := range len(raw) {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, []byte{raw[i]})
	}
	return dst
}

// appendEscaped writes what ends a field or a row, and the backslash itself, as COPY reads it.
func appendEscaped(dst []byte, text string) []byte {
	for i := range len(text) {
		switch c := text[i]; c {
		case '\\':
			dst = append(dst, `\\`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
