package rows

import (
	"math"
	"time"
)

// Value is what is written into a column. The zero Value is null. It may be copied and shared.
type Value struct {
	kind  Kind
	nanos int32
	num   uint64
	text  string
}

// BoolOf is a Bool value.
func BoolOf(b bool) Value {
	if b {
		return Value{kind: Bool, num: 1}
	}
	return Value{kind: Bool}
}

// IntOf is an Int value.
func IntOf(i int64) Value { return Value{kind: Int, num: uint64(i)} }

// UintOf is an Uint value.
func UintOf(u uint64) Value { return Value{kind: Uint, num: u} }

// FloatOf is a Float value.
func FloatOf(f float64) Value { return Value{kind: Float, num: math.Float64bits(f)} }

// DecimalOf is a Decimal value. The text is a plain decimal number, such as -12.50.
func DecimalOf(text string) Value { return Value{kind: Decimal, text: text} }

// TextOf is a Text value.
func TextOf(s string) Value { return Value{kind: Text, text: s} }

// BytesOf is a Bytes value. The string holds the bytes.
func BytesOf(s string) Value { return Value{kind: Bytes, text: s} }

// DateOf is a Date value.
func DateOf(days int64) Value { return Value{kind: Date, num: uint64(days)} }

// TimeOfDayOf is a TimeOfDay value.
func TimeOfDayOf(nanos int64) Value { return Value{kind: TimeOfDay, num: uint64(nanos)} }

// TimestampOf is a Timestamp value: what the clock shows.
func TimestampOf(seconds int64, nanos int32) Value {
	return Value{kind: Timestamp, num: uint64(seconds), nanos: nanos}
}

// InstantOf is a TimestampTZ value.
func InstantOf(t time.Time) Value {
	return Value{kind: TimestampTZ, num: uint64(t.Unix()), nanos: int32(t.Nanosecond())}
}

// UUIDOf is an UUID value.
func UUIDOf(u [16]byte) Value { return Value{kind: UUID, text: string(u[:])} }

// JSONOf is a JSON value.
func JSONOf(text string) Value { return Value{kind: JSON, text: text} }

// Kind is what v holds.
func (v Value) Kind() Kind { return v.kind }

// IsNull tells whether v is null.
func (v Value) IsNull() bool { return v.kind == Null }

// Bool of a Bool value.
func (v Value) Bool() bool { return v.num != 0 }

// Int of an Int, Date (days) or TimeOfDay (nanoseconds) value.
func (v Value) Int() int64 { return int64(v.num) }

// Uint of an Uint value.
func (v Value) Uint() uint64 { return v.num }

// Float of a Float value.
func (v Value) Float() float64 { return math.Float64frombits(v.num) }

// Text of a Text, Decimal, Bytes, UUID (16 bytes) or JSON value.
func (v Value) Text() string { return v.text }

// Moment of a Timestamp or TimestampTZ value: seconds since 1970, and nanoseconds of the second.
func (v Value) Moment() (seconds int64, nanos int32) { return int64(v.num), v.nanos }

// Time is a Moment as Go has it: of a Timestamp value, with the clock's reading shown in UTC.
func (v Value) Time() time.Time { return time.Unix(int64(v.num), int64(v.nanos)).UTC() }
