package interest

import (
	"math"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// point is a canonical key with its image.
type point struct {
	image uint64
	key   message.Value
}

func pointOf(key message.Value) point { return point{condition.Image(key), key} }

// The images of ends that are not given. No key's image is before any other than its own order says.
const (
	before = 0              // less than every key's
	beyond = math.MaxUint64 // at least every key's
)
