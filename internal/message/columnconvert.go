package message

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Convert makes v a value of the column, as MySQL does in strict mode: numbers are rounded to the column's scale, texts
// that read as numbers or times become such, and what does not fit is refused. The error is a *ColumnError.
// Integer columns hold Int or Uint, decimal Decimal with exactly Scale digits after the point, float and double Float,
// dates Time (UTC), time String ("HH:MM:SS"), texts, json, enum and set String, binaries and blobs Bytes.
func (c Column) Convert(v Value) (Value, error) {
	if v.IsNull() {
		if c.NotNull {
			return Value{}, c.errorf("must not be null")
		}
		return v, nil
	}
	switch {
	case c.Type == TypeYear:
		return c.toYear(v)
	case c.Type.IsInteger():
		return c.toInteger(v)
	case c.Type == TypeDecimal:
		return c.toDecimal(v)
	case c.Type == TypeFloat || c.Type == TypeDouble:
		return c.toFloat(v)
	case c.Type.IsInstant():
		return c.toInstant(v)
	case c.Type == TypeTime:
		return c.toTimeOfDay(v)
	case c.Type.IsText():
		return c.toText(v)
	case c.Type.IsBytes():
		return c.toBytes(v)
	case c.Type == TypeJSON:
		return c.toJSON(v)
	case c.Type.IsChoice():
		return c.toChoice(v)
	}
	return Value{}, c.errorf("has no known type")
}

func (c Column) errorf(format string, args ...any) error {
	return &ColumnError{Column: c.Name, Reason: fmt.Sprintf(format, args...)}
}

// wrong is the error for a value that is not of the column's type at all.
func (c Column) wrong(v Value) error {
	return c.errorf("is %s and cannot hold the %s %s", c.SQLType(), v.Kind(), showValue(v))
}

// outOfRange is the error for a value of the right type that is too large, too small or too long.
func (c Column) outOfRange(v Value) error {
	return c.errorf("is %s and the value %s is out of its range", c.SQLType(), showValue(v))
}

func showValue(v Value) string {
	switch v.Kind() {
	case KindString:
		return strconv.Quote(shorten(v.AsString()))
	case KindBytes:
		s := v.AsString()
		if len(s) > 16 {
			return fmt.Sprintf("x'%x…'", s[:16])
		}
		return fmt.Sprintf("x'%x'", s)
	default:
		return shorten(v.Text())
	}
}

// exact is the number in a value as a fraction; ok is false when there is none. Floats and texts of absurd exponents
// are none: they fit no exact column.
func exact(v Value) (r *big.Rat, ok bool) {
	switch v.Kind() {
	case KindBool, KindUint:
		return new(big.Rat).SetUint64(v.AsUint()), true
	case KindInt:
		return new(big.Rat).SetInt64(v.AsInt()), true
	case KindFloat:
		f := v.AsFloat()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, false
		}
		// The shortest decimal, not the binary fraction, is what a person meant.
		return new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
	case KindString, KindDecimal:
		s := strings.Trim(v.AsString(), " \t\r\n")
		if len(s) > 400 || !isNumberText(s) {
			return nil, false
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, false
		}
		if f == 0 && strings.ContainsAny(s, "eE") {
			return new(big.Rat), true // too small for any column; as a fraction it could take gigabytes
		}
		return new(big.Rat).SetString(s)
	default:
		return nil, false
	}
}

// roundRat rounds half away from zero.
func roundRat(r *big.Rat) *big.Int {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Abs(rest).Lsh(rest, 1).Cmp(r.Denom()) >= 0 {
		q.Add(q, big.NewInt(int64(r.Sign())))
	}
	return q
}

var integerBits = map[ColumnType]uint{TypeTinyInt: 8, TypeSmallInt: 16, TypeMediumInt: 24, TypeInt: 32, TypeBigInt: 64}

func (c Column) toInteger(v Value) (Value, error) {
	low, high := int64(0), uint64(0)
	switch bits := integerBits[c.Type]; {
	case c.Type == TypeBit:
		high = 1<<uint(c.Length) - 1 // a shift by 64 gives 0, and 0 - 1 is every bit
	case c.Unsigned:
		high = 1<<bits - 1
	default:
		high = 1<<(bits-1) - 1
		low = -int64(high) - 1
	}
	switch v.Kind() {
	case KindBool:
		v = Int(int64(v.AsUint()))
	case KindInt, KindUint:
	case KindBytes:
		if c.Type != TypeBit || len(v.AsString()) > 8 {
			return Value{}, c.wrong(v)
		}
		var u uint64
		for i := range len(v.AsString()) {
			u = u<<8 | uint64(v.AsString()[i])
		}
		v = Uint(u)
	default:
		r, ok := exact(v)
		if !ok {
			return Value{}, c.wrong(v)
		}
		switch i := roundRat(r); {
		case i.IsInt64():
			v = Int(i.Int64())
		case i.IsUint64():
			v = Uint(i.Uint64())
		default:
			return Value{}, c.outOfRange(v)
		}
	}
	if v.Kind() == KindInt && v.AsInt() < 0 {
		if v.AsInt() < low {
			return Value{}, c.outOfRange(v)
		}
	} else if v.AsUint() > high {
		return Value{}, c.outOfRange(v)
	}
	return v, nil
}

// toYear takes 0, 1901 to 2155, and two digits, which mean 1970 to 2069.
func (c Column) toYear(v Value) (Value, error) {
	r, ok := exact(v)
	if !ok {
		return Value{}, c.wrong(v)
	}
	i := roundRat(r)
	if !i.IsInt64() {
		return Value{}, c.outOfRange(v)
	}
	switch y := i.Int64(); {
	case y == 0 && v.Kind() == KindString && len(strings.TrimSpace(v.AsString())) < 4:
		return Int(2000), nil
	case y == 0 || y >= 1901 && y <= 2155:
		return Int(y), nil
	case y > 0 && y < 70:
		return Int(2000 + y), nil
	case y >= 70 && y < 100:
		return Int(1900 + y), nil
	default:
		return Value{}, c.outOfRange(v)
	}
}

func (c Column) toDecimal(v Value) (Value, error) {
	r, ok := exact(v)
	if !ok {
		return Value{}, c.wrong(v)
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Scale)), nil)
	i := roundRat(new(big.Rat).Mul(r, new(big.Rat).SetInt(ten)))
	if c.Unsigned && i.Sign() < 0 {
		return Value{}, c.outOfRange(v)
	}
	digits := new(big.Int).Abs(i).String()
	if len(digits) > c.Length && i.Sign() != 0 {
		return Value{}, c.outOfRange(v)
	}
	if missing := c.Scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	text := digits[:len(digits)-c.Scale]
	if c.Scale > 0 {
		text += "." + digits[len(digits)-c.Scale:]
	}
	if i.Sign() < 0 {
		text = "-" + text
	}
	return Decimal(text), nil
}

func (c Column) toFloat(v Value) (Value, error) {
	var f float64
	switch v.Kind() {
	case KindBool, KindUint:
		f = float64(v.AsUint())
	case KindInt:
		f = float64(v.AsInt())
	case KindFloat:
		f = v.AsFloat()
	case KindString, KindDecimal:
		s := strings.Trim(v.AsString(), " \t\r\n")
		if !isNumberText(s) {
			return Value{}, c.wrong(v)
		}
		f, _ = strconv.ParseFloat(s, 64) // too large gives an infinity, refused below
	default:
		return Value{}, c.wrong(v)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) || c.Unsigned && f < 0 {
		return Value{}, c.outOfRange(v)
	}
	if c.Type == TypeFloat {
		if math.Abs(f) > math.MaxFloat32 {
			return Value{}, c.outOfRange(v)
		}
		// Of the 32 bits that a float column has, keep the shortest decimal: 0.1 stays 0.1 and not 0.10000000149.
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	}
	return Float(f), nil
}

// What a timestamp column may hold.
var (
	firstTimestamp = time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC)
	afterTimestamp = time.Date(2038, 1, 19, 3, 14, 8, 0, time.UTC)
)

func (c Column) toInstant(v Value) (Value, error) {
	var t time.Time
	switch v.Kind() {
	case KindTime:
		t = v.AsTime()
	case KindString:
		var err error
		if t, err = ParseTime(strings.Trim(v.AsString(), " ")); err != nil {
			return Value{}, c.wrong(v)
		}
	default:
		return Value{}, c.wrong(v)
	}
	if c.Type == TypeDate {
		t = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	} else {
		t = t.Round(fraction(c.Length))
	}
	if t.Year() < 0 || t.Year() > 9999 || c.Type == TypeTimestamp &&
		(t.Before(firstTimestamp) || !t.Before(afterTimestamp)) {
		return Value{}, c.outOfRange(v)
	}
	return Time(t), nil
}

// fraction is the unit of a time with so many digits after the second.
func fraction(digits int) time.Duration {
	unit := time.Second
	for range digits {
		unit /= 10
	}
	return unit
}

func (c Column) toText(v Value) (Value, error) {
	s := ""
	switch v.Kind() {
	case KindBool:
		s = strconv.FormatUint(v.AsUint(), 10)
	case KindTime:
		s = v.AsTime().Format("2006-01-02 15:04:05.999999")
	case KindBytes:
		s = v.AsString()
	default:
		s = v.Text()
	}
	if !utf8.ValidString(s) {
		return Value{}, c.errorf("is %s and the value %s is not valid UTF-8", c.SQLType(), showValue(Bytes([]byte(s))))
	}
	if c.Type == TypeChar {
		s = strings.TrimRight(s, " ")
	}
	if c.Type != TypeChar && c.Type != TypeVarchar {
		if len(s) > c.Length {
			return Value{}, c.tooLong(v, len(s), "bytes")
		}
		return String(s), nil
	}
	// Only blanks may be lost.
	if n := utf8.RuneCountInString(s); n > c.Length {
		kept := s
		for range n - c.Length {
			var cut bool
			if kept, cut = strings.CutSuffix(kept, " "); !cut {
				return Value{}, c.tooLong(v, n, "characters")
			}
		}
		s = kept
	}
	return String(s), nil
}

func (c Column) toBytes(v Value) (Value, error) {
	s := ""
	switch v.Kind() {
	case KindBytes:
		s = v.AsString()
	default:
		text, err := Column{Name: c.Name, Type: TypeLongText, Length: TypeLongText.info().length}.toText(v)
		if err != nil {
			return Value{}, err
		}
		s = text.AsString()
	}
	if len(s) > c.Length {
		return Value{}, c.tooLong(v, len(s), "bytes")
	}
	if c.Type == TypeBinary {
		s += strings.Repeat("\x00", c.Length-len(s))
	}
	return Bytes([]byte(s)), nil
}

func (c Column) tooLong(v Value, n int, unit string) error {
	return c.errorf("is %s and the value %s is too long: %d %s, at most %d", c.SQLType(), showValue(v), n, unit,
		c.Length)
}

func (c Column) toJSON(v Value) (Value, error) {
	switch v.Kind() {
	case KindString, KindBytes:
		if s := strings.Trim(v.AsString(), " \t\r\n"); utf8.ValidString(s) && json.Valid([]byte(s)) {
			return String(s), nil
		}
		return Value{}, c.errorf("is json and the value %s is not valid JSON", showValue(v))
	case KindTime:
		return String(strconv.Quote(v.Text())), nil
	case KindFloat:
		if f := v.AsFloat(); math.IsNaN(f) || math.IsInf(f, 0) {
			return Value{}, c.outOfRange(v)
		}
	}
	return String(v.Text()), nil
}

// Missing is what a row has in the column when it is put, now, without a value for it. A column that is not null and
// has no default is a *ColumnError.
func (c *Column) Missing(now time.Time) (Value, error) {
	switch {
	case c.Default != nil:
		return *c.Default, nil
	case c.Now:
		return c.Convert(Time(now.UTC()))
	case c.NotNull && c.Type == TypeEnum:
		return String(c.Members[0]), nil // as in MySQL
	case c.NotNull:
		return Null(), c.errorf("is missing from the row; it is not null and has no default")
	}
	return Null(), nil
}
