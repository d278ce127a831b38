package relation

import (
	"encoding/binary"
	"math"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
)

// AppendRow appends a row.
func AppendRow(b []byte, row []value.Value) []byte {
	if n := len(row); n > 0 && n <= maxRow {
		b = append(b, byte(headRow+n-1))
	} else {
		b = unsigned(append(b, headLongRow), uint64(n))
	}
	for _, v := range row {
		b = appendValue(b, v)
	}
	return b
}

func appendValue(b []byte, v value.Value) []byte {
	switch v.Type() {
	case value.Int4, value.Int8, value.Boolean:
		return number(b, v.Int())
	case value.Float4:
		return binary.BigEndian.AppendUint32(append(b, headFloat4), math.Float32bits(v.Float32()))
	case value.Float8:
		return binary.BigEndian.AppendUint64(append(b, headFloat8), math.Float64bits(v.Float()))
	case value.Decimal:
		return decimal(b, v)
	case value.Character:
		return sized(b, v.Text(), headText, maxText, headLongText)
	case value.Octet:
		return sized(b, v.Text(), headOctet, maxOctet, headLongOctet)
	case value.Bit:
		if n := v.Int(); n > 0 && n <= maxBit {
			b = append(b, byte(headBit+n-1))
		} else {
			b = unsigned(append(b, headLongBit), uint64(n))
		}
		return append(b, v.Text()...)
	case value.Date:
		return signed(append(b, headDate), v.Int())
	case value.TimeOfDay:
		return unsigned(append(b, headTimeOfDay), uint64(v.Int()))
	case value.TimePoint:
		return unsigned(signed(append(b, headTimePoint), v.Int()), uint64(v.Nanos()))
	case value.TimeOfDayWithTimeZone:
		return signed(unsigned(append(b, headTimeZone), uint64(v.Int())), int64(v.Zone()))
	case value.TimePointWithTimeZone:
		return signed(unsigned(signed(append(b, headPointZone), v.Int()), uint64(v.Nanos())), int64(v.Zone()))
	case value.Blob, value.Clob:
		return reference(b, v)
	default:
		return append(b, headNull)
	}
}

func number(b []byte, n int64) []byte {
	switch {
	case n >= 0 && n <= maxInline:
		return append(b, byte(n))
	case n < 0 && n >= minNegative:
		return append(b, byte(headOctet+n))
	default:
		return signed(append(b, headInt), n)
	}
}

func decimal(b []byte, v value.Value) []byte {
	if v.Small() {
		if v.Exponent() == 0 {
			return number(b, v.Int())
		}
		return signed(signed(append(b, headCompact), int64(v.Exponent())), v.Int())
	}
	b = signed(append(b, headDecimal), int64(v.Exponent()))
	b = unsigned(b, uint64(len(v.Text())))
	return append(b, v.Text()...)
}

func sized(b []byte, s string, short, most int, long byte) []byte {
	if n := len(s); n > 0 && n <= most {
		b = append(b, byte(short+n-1))
	} else {
		b = unsigned(append(b, long), uint64(n))
	}
	return append(b, s...)
}

func reference(b []byte, v value.Value) []byte {
	head := byte(headBlob)
	if v.Type() == value.Clob {
		head = headClob
	}
	r, ok := v.Reference()
	if !ok {
		return append(b, headNull)
	}
	b = binary.BigEndian.AppendUint64(append(b, head), r.Provider)
	b = binary.BigEndian.AppendUint64(b, r.Object)
	return binary.BigEndian.AppendUint64(b, r.Tag)
}

func unsigned(b []byte, n uint64) []byte {
	for range 8 {
		if n < 0x80 {
			return append(b, byte(n))
		}
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

func signed(b []byte, n int64) []byte { return unsigned(b, uint64(n)<<1^uint64(n>>63)) }
