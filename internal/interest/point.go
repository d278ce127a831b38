package interest

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/message"
)

// point is a canonical key with its image.
type point struct {
	image uint64
	key   message.Value
}

func pointOf(key message.Value) point { return point{imageOf(key), key} }

// The images of ends that are not given. No key's image is before any other than its own order says.
const (
	before = 0              // less than every key's
	beyond = math.MaxUint64 // at least every key's
)

// imageOf maps keys to numbers that are compared in one step, and never turns their order round: numbers, then times, then texts.
// Different keys may have one image; then the keys themselves decide.
func imageOf(key message.Value) uint64 {
	const numbers, times, texts = 1 << 62, 2 << 62, 3 << 62
	switch key.Kind() {
	case message.KindTime:
		return times | (uint64(key.AsTime().UnixMicro())^1<<63)>>2
	case message.KindString:
		var b [8]byte
		copy(b[:], key.AsString())
		return texts | binary.BigEndian.Uint64(b[:])>>2
	}
	bits := math.Float64bits(floatOf(key))
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return numbers | bits>>2
}

// floatOf is the float next to a number; it keeps their order.
func floatOf(key message.Value) float64 {
	switch key.Kind() {
	case message.KindInt:
		return float64(key.AsInt())
	case message.KindUint:
		return float64(key.AsUint())
	case message.KindFloat:
		return key.AsFloat()
	}
	f, err := strconv.ParseFloat(key.AsString(), 64)
	if err != nil && math.IsInf(f, 0) { // beyond all floats, but not infinite
		return math.Copysign(math.MaxFloat64, f)
	}
	return f
}
