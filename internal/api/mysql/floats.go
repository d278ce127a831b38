package mysql

import (
	"strconv"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
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

// plainFloats writes the floating points of an answer as MySQL does.
func plainFloats(answer vmysql.ResultSpoolFn) vmysql.ResultSpoolFn {
	var columns []int
	return func(r *sqltypes.Result, more bool) error {
		if len(r.Fields) > 0 {
			columns = columns[:0]
			for i, f := range r.Fields {
				if f.Type == sqltypes.Float64 || f.Type == sqltypes.Float32 {
					columns = append(columns, i)
				}
			}
		}
		for _, row := range r.Rows {
			for _, i := range columns {
				if i < len(row) {
					row[i] = plainFloat(row[i])
				}
			}
		}
		return answer(r, more)
	}
}

// plainFloat is a value as MySQL writes it, if it has a floating point.
func plainFloat(v sqltypes.Value) sqltypes.Value {
	if v.Type() != sqltypes.Float64 && v.Type() != sqltypes.Float32 {
		return v
	}
	f, err := strconv.ParseFloat(v.ToString(), 64)
	if err != nil {
		return v
	}
	return sqltypes.MakeTrusted(v.Type(), []byte(floatText(f, 64)))
}

// floating makes the text of a number with a floating point.
type floating struct{}

func (floating) typeOf(gms.Type) gms.Type { return types.LongText }

func (floating) look(_ *gms.Context, v any) (any, error) {
	switch f := v.(type) {
	case float64:
		return floatText(f, 64), nil
	case float32:
		return floatText(float64(f), 32), nil
	}
	return v, nil
}
