package relation_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/tsurugi/internal/relation"
	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// values draws any value that a column can have.
func values() *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		n := rapid.Int64().Draw(t, "number")
		switch rapid.SampledFrom([]value.Type{
			value.Null, value.Boolean, value.Int4, value.Int8, value.Float4, value.Float8, value.Decimal,
			value.Character, value.Octet, value.Bit,
			value.Date, value.TimeOfDay, value.TimePoint, value.TimeOfDayWithTimeZone, value.TimePointWithTimeZone,
			value.Blob, value.Clob,
		}).Draw(t, "type") {
		case value.Boolean:
			return value.OfBool(n%2 == 0)
		case value.Int4:
			return value.OfInt4(int32(n))
		case value.Int8:
			return value.OfInt8(n)
		case value.Float4:
			return value.OfFloat4(rapid.Float32().Draw(t, "real"))
		case value.Float8:
			return value.OfFloat8(rapid.Float64().Draw(t, "double"))
		case value.Decimal:
			c := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 17).Draw(t, "coefficient"))
			if n < 0 {
				c.Neg(c)
			}
			return value.OfBigDecimal(c, rapid.Int32().Draw(t, "exponent"))
		case value.Character:
			return value.OfText(strings.Repeat("x", int(uint64(n)%200)))
		case value.Octet:
			return value.OfBytes(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"))
		case value.Bit:
			b := rapid.SliceOfN(rapid.Byte(), 1, 4).Draw(t, "bits")
			return value.OfBits(b, len(b)*8-int(uint64(n)%8))
		case value.Date:
			return value.OfDays(n)
		case value.TimeOfDay:
			return value.OfNanosOfDay(int64(uint64(n) % 86_400_000_000_000))
		case value.TimePoint:
			return value.OfSeconds(n, int32(uint64(n)%1e9))
		case value.TimeOfDayWithTimeZone:
			return value.OfNanosOfDayInZone(int64(uint64(n)%86_400_000_000_000), int16(n%900))
		case value.TimePointWithTimeZone:
			return value.OfSecondsInZone(n, int32(uint64(n)%1e9), int16(n%900))
		case value.Blob:
			return value.OfReference(value.Blob, value.Reference{Provider: 1, Object: uint64(n), Tag: uint64(-n)})
		case value.Clob:
			return value.OfReference(value.Clob, value.Reference{Provider: 2, Object: uint64(n)})
		default:
			return value.Value{}
		}
	})
}

func typesOf(row []value.Value) []value.Type {
	types := make([]value.Type, len(row))
	for i, v := range row {
		types[i] = v.Type()
		if v.IsNull() {
			types[i] = value.Int4
		}
	}
	return types
}

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(values(), 1, 40).Draw(t, "row")
		b := relation.AppendRow(nil, row)
		got, rest, err := relation.ReadRow(nil, append(b, 1, 2, 3), typesOf(row))
		if err != nil || !bytes.Equal(rest, []byte{1, 2, 3}) {
			t.Fatalf("%v, %v behind", err, rest)
		}
		for i := range row {
			if got[i] != row[i] {
				t.Fatalf("got %v, wanted %v", got[i], row[i])
			}
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if _, _, err := relation.ReadRow(nil, b[:cut], typesOf(row)); !errors.Is(err, relation.ErrShort) {
			t.Fatalf("cut after %d of %d bytes: %v", cut, len(b), err)
		}
	})
}

// What TsurugiDB's own programs write, byte for byte.
func TestTheBytesAreTheProtocols(t *testing.T) {
	for _, c := range []struct {
		v    value.Value
		want []byte
	}{
		{value.Value{}, []byte{0xe8}},
		{value.OfInt4(63), []byte{0x3f}},
		{value.OfInt4(64), []byte{0xe9, 0x80, 0x01}},
		{value.OfInt4(-16), []byte{0xc0}},
		{value.OfInt4(-1), []byte{0xcf}},
		{value.OfInt4(-17), []byte{0xe9, 0x21}},
		{value.OfInt8(math.MinInt64), []byte{0xe9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{value.OfFloat4(1), []byte{0xea, 0x3f, 0x80, 0, 0}},
		{value.OfFloat8(-2), []byte{0xeb, 0xc0, 0, 0, 0, 0, 0, 0, 0}},
		{value.OfDecimal(314, -2), []byte{0xec, 0x03, 0xf4, 0x04}},
		{value.OfDecimal(5, 0), []byte{0x05}},
		{value.OfText("a"), []byte{0x40, 'a'}},
		{value.OfText(""), []byte{0xf0, 0}},
		{value.OfBytes([]byte{7}), []byte{0xd0, 7}},
		{value.OfDays(1), []byte{0xf3, 2}},
		{value.OfNanosOfDay(1), []byte{0xf4, 1}},
		{value.OfSeconds(-1, 2), []byte{0xf5, 1, 2}},
		{value.OfNanosOfDayInZone(1, 9), []byte{0xee, 1, 18}},
		{value.OfSecondsInZone(1, 2, -1), []byte{0xef, 2, 2, 1}},
	} {
		if got := relation.AppendRow(nil, []value.Value{c.v}); !bytes.Equal(got, append([]byte{0x80}, c.want...)) {
			t.Errorf("%v: % x, wanted % x", c.v, got[1:], c.want)
		}
	}
	wide := make([]value.Value, 33)
	if got := relation.AppendRow(nil, wide); !bytes.Equal(got[:2], []byte{0xf8, 33}) {
		t.Errorf("a row of 33 columns begins with % x", got[:2])
	}
}

func TestRowsThatAreNoneAreRefused(t *testing.T) {
	for what, c := range map[string]struct {
		b []byte
		t []value.Type
	}{
		"not a row":      {[]byte{0x05}, []value.Type{value.Int4}},
		"another number": {[]byte{0x81, 1, 1}, []value.Type{value.Int4}},
		"another type":   {[]byte{0x80, 0x40, 'a'}, []value.Type{value.Int4}},
		"more than an INT": {relation.AppendRow(nil, []value.Value{value.OfInt8(1 << 40)}),
			[]value.Type{value.Int4}},
		"an array":         {[]byte{0x80, 0xa0}, []value.Type{value.Int4}},
		"an unknown entry": {[]byte{0x80, 0xf7}, []value.Type{value.Int4}},
		"more nanoseconds": {[]byte{0x80, 0xf5, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}, []value.Type{value.TimePoint}},
		"text longer than memory": {[]byte{0x80, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
			[]value.Type{value.Character}},
	} {
		if _, _, err := relation.ReadRow(nil, append(c.b, make([]byte, 16)...), c.t); !errors.Is(err,
			wire.ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, rest, err := relation.ReadRow(nil, []byte{0xfe, 1}, nil); !errors.Is(err, relation.ErrEnd) || len(rest) != 1 {
		t.Errorf("the end: %v", err)
	}
}

func FuzzReadRow(f *testing.F) {
	f.Add(relation.AppendRow(nil, []value.Value{value.OfInt4(5), value.OfText("x"), value.OfDecimal(7, -1)}),
		[]byte{4, 9, 8})
	f.Add(relation.AppendRow(nil, []value.Value{value.OfBits([]byte{1}, 3), value.OfSecondsInZone(1, 2, 3)}),
		[]byte{13, 20})
	f.Fuzz(func(t *testing.T, b, types []byte) {
		columns := make([]value.Type, len(types))
		for i, n := range types {
			columns[i] = value.Type(n)
		}
		row, _, err := relation.ReadRow(nil, b, columns)
		if err != nil {
			return
		}
		again, rest, err := relation.ReadRow(nil, relation.AppendRow(nil, row), columns)
		if err != nil || len(rest) > 0 {
			t.Fatalf("%v cannot be read again: %v", row, err)
		}
		for i := range row {
			if row[i] != again[i] {
				t.Fatalf("%v is read again as %v", row[i], again[i])
			}
		}
	})
}
