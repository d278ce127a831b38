package push

import "time"

// Stats are the state and the counts of a client at one moment. Counts are since New.
type Stats struct {
	Connections  int // open and taking requests
	Leaving      int // open, only to finish what they have
	Dialing      int // under way
	StreamsUsed  int // requests with the far end
	StreamsLimit int // how many may be there on the open connections
	Waiting      int // requests in the line

	Dials        uint64 // connections begun
	DialFailures uint64 // that came to nothing
	Made         uint64 // connections that were ready to take requests
	Lost         uint64 // connections that ended by a fault
	GoAways      uint64 // goodbyes of the far end
	Resets       uint64 // RST_STREAM of the far end other than REFUSED_STREAM
	Refused      uint64 // RST_STREAM with REFUSED_STREAM
	Resent       uint64 // requests put back into the line because they were not processed
	Expired      uint64 // answered with ErrDeadline
	Canceled     uint64
	Unknown      uint64 // answered with an error although they may have been processed
	Responses    uint64
	Writes       uint64        // pieces written: responses/writes is how well they gather
	Ping         time.Duration // the last round trip of a PING
}

// EventKind is what happened to a connection.
type EventKind uint8

// The kinds of events.
const (
	Dialing    EventKind = iota + 1 // a connection is begun
	DialFailed                      // it came to nothing: Err, and After until the next
	Connected                       // it takes requests
	Settings                        // its limit of streams changed: Streams
	GoAway                          // the far end said goodbye: Err is a *GoAwayError
	Closed                          // it is gone: Err says why; InFlight requests lost their answers
)

func (k EventKind) String() string {
	return [...]string{"", "dialing", "dial failed", "connected", "settings", "goaway", "closed"}[k]
}

// An Event tells what happened to a connection.
type Event struct {
	Kind       EventKind
	Connection int // numbers connections from 1 in the order in which they were begun
	Err        error
	Streams    int
	InFlight   int
	After      time.Duration
}
