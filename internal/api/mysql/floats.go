package mysql

import (
	"strconv"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// floatText is how MySQL writes a number with a floating point: with an exponent from 1e15 on and below 1e-15, which
// has neither a plus nor a zero before it.
func floatText(f float64, bits int) string {
	text := strconv.FormatFloat(f, 'e', -1, bits)
	for i := range len(text) {
		if text[i] != 'e' {
			continue
		}
		power, err := strconv.Atoi(text[i+1:])
		switch {
		case err != nil:
			return text
		case -15 <= power && power < 15:
			return strconv.FormatFloat(f, 'f', -1, bits)
		}
		return text[:i+1] + strconv.Itoa(power)
	}
	return text
}

// plainFloats writes the floating points of an answer as MySQL does, in binary rows with all of their digits.
func plainFloats(answer vmysql.ResultSpoolFn, binary bool) vmysql.ResultSpoolFn {
	var columns, digits []int
	return func(r *sqltypes.Result, more bool) error {
		if len(r.Fields) > 0 {
			columns, digits = columns[:0], digits[:0]
			for i, f := range r.Fields {
				if f.Type == sqltypes.Float64 || f.Type == sqltypes.Float32 {
					columns = append(columns, i)
					digits = append(digits, fixedDigits(f, binary))
				}
			}
		}
		for _, row := range r.Rows {
			for n, i := range columns {
				if i < len(row) {
					row[i] = plainFloat(row[i], digits[n])
				}
			}
		}
		return answer(r, more)
	}
}

// fixedDigits is how many digits of a column are written behind the point; notFixed: as many as it takes.
func fixedDigits(f *querypb.Field, binary bool) int {
	if binary || f.Table != "" || f.Decimals == 0 {
		return notFixed
	}
	return int(f.Decimals)
}

// plainFloat is a value as MySQL writes it, if it has a floating point.
func plainFloat(v sqltypes.Value, digits int) sqltypes.Value {
	if v.Type() != sqltypes.Float64 && v.Type() != sqltypes.Float32 {
		return v
	}
	f, err := strconv.ParseFloat(v.ToString(), 64)
	if err != nil {
		return v
	}
	return sqltypes.MakeTrusted(v.Type(), []byte(fixedText(f, 64, digits)))
}

// fixedText is a number with so many digits behind the point.
func fixedText(f float64, bits, digits int) string {
	if digits >= notFixed {
		return floatText(f, bits)
	}
	return strconv.FormatFloat(f, 'f', digits, bits)
}

// floating makes the text of a number with a floating point.
type floating struct{ digits int }

func (floating) typeOf(gms.Type) gms.Type { return types.LongText }

func (d floating) look(_ *gms.Context, v any) (any, error) {
	switch f := v.(type) {
	case float64:
		return fixedText(f, 64, d.digits), nil
	case float32:
		return floatText(float64(f), 32), nil
	}
	return v, nil
}
