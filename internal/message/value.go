package message

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind says what a Value holds.
type Kind uint8

// The kinds of value. Their numbers are part of the journal's format: append, never renumber.
const (
	KindNull Kind = iota
	KindBool
	KindInt     // int64
	KindUint    // uint64 above math.MaxInt64; smaller ones are KindInt
	KindFloat   // float64
	KindString  // UTF-8 text
	KindBytes   // any bytes
	KindTime    // an instant, microseconds since 1970 UTC
	KindDecimal // an exact decimal number, kept as its text
)

var kindNames = [...]string{"null", "bool", "integer", "integer", "float", "string", "bytes", "time", "decimal"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// Value is one attribute or column value. The zero Value is null.
// Values are immutable and may be copied and shared.
type Value struct {
	kind Kind
	num  uint64
	str  string
}

// Null is the value that is none.
func Null() Value { return Value{} }

// Bool returns a boolean value.
func Bool(b bool) Value {
	v := Value{kind: KindBool}
	if b {
		v.num = 1
	}
	return v
}

// Int returns an integer value.
func Int(i int64) Value { return Value{kind: KindInt, num: uint64(i)} }

// Uint returns an integer value; one that fits an int64 becomes KindInt.
func Uint(u uint64) Value {
	if u <= math.MaxInt64 {
		return Int(int64(u))
	}
	return Value{kind: KindUint, num: u}
}

// Float returns a floating point value.
func Float(f float64) Value { return Value{kind: KindFloat, num: math.Float64bits(f)} }

// String returns a text value.
func String(s string) Value { return Value{kind: KindString, str: s} }

// Bytes returns a binary value. It copies b.
func Bytes(b []byte) Value { return Value{kind: KindBytes, str: string(b)} }

// Time returns an instant, cut to microseconds.
func Time(t time.Time) Value { return Value{kind: KindTime, num: uint64(t.UnixMicro())} }

// Decimal returns an exact decimal. The text must be a plain decimal number ("-12.50").
func Decimal(text string) Value { return Value{kind: KindDecimal, str: text} }

// Kind tells what v holds.
func (v Value) Kind() Kind { return v.kind }

// IsNull tells whether v is null.
func (v Value) IsNull() bool { return v.kind == KindNull }

// AsBool returns the boolean of a KindBool value.
func (v Value) AsBool() bool { return v.num != 0 }

// AsInt returns the integer of a KindInt value.
func (v Value) AsInt() int64 { return int64(v.num) }

// AsUint returns the integer of a KindUint value, or a KindInt one that is not negative.
func (v Value) AsUint() uint64 { return v.num }

// AsFloat returns the number of a KindFloat value.
func (v Value) AsFloat() float64 { return math.Float64frombits(v.num) }

// AsString returns the text of a KindString or KindDecimal value and the raw bytes of a KindBytes one.
func (v Value) AsString() string { return v.str }

// AsTime returns the instant of a KindTime value, in UTC.
func (v Value) AsTime() time.Time { return time.UnixMicro(int64(v.num)).UTC() }

// TimeFormat is how instants are written in text: RFC 3339 with as many digits as there are, at most microseconds.
const TimeFormat = "2006-01-02T15:04:05.999999Z07:00"

// Text renders v as a person or a string-only protocol sees it: null is empty, bytes are base64, times RFC 3339.
func (v Value) Text() string {
	switch v.kind {
	case KindNull:
		return ""
	case KindBool:
		return strconv.FormatBool(v.AsBool())
	case KindInt:
		return strconv.FormatInt(v.AsInt(), 10)
	case KindUint:
		return strconv.FormatUint(v.num, 10)
	case KindFloat:
		return strconv.FormatFloat(v.AsFloat(), 'g', -1, 64)
	case KindBytes:
		return base64.StdEncoding.EncodeToString([]byte(v.str))
	case KindTime:
		return v.AsTime().Format(TimeFormat)
	default:
		return v.str
	}
}

// Clone is v with a text of its own, where that may be part of something larger, or be written over.
func (v Value) Clone() Value {
	v.str = strings.Clone(v.str)
	return v
}

// Size is the number of bytes v's content takes, for limits.
func (v Value) Size() int {
	switch v.kind {
	case KindString, KindBytes, KindDecimal:
		return len(v.str)
	case KindNull, KindBool:
		return 1
	default:
		return 8
	}
}

// GoString shows the kind with the value, for test failures.
func (v Value) GoString() string { return fmt.Sprintf("%s(%s)", v.kind, v.Text()) }
