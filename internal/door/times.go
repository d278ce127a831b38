package door

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/door/line"
)

// The time that clients have, at every door.
const (
	// HeaderTime is how long what comes before a request may take from its first byte, all together: a handshake, and a
	// request's header.
	HeaderTime = 10 * time.Second
	// BodyTime is how long what a request carries may take, all together, from when its header was complete.
	BodyTime = time.Minute
	// IdleTime is how long a connection may be silent between two requests.
	IdleTime = 2 * time.Minute
	// StallTime is how long a client may take for each StallBytes of an answer.
	StallTime = 10 * time.Second
)

// StallBytes is how much of an answer is written under one deadline.
const StallBytes = line.StallBytes
