package message

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// Params are values for placeholders: each value is for the placeholder at its place. They hold the caller's slices, so
// that many rows cost no copy.
type Params struct {
	Holders []Placeholder // of those that were parsed, the type is not known
	Values  []value.Value
}

// field numbers of a Param's value.
const (
	paramName      = 2
	paramBool      = 11
	paramInt4      = 14
	paramInt8      = 15
	paramFloat4    = 16
	paramFloat8    = 17
	paramDecimal   = 18
	paramCharacter = 19
	paramOctet     = 21
	paramBit       = 23
	paramDate      = 25
	paramTime      = 26
	paramPoint     = 27
	paramTimeZone  = 29
	paramPointZone = 30
	paramClob      = 31
	paramBlob      = 32
)

// append appends each parameter as field num, which is less than 16. Without a value it is NULL. channels are those of
// large objects, in their order. This is most of what the client does for a row, so nothing is called for a field whose
// length is known.
func (ps *Params) append(b []byte, num protowire.Number, channels []string) []byte {
	tag := byte(protowire.EncodeTag(num, protowire.BytesType))
	for i, v := range ps.Values {
		channel := ""
		if t := v.Type(); t == value.Blob || t == value.Clob {
			channel, channels = channels[0], channels[1:]
		}
		b = append(b, tag, 0)
		start := len(b)
		b = wire.Text(b, paramName, ps.Holders[i].Name)
		b = wire.EndDelimited(appendValue(b, v, channel), start)
	}
	return b
}

const float8Tag = paramFloat8<<3 | uint16(protowire.Fixed64Type)

func appendValue(b []byte, v value.Value, channel string) []byte {
	switch v.Type() {
	case value.Boolean:
		b = protowire.AppendTag(b, paramBool, protowire.VarintType)
		return protowire.AppendVarint(b, uint64(v.Int()))
	case value.Int4:
		b = protowire.AppendTag(b, paramInt4, protowire.VarintType)
		return protowire.AppendVarint(b, protowire.EncodeZigZag(v.Int()))
	case value.Int8:
		b = protowire.AppendTag(b, paramInt8, protowire.VarintType)
		return protowire.AppendVarint(b, protowire.EncodeZigZag(v.Int()))
	case value.Float4:
		b = protowire.AppendTag(b, paramFloat4, protowire.Fixed32Type)
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Float32()))
	case value.Float8:
		b = append(b, byte(float8Tag|0x80), byte(float8Tag>>7))
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case value.Decimal:
		return wire.Nested(b, paramDecimal, func(b []byte) []byte {
			b = wire.Nested(b, 1, v.AppendTwos)
			return wire.Uint(b, 2, uint64(int64(v.Exponent())))
		})
	case value.Character:
		return wire.Always(b, paramCharacter, v.Text())
	case value.Octet:
		return wire.Always(b, paramOctet, v.Text())
	case value.Bit:
		return wire.Nested(b, paramBit, func(b []byte) []byte {
			return wire.Uint(wire.Text(b, 1, v.Text()), 2, uint64(v.Int()))
		})
	case value.Date:
		b = protowire.AppendTag(b, paramDate, protowire.VarintType)
		return protowire.AppendVarint(b, protowire.EncodeZigZag(v.Int()))
	case value.TimeOfDay:
		b = protowire.AppendTag(b, paramTime, protowire.VarintType)
		return protowire.AppendVarint(b, uint64(v.Int()))
	case value.TimePoint:
		return wire.Nested(b, paramPoint, func(b []byte) []byte { return appendPoint(b, v) })
	case value.TimeOfDayWithTimeZone:
		return wire.Nested(b, paramTimeZone, func(b []byte) []byte {
			return wire.Uint(wire.Uint(b, 1, uint64(v.Int())), 2, protowire.EncodeZigZag(int64(v.Zone())))
		})
	case value.TimePointWithTimeZone:
		return wire.Nested(b, paramPointZone, func(b []byte) []byte {
			return wire.Uint(appendPoint(b, v), 3, protowire.EncodeZigZag(int64(v.Zone())))
		})
	case value.Clob:
		return wire.Nested(b, paramClob, func(b []byte) []byte { return wire.Text(b, 2, channel) })
	case value.Blob:
		return wire.Nested(b, paramBlob, func(b []byte) []byte { return wire.Text(b, 2, channel) })
	default:
		return b
	}
}

func appendPoint(b []byte, v value.Value) []byte {
	b = wire.Uint(b, 1, protowire.EncodeZigZag(v.Int()))
	return wire.Uint(b, 2, uint64(v.Nanos()))
}

// parse reads a parameter and adds it. A large object comes as the name of its channel.
func (ps *Params) parse(b []byte) error {
	var holder Placeholder
	var of value.Value
	err := wire.Fields(b, func(f wire.Field) error {
		if f.Num == paramName {
			holder.Name = f.String()
			return nil
		}
		v, ok, err := parseValue(f)
		if ok {
			of = v
		}
		return err
	})
	ps.Holders, ps.Values = append(ps.Holders, holder), append(ps.Values, of)
	return err
}

func parseValue(f wire.Field) (v value.Value, ok bool, err error) {
	switch f.Num {
	case paramBool:
		v = value.OfBool(f.Int != 0)
	case paramInt4:
		v = value.OfInt4(int32(protowire.DecodeZigZag(f.Int)))
	case paramInt8:
		v = value.OfInt8(protowire.DecodeZigZag(f.Int))
	case paramFloat4:
		v = value.OfFloat4(math.Float32frombits(uint32(f.Int)))
	case paramFloat8:
		v = value.OfFloat8(math.Float64frombits(f.Int))
	case paramCharacter:
		v = value.OfText(f.String())
	case paramOctet:
		v = value.OfBytes(f.Bytes)
	case paramDate:
		v = value.OfDays(protowire.DecodeZigZag(f.Int))
	case paramTime:
		v = value.OfNanosOfDay(int64(f.Int))
	case paramDecimal, paramBit, paramPoint, paramTimeZone, paramPointZone, paramClob, paramBlob:
		v, err = parseParts(f)
	default:
		return v, false, nil
	}
	return v, true, err
}

// parseParts reads a value that is a message of up to three fields.
func parseParts(f wire.Field) (value.Value, error) {
	var text []byte
	var nums [4]uint64
	err := wire.Fields(f.Bytes, func(f wire.Field) error {
		if f.Bytes != nil {
			text = f.Bytes
		}
		if f.Num < 4 {
			nums[f.Num] = f.Int
		}
		return nil
	})
	switch f.Num {
	case paramDecimal:
		return value.OfTwos(text, int32(nums[2])), err
	case paramBit:
		return value.OfBits(text, int(nums[2])), err
	case paramPoint:
		return value.OfSeconds(protowire.DecodeZigZag(nums[1]), int32(nums[2])), err
	case paramTimeZone:
		return value.OfNanosOfDayInZone(int64(nums[1]), int16(protowire.DecodeZigZag(nums[2]))), err
	case paramPointZone:
		return value.OfSecondsInZone(protowire.DecodeZigZag(nums[1]), int32(nums[2]),
			int16(protowire.DecodeZigZag(nums[3]))), err
	case paramClob:
		return value.OfClobFile(string(text)), err
	default:
		return value.OfBlobFile(string(text)), err
	}
}
