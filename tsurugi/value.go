package tsurugi

import (
	"math/big"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
)

// A Value is a value of a column or for a placeholder; its zero value is NULL. It is made by the functions below and
// does not change.
type Value = value.Value

// A Type is the type of a value, a column or a placeholder.
type Type = value.Type

// A Reference is where the server keeps a large object.
type Reference = value.Reference

// The types; beside each what SQL calls it.
const (
	NullType                  = value.Null
	BooleanType               = value.Boolean               // no column of TsurugiDB 1.9 has it
	Int4Type                  = value.Int4                  // INT
	Int8Type                  = value.Int8                  // BIGINT
	Float4Type                = value.Float4                // REAL
	Float8Type                = value.Float8                // DOUBLE
	DecimalType               = value.Decimal               // DECIMAL(p, s)
	CharacterType             = value.Character             // CHAR(n), VARCHAR(n)
	OctetType                 = value.Octet                 // BINARY(n), VARBINARY(n)
	BitType                   = value.Bit                   // no column of TsurugiDB 1.9 has it
	DateType                  = value.Date                  // DATE
	TimeOfDayType             = value.TimeOfDay             // TIME
	TimePointType             = value.TimePoint             // TIMESTAMP
	TimeOfDayWithTimeZoneType = value.TimeOfDayWithTimeZone // TIME WITH TIME ZONE
	TimePointWithTimeZoneType = value.TimePointWithTimeZone // TIMESTAMP WITH TIME ZONE
	ClobType                  = value.Clob                  // CLOB
	BlobType                  = value.Blob                  // BLOB
	UnknownType               = value.Unknown               // of an expression such as NULL
)

// Null is the absent value.
func Null() Value { return Value{} }

// Boolean makes a BOOLEAN.
func Boolean(b bool) Value { return value.OfBool(b) }

// Int4 makes an INT.
func Int4(n int32) Value { return value.OfInt4(n) }

// Int8 makes a BIGINT.
func Int8(n int64) Value { return value.OfInt8(n) }

// Float4 makes a REAL.
func Float4(f float32) Value { return value.OfFloat4(f) }

// Float8 makes a DOUBLE.
func Float8(f float64) Value { return value.OfFloat8(f) }

// Decimal makes the DECIMAL coefficient × 10^exponent: 12.34 is Decimal(1234, -2).
func Decimal(coefficient int64, exponent int32) Value { return value.OfDecimal(coefficient, exponent) }

// BigDecimal makes the DECIMAL coefficient × 10^exponent. It keeps nothing of coefficient.
func BigDecimal(coefficient *big.Int, exponent int32) Value {
	return value.OfBigDecimal(coefficient, exponent)
}

// ParseDecimal makes a DECIMAL of text such as -12.340 or 1.5e9, with all its digits.
func ParseDecimal(s string) (Value, error) { return value.ParseDecimal(s) }

// Text makes a CHAR or VARCHAR. What is not UTF-8 is refused when it is sent.
func Text(s string) Value { return value.OfText(s) }

// Bytes makes a BINARY or VARBINARY of a copy of b.
func Bytes(b []byte) Value { return value.OfBytes(b) }

// Date makes a DATE of the day that t shows in its zone.
func Date(t time.Time) Value { return value.OfDate(t) }

// Days makes a DATE of days since 1970-01-01.
func Days(days int64) Value { return value.OfDays(days) }

// TimeOfDay makes a TIME of what the clock of t shows in its zone.
func TimeOfDay(t time.Time) Value { return value.OfTimeOfDay(t) }

// NanosOfDay makes a TIME of nanoseconds since midnight.
func NanosOfDay(nanos int64) Value { return value.OfNanosOfDay(nanos) }

// TimePoint makes a TIMESTAMP of what t shows in its zone; the zone is not kept.
func TimePoint(t time.Time) Value { return value.OfTimePoint(t) }

// Seconds makes a TIMESTAMP of seconds since 1970-01-01 00:00:00 and nanoseconds.
func Seconds(seconds int64, nanos int32) Value { return value.OfSeconds(seconds, nanos) }

// TimeOfDayWithTimeZone makes a TIME WITH TIME ZONE. The server keeps the moment, not the zone: it comes back in UTC.
func TimeOfDayWithTimeZone(t time.Time) Value { return value.OfTimeOfDayWithTimeZone(t) }

// TimePointWithTimeZone makes a TIMESTAMP WITH TIME ZONE. The server keeps the moment, not the zone: it comes back in
// UTC.
func TimePointWithTimeZone(t time.Time) Value { return value.OfTimePointWithTimeZone(t) }

// BlobFile makes a BLOB of a file that the server itself opens: an absolute path on the server's machine.
func BlobFile(path string) Value { return value.OfBlobFile(path) }

// ClobFile makes a CLOB of a file that the server itself opens.
func ClobFile(path string) Value { return value.OfClobFile(path) }

// ValueOf makes a value of one of Go's: nil is NULL, whole numbers INT or BIGINT by their size (int is BIGINT), float32
// REAL, float64 DOUBLE, string VARCHAR, []byte VARBINARY, time.Time TIMESTAMP WITH TIME ZONE, *big.Int DECIMAL, bool
// BOOLEAN; a Value is itself.
func ValueOf(v any) (Value, error) { return value.Of(v) }
