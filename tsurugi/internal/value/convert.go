package value

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Of makes a value of one of Go's. nil, and a nil pointer, are NULL; int and uint of any size are INT or BIGINT by
// their size, float32 REAL, float64 DOUBLE, string VARCHAR, []byte VARBINARY, time.Time TIMESTAMP WITH TIME ZONE,
// *big.Int DECIMAL, bool BOOLEAN; a Value is itself. Others are an error.
func Of(v any) (Value, error) {
	switch v := v.(type) {
	case nil:
		return Value{}, nil
	case Value:
		return v, nil
	case bool:
		return OfBool(v), nil
	case int:
		return OfInt8(int64(v)), nil
	case int8:
		return OfInt4(int32(v)), nil
	case int16:
		return OfInt4(int32(v)), nil
	case int32:
		return OfInt4(v), nil
	case int64:
		return OfInt8(v), nil
	case uint8:
		return OfInt4(int32(v)), nil
	case uint16:
		return OfInt4(int32(v)), nil
	case uint32:
		return OfInt8(int64(v)), nil
	case uint:
		return ofUint(uint64(v))
	case uint64:
		return ofUint(v)
	case float32:
		return OfFloat4(v), nil
	case float64:
		return OfFloat8(v), nil
	case string:
		return OfText(v), nil
	case []byte:
		if v == nil {
			return Value{}, nil
		}
		return OfBytes(v), nil
	case time.Time:
		return OfTimePointWithTimeZone(v), nil
	case *big.Int:
		if v == nil {
			return Value{}, nil
		}
		return OfBigDecimal(v, 0), nil
	default:
		return Value{}, fmt.Errorf("tsurugi: a %T cannot be sent; use a value of package tsurugi, or of one of Go's "+
			"own types", v)
	}
}

func ofUint(n uint64) (Value, error) {
	if n > math.MaxInt64 {
		return Value{}, fmt.Errorf("tsurugi: %d is more than a BIGINT holds; send it as a DECIMAL", n)
	}
	return OfInt8(int64(n)), nil
}

// Any is the value as one of Go's: nil, bool, int32, int64, float32, float64, string (of a DECIMAL, too: all its
// digits), []byte or time.Time.
func (v Value) Any() any {
	switch v.typ {
	case Null, Unknown:
		return nil
	case Boolean:
		return v.num != 0
	case Int4:
		return int32(v.num)
	case Int8:
		return v.num
	case Float4:
		return v.Float32()
	case Float8:
		return v.Float()
	case Decimal, Character, Clob, Blob:
		return v.String()
	case Octet, Bit:
		return []byte(v.text)
	default:
		return v.Time()
	}
}

// String is the value as text: NULL, numbers in decimal, times as ISO 8601 has them, bytes in hexadecimal digits.
func (v Value) String() string {
	switch v.typ {
	case Null, Unknown:
		return "NULL"
	case Boolean:
		return strconv.FormatBool(v.num != 0)
	case Int4, Int8:
		return strconv.FormatInt(v.num, 10)
	case Float4:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case Float8:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case Decimal:
		return v.decimal()
	case Character:
		return v.text
	case Octet, Bit:
		return hex.EncodeToString([]byte(v.text))
	case Clob, Blob:
		if r, ok := v.Reference(); ok {
			return fmt.Sprintf("%v %d/%d", v.typ, r.Provider, r.Object)
		}
		if r, ok := v.Relayed(); ok {
			return fmt.Sprintf("%v %d/%d of the relay", v.typ, r.Provider, r.Object)
		}
		return v.text
	case Date:
		return v.Time().Format(time.DateOnly)
	case TimeOfDay:
		return v.Time().Format("15:04:05.999999999")
	case TimePoint:
		return v.Time().Format("2006-01-02 15:04:05.999999999")
	case TimeOfDayWithTimeZone:
		return v.Time().Format("15:04:05.999999999-07:00")
	case TimePointWithTimeZone:
		return v.Time().Format("2006-01-02 15:04:05.999999999-07:00")
	default:
		return v.typ.String()
	}
}

// maxZeros is how many zeros decimal writes before it uses an exponent.
const maxZeros = 400

// decimal writes a DECIMAL with all its digits, without an exponent unless that would be longer than anybody reads.
func (v Value) decimal() string {
	digits := v.Coefficient().String()
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	exp := int(v.nano)
	switch {
	case exp > maxZeros || -exp > maxZeros+len(digits):
		return fmt.Sprintf("%s%se%d", sign, digits, exp)
	case exp >= 0:
		if digits == "0" {
			return "0"
		}
		return sign + digits + strings.Repeat("0", exp)
	case -exp < len(digits):
		return sign + digits[:len(digits)+exp] + "." + digits[len(digits)+exp:]
	default:
		return sign + "0." + strings.Repeat("0", -exp-len(digits)) + digits
	}
}

// ErrDecimal tells that a text is no DECIMAL.
var ErrDecimal = errors.New("tsurugi: not a decimal number")

// ParseDecimal makes a DECIMAL of text such as -12.340 or 1.5e9; it keeps every digit.
func ParseDecimal(s string) (Value, error) {
	mantissa, exponent := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.ParseInt(s[i+1:], 10, 32); err != nil {
			return Value{}, fmt.Errorf("%w: %q", ErrDecimal, s)
		}
		mantissa = s[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	exponent -= int64(len(fraction))
	if strings.Trim(strings.TrimLeft(digits, "+-"), "0123456789") != "" ||
		len(strings.TrimLeft(digits, "+-")) < len(digits)-1 ||
		strings.TrimLeft(digits, "+-") == "" || strings.ContainsAny(fraction, "+-") ||
		exponent != int64(int32(exponent)) {
		return Value{}, fmt.Errorf("%w: %q", ErrDecimal, s)
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return OfDecimal(n, int32(exponent)), nil
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return Value{}, fmt.Errorf("%w: %q", ErrDecimal, s)
	}
	return OfBigDecimal(n, int32(exponent)), nil
}
