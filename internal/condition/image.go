package condition

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Image maps keys (see View.Key) to numbers that are compared in one step and never turns their order, CompareKeys',
// round: numbers, then times, then texts. Different keys may have one image; then the keys themselves decide. Every
// image is greater than 0 and less than math.MaxUint64.
func Image(key message.Value) uint64 {
	const numbers, times, texts = 1 << 62, 2 << 62, 3 << 62
	switch key.Kind() {
	case message.KindTime:
		return times | (uint64(key.AsTime().UnixMicro())^1<<63)>>2
	case message.KindString:
		var b [8]byte
		copy(b[:], key.AsString())
		return texts | binary.BigEndian.Uint64(b[:])>>2
	}
	bits := math.Float64bits(floatNextTo(key))
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return numbers | bits>>2
}

// floatNextTo is the float next to a number; it keeps their order.
func floatNextTo(key message.Value) float64 {
	switch key.Kind() {
	case message.KindInt:
		return float64(key.AsInt())
	case message.KindUint:
		return float64(key.AsUint())
	case message.KindFloat:
		if key.AsFloat() == 0 {
			return 0 // not -0, which equals it
		}
		return key.AsFloat()
	}
	f, err := strconv.ParseFloat(key.AsString(), 64)
	if err != nil && math.IsInf(f, 0) { // beyond all floats, but not infinite
		return math.Copysign(math.MaxFloat64, f)
	}
	return f
}
