package campaign

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// digits are those of Crockford's Base32, in lower case: their order is that of their bytes.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

const (
	timeDigits   = 9 // of milliseconds: until the year 3084
	randomDigits = 3
)

// newID makes an id that sorts by its time.
func newID(now time.Time) string {
	var b [timeDigits + randomDigits]byte
	ms := uint64(now.UnixMilli())
	for i := timeDigits - 1; i >= 0; i-- {
		b[i] = digits[ms&31]
		ms >>= 5
	}
	var r [4]byte
	_, _ = rand.Read(r[:]) // it never fails
	n := binary.BigEndian.Uint32(r[:])
	for i := timeDigits; i < len(b); i++ {
		b[i] = digits[n&31]
		n >>= 5
	}
	return string(b[:])
}
