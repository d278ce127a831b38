package message

import (
	crypto "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

// ID names a message for its whole life, through fan-out, retries, dead letters and replays. It is a UUIDv7.
// The zero ID means that none was given yet; the queue makes one at the first put.
type ID [16]byte

// NewID makes a fresh id from the present time and randomness. It sorts behind all that this process has made before.
func NewID() ID {
	var id [1]ID
	ids.fill(id[:])
	return id[0]
}

// NewIDs fills a slice with what as many calls of NewID would give, in their order, for little more than one of them.
func NewIDs(made []ID) { ids.fill(made) }

// ParseID reads the usual text form.
func ParseID(s string) (ID, error) {
	u, err := uuid.Parse(s)
	return ID(u), err
}

// String is the usual text form: 36 characters.
func (id ID) String() string { return uuid.UUID(id).String() }

// Append appends the text form of String.
func (id ID) Append(b []byte) []byte {
	for i, c := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b = append(b, '-')
		}
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return b
}

// IsZero tells whether no id was given.
func (id ID) IsZero() bool { return id == ID{} }

// ids makes the ids of this process: their order is a promise of all of it, whoever asks.
var ids generator

// generator makes UUIDs of version 7 (RFC 9562): 48 bits of milliseconds, 12 bits for what is less, and 62 bits of
// randomness.
type generator struct {
	mu sync.Mutex
	// the moment that the last one shows: milliseconds since 1970, and in the lower 12 bits what is less, in 256 ns
	last   int64
	random *rand.ChaCha8 // of a seed that nobody knows; nil: none was made yet
}

// fill makes ids. Moments that were used are left behind, also when the clock was set back.
func (g *generator) fill(made []ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.random == nil {
		var seed [32]byte
		crypto.Read(seed[:]) // it does not fail
		g.random = rand.NewChaCha8(seed)
	}
	const perMilli = int64(time.Millisecond)
	nanos := time.Now().UnixNano()
	at := max(g.last+1, nanos/perMilli<<12|nanos%perMilli>>8)
	for i := range made {
		const version, variant = 7 << 12, 2 << 62
		binary.BigEndian.PutUint64(made[i][:], uint64(at)>>12<<16|version|uint64(at)&0xfff)
		binary.BigEndian.PutUint64(made[i][8:], g.random.Uint64()>>2|variant)
		at++
	}
	g.last = at - 1
}
