package relation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// ErrShort tells that the row is not whole yet: read it again when there is more.
var ErrShort = errors.New("tsurugi: an unfinished row")

// ErrEnd tells that the server wrote that nothing follows.
var ErrEnd = errors.New("tsurugi: the end of a result set")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: in a result set: %s", wire.ErrMalformed, fmt.Sprintf(format, args...))
}

// ReadRow reads the row at the front of b, whose columns have the types of types, appends its values to row and returns
// what is behind it. A value keeps nothing of b. If the row is not whole, the error is ErrShort.
func ReadRow(row []value.Value, b []byte, types []value.Type) ([]value.Value, []byte, error) {
	if len(b) == 0 {
		return row, b, ErrShort
	}
	r := reader{b: b[1:]}
	var n uint64
	switch head := b[0]; {
	case head >= headRow && head < headArray:
		n = uint64(head-headRow) + 1
	case head == headLongRow:
		n = r.unsigned()
	case head == headEnd:
		return row, b[1:], ErrEnd
	default:
		return row, b, malformed("%#x where a row begins", head)
	}
	if r.err == nil && n != uint64(len(types)) {
		return row, b, malformed("a row of %d columns; there are %d", n, len(types))
	}
	for _, t := range types {
		v := r.value(t)
		if r.err != nil {
			return row, b, r.err
		}
		row = append(row, v)
	}
	return row, r.b, r.err
}

// A reader reads from the front of b until err is set.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) take(n uint64) []byte {
	if r.err != nil || uint64(len(r.b)) < n {
		r.fail(ErrShort)
		return nil
	}
	head := r.b[:n]
	r.b = r.b[n:]
	return head
}

// unsigned reads a number of seven bits a byte, the lowest first; the ninth byte has eight.
func (r *reader) unsigned() uint64 {
	var n uint64
	for i := range 9 {
		b := r.take(1)
		if r.err != nil {
			return 0
		}
		if i == 8 {
			return n | uint64(b[0])<<56
		}
		n |= uint64(b[0]&0x7f) << (7 * i)
		if b[0] < 0x80 {
			break
		}
	}
	return n
}

// signed reads one whose lowest bit is the sign.
func (r *reader) signed() int64 {
	n := r.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}

func (r *reader) within(lowest, highest int64) int64 {
	n := r.signed()
	if n < lowest || n > highest {
		r.fail(malformed("%d where at most %d can stand", n, highest))
	}
	return n
}

// size reads how many bytes follow; more than an int32 counts are no size.
func (r *reader) size() uint64 {
	n := r.unsigned()
	if n > math.MaxInt32 {
		r.fail(malformed("a value of %d bytes", n))
	}
	return n
}

// value reads an entry of a column of type t. What stands there may say less than the column's type: a number may be a
// DECIMAL or a truth value.
func (r *reader) value(t value.Type) value.Value {
	b := r.take(1)
	if r.err != nil {
		return value.Value{}
	}
	switch head := b[0]; {
	case head <= maxInline:
		return r.number(int64(head), t)
	case head < headRow:
		return r.text(uint64(head-headText)+1, t)
	case head < headNegative:
		r.fail(malformed("%#x where a value of type %v begins", head, t))
	case head < headOctet:
		return r.number(int64(head)-headOctet, t)
	case head < headBit:
		return r.octets(uint64(head-headOctet)+1, t)
	case head < headNull:
		return r.bits(uint64(head-headBit)+1, t)
	default:
		return r.marked(head, t)
	}
	return value.Value{}
}

func (r *reader) marked(head byte, t value.Type) value.Value {
	switch head {
	case headNull:
		return value.Value{}
	case headInt:
		return r.number(r.signed(), t)
	case headFloat4:
		if b := r.take(4); r.is(t, value.Float4) {
			return value.OfFloat4(math.Float32frombits(binary.BigEndian.Uint32(b)))
		}
	case headFloat8:
		if b := r.take(8); r.is(t, value.Float8) {
			return value.OfFloat8(math.Float64frombits(binary.BigEndian.Uint64(b)))
		}
	case headCompact:
		exponent := r.within(math.MinInt32, math.MaxInt32)
		if coefficient := r.signed(); r.is(t, value.Decimal) {
			return value.OfDecimal(coefficient, int32(exponent))
		}
	case headDecimal:
		exponent := r.within(math.MinInt32, math.MaxInt32)
		if b := r.take(r.size()); r.is(t, value.Decimal) {
			return value.OfTwos(b, int32(exponent))
		}
	case headLongText:
		return r.text(r.size(), t)
	case headLongOctet:
		return r.octets(r.size(), t)
	case headLongBit:
		return r.bits(r.size(), t)
	case headDate, headTimeOfDay, headTimePoint, headTimeZone, headPointZone:
		return r.time(head, t)
	case headClob, headBlob:
		return r.reference(head, t)
	default:
		r.fail(malformed("%#x where a value of type %v begins", head, t))
	}
	return value.Value{}
}

// is tells whether all is well and the column's type the wanted one.
func (r *reader) is(t, want value.Type) bool {
	if r.err == nil && t != want {
		r.fail(malformed("a value of type %v in a column of type %v", want, t))
	}
	return r.err == nil
}

func (r *reader) number(n int64, t value.Type) value.Value {
	if r.err != nil {
		return value.Value{}
	}
	switch t {
	case value.Int4:
		if n == int64(int32(n)) {
			return value.OfInt4(int32(n))
		}
	case value.Int8:
		return value.OfInt8(n)
	case value.Decimal:
		return value.OfDecimal(n, 0)
	case value.Boolean:
		if n == 0 || n == 1 {
			return value.OfBool(n == 1)
		}
	}
	r.fail(malformed("%d in a column of type %v", n, t))
	return value.Value{}
}

func (r *reader) text(n uint64, t value.Type) value.Value {
	if b := r.take(n); r.is(t, value.Character) {
		return value.OfText(string(b))
	}
	return value.Value{}
}

func (r *reader) octets(n uint64, t value.Type) value.Value {
	if b := r.take(n); r.is(t, value.Octet) {
		return value.OfBytes(b)
	}
	return value.Value{}
}

func (r *reader) bits(n uint64, t value.Type) value.Value {
	if b := r.take((n + 7) / 8); r.is(t, value.Bit) {
		return value.OfBits(b, int(n))
	}
	return value.Value{}
}

const dayNanos = 24 * 60 * 60 * 1_000_000_000

func (r *reader) time(head byte, t value.Type) value.Value {
	var v value.Value
	switch head {
	case headDate:
		v = value.OfDays(r.signed())
	case headTimeOfDay:
		v = value.OfNanosOfDay(r.upTo(dayNanos))
	case headTimePoint:
		seconds := r.signed()
		v = value.OfSeconds(seconds, int32(r.upTo(999_999_999)))
	case headTimeZone:
		nanos := r.upTo(dayNanos)
		v = value.OfNanosOfDayInZone(nanos, int16(r.within(math.MinInt16, math.MaxInt16)))
	default:
		seconds := r.signed()
		nanos := r.upTo(999_999_999)
		v = value.OfSecondsInZone(seconds, int32(nanos), int16(r.within(math.MinInt16, math.MaxInt16)))
	}
	if !r.is(t, v.Type()) {
		return value.Value{}
	}
	return v
}

func (r *reader) upTo(highest uint64) int64 {
	n := r.unsigned()
	if n > highest {
		r.fail(malformed("%d where at most %d can stand", n, highest))
	}
	return int64(n)
}

// reference reads where a large object is: its provider, id and tag.
func (r *reader) reference(head byte, t value.Type) value.Value {
	want := value.Blob
	if head == headClob {
		want = value.Clob
	}
	b := r.take(referenceBytes)
	if !r.is(t, want) {
		return value.Value{}
	}
	return value.OfReference(want, value.Reference{
		Provider: binary.BigEndian.Uint64(b), Object: binary.BigEndian.Uint64(b[8:]),
		Tag: binary.BigEndian.Uint64(b[16:]),
	})
}
