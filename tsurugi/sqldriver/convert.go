package sqldriver

import (
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/tsurugi"
)

// fit makes an argument, a tsurugi.Value or a time.Time, one of a column's type. What the server converts itself, or
// refuses itself with a better word, stays as it is. The error says that the argument cannot be a value of the column.
func fit(arg any, typ tsurugi.Type) (tsurugi.Value, error) {
	if t, ok := arg.(time.Time); ok {
		return fitTime(t, typ), nil
	}
	v, ok := arg.(tsurugi.Value)
	if !ok {
		return v, fmt.Errorf("a %T is no value", arg)
	}
	switch v.Type() {
	case tsurugi.CharacterType:
		return fitText(v, typ)
	case tsurugi.OctetType:
		if typ != tsurugi.CharacterType && typ != tsurugi.ClobType {
			return v, nil
		}
		if !utf8.ValidString(v.Text()) {
			return v, fmt.Errorf("bytes that are not UTF-8 are no %v", typ)
		}
		return tsurugi.Text(v.Text()), nil
	case tsurugi.Float4Type, tsurugi.Float8Type:
		return fitFloat(v, typ)
	case tsurugi.Int4Type, tsurugi.Int8Type:
		return fitInt(v.Int(), v, typ), nil
	default:
		return v, nil
	}
}

// fitTime is what a moment's own clock shows, where the column keeps no zone.
func fitTime(t time.Time, typ tsurugi.Type) tsurugi.Value {
	switch typ {
	case tsurugi.DateType:
		return tsurugi.Date(t)
	case tsurugi.TimeOfDayType:
		return tsurugi.TimeOfDay(t)
	case tsurugi.TimePointType:
		return tsurugi.TimePoint(t)
	case tsurugi.TimeOfDayWithTimeZoneType:
		return tsurugi.TimeOfDayWithTimeZone(t)
	default:
		return tsurugi.TimePointWithTimeZone(t)
	}
}

// layouts are how texts of times are read; a fraction of the second may follow any of them. A column with a zone wants
// one in the text.
var layouts = map[tsurugi.Type][]string{
	tsurugi.DateType:                  {time.DateOnly},
	tsurugi.TimeOfDayType:             {time.TimeOnly, "15:04"},
	tsurugi.TimePointType:             {time.DateTime, "2006-01-02T15:04:05", time.DateOnly},
	tsurugi.TimeOfDayWithTimeZoneType: {"15:04:05Z07:00"},
	tsurugi.TimePointWithTimeZoneType: {time.RFC3339, "2006-01-02 15:04:05Z07:00"},
}

func fitText(v tsurugi.Value, typ tsurugi.Type) (tsurugi.Value, error) {
	s := v.Text()
	switch typ {
	case tsurugi.Int4Type, tsurugi.Int8Type:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return v, fmt.Errorf("this text is no %v", typ)
		}
		return fitInt(n, tsurugi.Int8(n), typ), nil
	case tsurugi.Float4Type, tsurugi.Float8Type:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return v, fmt.Errorf("this text is no %v", typ)
		}
		return fitFloat(tsurugi.Float8(f), typ)
	case tsurugi.DecimalType:
		d, err := tsurugi.ParseDecimal(s)
		if err != nil {
			return v, fmt.Errorf("this text is no %v", typ)
		}
		return d, nil
	case tsurugi.OctetType:
		return tsurugi.Bytes([]byte(s)), nil
	}
	known, ok := layouts[typ]
	if !ok {
		return v, nil
	}
	for _, layout := range known {
		if t, err := time.Parse(layout, s); err == nil {
			return fitTime(t, typ), nil
		}
	}
	return v, fmt.Errorf("this text is no %v; write it like %s", typ, known[0])
}

func fitFloat(v tsurugi.Value, typ tsurugi.Type) (tsurugi.Value, error) {
	f, bits := v.Float(), 64
	if v.Type() == tsurugi.Float4Type {
		bits = 32
	}
	switch typ {
	case tsurugi.Float4Type:
		if math.Abs(f) <= math.MaxFloat32 || math.IsInf(f, 0) || math.IsNaN(f) {
			return tsurugi.Float4(float32(f)), nil
		}
	case tsurugi.Float8Type:
		return tsurugi.Float8(f), nil
	case tsurugi.DecimalType: // with the digits that the number is written with
		d, err := tsurugi.ParseDecimal(strconv.FormatFloat(f, 'g', -1, bits))
		if err != nil {
			return v, fmt.Errorf("%v is no %v", f, typ)
		}
		return d, nil
	case tsurugi.Int4Type, tsurugi.Int8Type:
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return fitInt(int64(f), v, typ), nil
		}
	}
	return v, nil
}

// fitInt is a whole number as the column has it, or otherwise where it has no room.
func fitInt(n int64, otherwise tsurugi.Value, typ tsurugi.Type) tsurugi.Value {
	switch {
	case typ == tsurugi.Int4Type && n == int64(int32(n)):
		return tsurugi.Int4(int32(n))
	case typ == tsurugi.Int8Type:
		return tsurugi.Int8(n)
	case typ == tsurugi.DecimalType:
		return tsurugi.Decimal(n, 0)
	default:
		return otherwise
	}
}
