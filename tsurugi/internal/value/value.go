package value

import (
	"math"
	"math/big"
	"time"
)

// A Value is a value of a column, or NULL, which is its zero value. It does not change and may be copied and used by
// many goroutines.
type Value struct {
	typ  Type
	zone int16 // minutes east of Greenwich
	nano int32 // of a second; of a decimal its exponent
	// whole numbers, bits of floats, days, nanoseconds of a day, seconds; small coefficients of decimals; bits of a Bit
	num  int64
	text string
}

// Type is the value's own type.
func (v Value) Type() Type { return v.typ }

// IsNull tells whether there is no value.
func (v Value) IsNull() bool { return v.typ == Null }

// OfBool makes a BOOLEAN, which no column of TsurugiDB 1.9 takes.
func OfBool(b bool) Value {
	v := Value{typ: Boolean}
	if b {
		v.num = 1
	}
	return v
}

// OfInt4 makes an INT.
func OfInt4(n int32) Value { return Value{typ: Int4, num: int64(n)} }

// OfInt8 makes a BIGINT.
func OfInt8(n int64) Value { return Value{typ: Int8, num: n} }

// OfFloat4 makes a REAL.
func OfFloat4(f float32) Value { return Value{typ: Float4, num: int64(math.Float32bits(f))} }

// OfFloat8 makes a DOUBLE.
func OfFloat8(f float64) Value { return Value{typ: Float8, num: int64(math.Float64bits(f))} }

// OfText makes a CHAR or VARCHAR. Text that is not UTF-8 is refused when it is sent.
func OfText(s string) Value { return Value{typ: Character, text: s} }

// OfBytes makes a BINARY or VARBINARY. It copies b.
func OfBytes(b []byte) Value { return Value{typ: Octet, text: string(b)} }

// OfBits makes a BIT of the first n bits of packed, the lowest bit of the first byte first. It copies packed.
func OfBits(packed []byte, n int) Value {
	return Value{typ: Bit, num: int64(n), text: string(packed)}
}

// OfBlobFile makes a BLOB of a file, which the server itself opens: it has to be an absolute path on the server's
// machine, and the server must allow that.
func OfBlobFile(path string) Value { return Value{typ: Blob, text: path} }

// OfClobFile makes a CLOB of a file as OfBlobFile does.
func OfClobFile(path string) Value { return Value{typ: Clob, text: path} }

const daySeconds = 24 * 60 * 60

// OfDate makes a DATE of the day that t shows in its zone.
func OfDate(t time.Time) Value {
	y, m, d := t.Date()
	return OfDays(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / daySeconds)
}

// OfDays makes a DATE of a number of days since 1970-01-01.
func OfDays(days int64) Value { return Value{typ: Date, num: days} }

// OfTimeOfDay makes a TIME of what the clock of t shows in its zone.
func OfTimeOfDay(t time.Time) Value { return OfNanosOfDay(nanosOfDay(t)) }

// OfNanosOfDay makes a TIME of a number of nanoseconds since midnight.
func OfNanosOfDay(nanos int64) Value { return Value{typ: TimeOfDay, num: nanos} }

// OfTimePoint makes a TIMESTAMP of what t shows in its zone. The zone itself is not kept.
func OfTimePoint(t time.Time) Value {
	seconds, nanos, _ := wall(t)
	return OfSeconds(seconds, nanos)
}

// OfSeconds makes a TIMESTAMP of seconds since 1970-01-01 00:00:00, on the wall, and nanoseconds.
func OfSeconds(seconds int64, nanos int32) Value {
	return Value{typ: TimePoint, num: seconds, nano: nanos}
}

// OfTimeOfDayWithTimeZone makes a TIME WITH TIME ZONE. Seconds of the zone's offset are cut.
func OfTimeOfDayWithTimeZone(t time.Time) Value {
	_, _, zone := wall(t)
	return Value{typ: TimeOfDayWithTimeZone, num: nanosOfDay(t), zone: zone}
}

// OfNanosOfDayInZone makes a TIME WITH TIME ZONE of a number of nanoseconds since midnight, on the wall, and the zone's
// minutes east of Greenwich.
func OfNanosOfDayInZone(nanos int64, zone int16) Value {
	return Value{typ: TimeOfDayWithTimeZone, num: nanos, zone: zone}
}

// OfTimePointWithTimeZone makes a TIMESTAMP WITH TIME ZONE. Seconds of the zone's offset are cut.
func OfTimePointWithTimeZone(t time.Time) Value {
	seconds, nanos, zone := wall(t)
	return OfSecondsInZone(seconds, nanos, zone)
}

// OfSecondsInZone makes a TIMESTAMP WITH TIME ZONE of seconds since 1970-01-01 00:00:00, on the wall, nanoseconds, and
// the zone's minutes east of Greenwich.
func OfSecondsInZone(seconds int64, nanos int32, zone int16) Value {
	return Value{typ: TimePointWithTimeZone, num: seconds, nano: nanos, zone: zone}
}

func nanosOfDay(t time.Time) int64 {
	h, m, s := t.Clock()
	return int64(h*3600+m*60+s)*int64(time.Second) + int64(t.Nanosecond())
}

func wall(t time.Time) (seconds int64, nanos int32, zone int16) {
	_, offset := t.Zone()
	zone = int16(offset / 60)
	return t.Unix() + int64(offset), int32(t.Nanosecond()), zone
}

// Int is the number of a whole number or a BOOLEAN, the days of a DATE, the nanoseconds of a TIME, the seconds of a
// TIMESTAMP; of others it means nothing.
func (v Value) Int() int64 { return v.num }

// Nanos is the part of a TIMESTAMP below its seconds.
func (v Value) Nanos() int32 { return v.nano }

// Zone is the minutes east of Greenwich of a time with a zone.
func (v Value) Zone() int16 { return v.zone }

// Float is the number of a REAL or a DOUBLE; of others it means nothing.
func (v Value) Float() float64 {
	if v.typ == Float4 {
		return float64(math.Float32frombits(uint32(v.num)))
	}
	return math.Float64frombits(uint64(v.num))
}

// Float32 is the number of a REAL.
func (v Value) Float32() float32 { return math.Float32frombits(uint32(v.num)) }

// Text is the text of a CHAR or VARCHAR, the bytes of a BINARY, VARBINARY or BIT, and the path of a BLOB or CLOB that
// was made of a file.
func (v Value) Text() string { return v.text }

// Time is the moment of a DATE, TIME, TIMESTAMP or one of those with a zone, in that zone or else in UTC. A TIME is of
// 1970-01-01.
func (v Value) Time() time.Time {
	switch v.typ {
	case Date:
		return time.Unix(v.num*daySeconds, 0).UTC()
	case TimeOfDay:
		return time.Unix(0, v.num).UTC()
	case TimePoint:
		return time.Unix(v.num, int64(v.nano)).UTC()
	case TimeOfDayWithTimeZone:
		return time.Unix(-int64(v.zone)*60, v.num).In(v.location())
	case TimePointWithTimeZone:
		return time.Unix(v.num-int64(v.zone)*60, int64(v.nano)).In(v.location())
	default:
		return time.Time{}
	}
}

func (v Value) location() *time.Location {
	if v.zone == 0 {
		return time.UTC
	}
	return time.FixedZone("", int(v.zone)*60)
}

// OfDecimal makes the DECIMAL coefficient × 10^exponent: 12.34 has the coefficient 1234 and the exponent -2.
func OfDecimal(coefficient int64, exponent int32) Value {
	return Value{typ: Decimal, num: coefficient, nano: exponent}
}

// OfBigDecimal makes the DECIMAL coefficient × 10^exponent. It keeps nothing of coefficient.
func OfBigDecimal(coefficient *big.Int, exponent int32) Value {
	if coefficient.IsInt64() {
		return OfDecimal(coefficient.Int64(), exponent)
	}
	return Value{typ: Decimal, nano: exponent, text: string(twos(coefficient))}
}

// OfTwos makes the DECIMAL whose coefficient is a number in two's complement, big-endian. It copies twos.
func OfTwos(twos []byte, exponent int32) Value {
	for len(twos) > 1 && (twos[0] == 0 && twos[1] < 0x80 || twos[0] == 0xff && twos[1] >= 0x80) {
		twos = twos[1:]
	}
	if len(twos) > 8 {
		return Value{typ: Decimal, nano: exponent, text: string(twos)}
	}
	var n int64
	if len(twos) > 0 {
		n = int64(int8(twos[0]))
	}
	for i := 1; i < len(twos); i++ {
		n = n<<8 | int64(twos[i])
	}
	return OfDecimal(n, exponent)
}

// Exponent is that of a DECIMAL.
func (v Value) Exponent() int32 { return v.nano }

// Small tells whether the coefficient of a DECIMAL is the number that Int tells.
func (v Value) Small() bool { return v.text == "" }

// Coefficient is that of a DECIMAL.
func (v Value) Coefficient() *big.Int {
	if v.Small() {
		return big.NewInt(v.num)
	}
	n := new(big.Int).SetBytes([]byte(v.text))
	if v.text[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(v.text))*8))
	}
	return n
}

// AppendTwos appends the coefficient of a DECIMAL in two's complement, big-endian, in as few bytes as will do.
func (v Value) AppendTwos(b []byte) []byte {
	if !v.Small() {
		return append(b, v.text...)
	}
	n := 1
	for x := v.num; x > 127 || x < -128; x >>= 8 {
		n++
	}
	for i := n - 1; i >= 0; i-- {
		b = append(b, byte(v.num>>(8*i)))
	}
	return b
}

// twos is n in two's complement, big-endian, in as few bytes as will do.
func twos(n *big.Int) []byte {
	if n.Sign() >= 0 {
		b := n.Bytes()
		if len(b) == 0 || b[0] >= 0x80 {
			b = append([]byte{0}, b...)
		}
		return b
	}
	size := uint(n.BitLen()/8 + 1)
	b := new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), size*8)).Bytes()
	for len(b) > 1 && b[0] == 0xff && b[1] >= 0x80 {
		b = b[1:]
	}
	return b
}
