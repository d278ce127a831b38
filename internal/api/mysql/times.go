package mysql

import (
	"bytes"
	"context"
	"slices"

	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// plainTimes gives values of type TIME the digits that their column has: go-mysql-server writes six everywhere. It
// gives years before 1000 their four digits. And it tells clients the digits of all columns with a time, which it does
// not: some read no further in binary rows.
func plainTimes(ctx context.Context, d *Server, answer vmysql.ResultSpoolFn) vmysql.ResultSpoolFn {
	clock := clockDigits{door: d}
	var digits []int // by column: ofDay for a date, noTime for what is none of them
	none := true
	return func(r *sqltypes.Result, more bool) error {
		if len(r.Fields) > 0 {
			digits, none = digits[:0], true
			for _, f := range r.Fields {
				n := noTime
				switch f.Type {
				case sqltypes.Date:
					n, none = ofDay, false
				case sqltypes.Time:
					n, none = clock.of(ctx, f), false
					f.Decimals = uint32(n)
				case sqltypes.Datetime, sqltypes.Timestamp:
					n, none = ofDay, false
					if f.OrgTable != "" { // what is computed has those of its type
						f.Decimals = uint32(clock.of(ctx, f))
					}
				}
				clockLength(f)
				digits = append(digits, n)
			}
			if clock.err != nil {
				return clock.err
			}
		}
		if none {
			return answer(r, more)
		}
		for _, row := range r.Rows {
			for i := range row {
				switch n := digits[i]; {
				case n == noTime, row[i].IsNull():
				case n != ofDay:
					row[i] = sqltypes.MakeTrusted(sqltypes.Time, fraction(row[i].ToBytes(), n))
				default:
					row[i] = plainYear(row[i])
				}
			}
		}
		return answer(r, more)
	}
}

// ofDay and noTime stand for the digits of what is no TIME.
const ofDay, noTime = -1, -2

// clockDigits knows how many digits of a second columns have. It keeps what it asked for last: those of a table mostly
// follow each other.
type clockDigits struct {
	door    *Server
	table   queue.Name
	columns message.Columns
	err     error // sticks: why a table could not be asked for
}

// of is how many digits of a second a column has; what is computed has those that its plan told.
func (c *clockDigits) of(ctx context.Context, f *querypb.Field) int {
	if f.OrgTable == "" {
		return int(f.Decimals)
	}
	if n := (queue.Name{Namespace: f.Database, Name: f.OrgTable}); n != c.table && c.err == nil {
		_, def, _, err := c.door.find(ctx, n)
		c.table, c.columns, c.err = n, def.Columns, absent(err)
	}
	if i, ok := c.columns.Lookup(f.OrgName); ok {
		return c.columns[i].Length
	}
	return 6
}

// plainYear gives the year of a date its four digits.
func plainYear(v sqltypes.Value) sqltypes.Value {
	year := bytes.IndexByte(v.Raw(), '-')
	if year <= 0 || year >= 4 {
		return v
	}
	return sqltypes.MakeTrusted(v.Type(), append([]byte(zeros[:4-year]), v.Raw()...))
}

const zeros = "000000"

// fraction cuts a time's text to so many digits of a second. Six are left out where they are nothing.
func fraction(text []byte, digits int) []byte {
	point := bytes.IndexByte(text, '.')
	switch {
	case point < 0 && digits > 0 && digits < 6:
		return append(append(slices.Clone(text), '.'), zeros[:digits]...)
	case point < 0:
		return text
	case digits == 0, digits == 6 && len(bytes.Trim(text[point+1:], "0")) == 0:
		return text[:point]
	}
	return text[:min(len(text), point+1+digits)]
}
