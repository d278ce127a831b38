package rest

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	failuresOut   = 5 // for an outage
	firstOutage   = time.Second
	longestOutage = 30 * time.Second
)

// Outage finds out whether answers such as 500 and 503 are the far end's: one may be about its message, but several, to
// several messages and with none taken between them, say that the far end takes nothing. It is for a far end that the
// configuration names, not a message: for that nobody else's messages should wait.
type Outage struct {
	failures atomic.Int32 // to other messages each time, since one was taken

	mu    sync.Mutex
	last  uint64 // of the message
	until time.Time
	rest  time.Duration
}

// Failed notes such an answer to a message. 0: it is a try of that message. Else the far end is not to be sent anything
// for so long, longer each time, and the message has not been tried. Answers to what was under way when a rest began
// lengthen none.
func (o *Outage) Failed(now time.Time, id message.ID) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch last := binary.BigEndian.Uint64(id[8:]); {
	case o.failures.Load() == 0:
		o.last, o.rest, o.until = last, 0, time.Time{}
		o.failures.Store(1)
	case last != o.last && o.failures.Load() < failuresOut:
		o.last = last
		o.failures.Add(1)
	}
	if o.failures.Load() < failuresOut {
		return 0
	}
	if left := o.until.Sub(now); left > 0 {
		return left
	}
	o.rest = min(max(2*o.rest, firstOutage), longestOutage)
	o.until = now.Add(o.rest)
	return o.rest
}

// Worked notes that a message was taken.
func (o *Outage) Worked() {
	if o.failures.Load() != 0 {
		o.failures.Store(0)
	}
}
