package tsurugidb

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
)

// appendValues appends the values of rows as the server takes them.
func appendValues(to []tsurugi.Value, columns []rows.Column, values []rows.Value) ([]tsurugi.Value, error) {
	for len(values) > 0 {
		for i := range columns {
			v := values[i]
			// What most columns are is decided here; the rest is a call away.
			switch columns[i].Code {
			case tsurugi.Float8Type:
				if v.Kind() == rows.Float {
					to = append(to, tsurugi.Float8(v.Float()))
					continue
				}
			case tsurugi.CharacterType:
				if v.Kind() == rows.Text {
					to = append(to, tsurugi.Text(v.Text()))
					continue
				}
			}
			made, err := valueOf(&columns[i], v)
			if err != nil {
				return to, err
			}
			to = append(to, made)
		}
		values = values[len(columns):]
	}
	return to, nil
}

// valueOf is a value for a column.
func valueOf(c *rows.Column, v rows.Value) (tsurugi.Value, error) {
	if v.IsNull() {
		return tsurugi.Null(), nil
	}
	if v.Kind() == c.Kind {
		switch c.Code {
		case tsurugi.BooleanType:
			return tsurugi.Boolean(v.Bool()), nil
		case tsurugi.Int4Type:
			return tsurugi.Int4(int32(v.Int())), nil
		case tsurugi.Int8Type:
			return tsurugi.Int8(v.Int()), nil
		case tsurugi.Float4Type:
			return tsurugi.Float4(float32(v.Float())), nil
		case tsurugi.Float8Type:
			return tsurugi.Float8(v.Float()), nil
		case tsurugi.DecimalType:
			return tsurugi.ParseDecimal(v.Text())
		case tsurugi.CharacterType:
			return tsurugi.Text(v.Text()), nil
		case tsurugi.OctetType:
			return tsurugi.Bytes([]byte(v.Text())), nil
		case tsurugi.DateType:
			return tsurugi.Days(v.Int()), nil
		case tsurugi.TimeOfDayType:
			return tsurugi.NanosOfDay(v.Int()), nil
		case tsurugi.TimeOfDayWithTimeZoneType:
			return tsurugi.TimeOfDayWithTimeZone(rows.TimestampOf(v.Int()/1e9, int32(v.Int()%1e9)).Time()), nil
		case tsurugi.TimePointType:
			return tsurugi.Seconds(v.Moment()), nil
		case tsurugi.TimePointWithTimeZoneType:
			return tsurugi.TimePointWithTimeZone(v.Time()), nil
		}
	}
	return tsurugi.Null(), fmt.Errorf("%w: a %v for column %s, which is %s", tsurugi.ErrParams, v.Kind(), c.Name,
		c.Native)
}
