package message

import (
	"strconv"
	"time"
)

// Hop is a named, timed step of a message's journey.
type Hop uint8

// The hops, in the order of a journey.
const (
	Accepted    Hop = iota // a door or source has it
	Durable                // the journal has it: it survives a power cut
	Claimed                // handed to a reader
	Transformed            // ready to leave: decoded, looked up, reshaped
	Sent                   // the last byte of the request left
	Settled                // the far end has answered and the queue has forgotten it durably
	HopCount    = int(Settled) + 1
)

var hopNames = [HopCount]string{"accepted", "durable", "claimed", "transformed", "sent", "settled"}

func (h Hop) String() string {
	if int(h) < HopCount {
		return hopNames[h]
	}
	return "hop " + strconv.Itoa(int(h))
}

// Hops are the instants at which a message passed each hop, in nanoseconds since 1970; 0 means not passed (or not
// known: what happened before a restart is known only as far as the journal tells).
type Hops [HopCount]int64

// Mark notes that h was passed at t.
func (hs *Hops) Mark(h Hop, t time.Time) { hs[h] = t.UnixNano() }

// Since returns the time from the last known hop before h to h; ok is false when either is not known.
// A clock that was set back gives 0, never a negative duration.
func (hs *Hops) Since(h Hop) (d time.Duration, ok bool) {
	if hs[h] == 0 {
		return 0, false
	}
	for p := int(h) - 1; p >= 0; p-- {
		if hs[p] != 0 {
			return time.Duration(max(0, hs[h]-hs[p])), true
		}
	}
	return 0, false
}
