// Package avoid remembers the connection on which a far end failed a message, so that it is tried again on another:
//
//	var failed avoid.Failures
//	failed.Add(m.ID, result.Connection, now)                             // answered with a 500 or 503
//	client.StartElsewhere(request, deadline, failed.Take(m.ID), done)    // when the message comes again
//
// It remembers for a minute or two, and not too many; a message that it has forgotten is tried on any connection.
package avoid

import (
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	most = 10_000      // messages in each of two generations
	long = time.Minute // a generation
)

// Failures are the messages that a far end failed lately. The zero value is ready, and it may be used from any
// goroutine.
type Failures struct {
	mu         sync.RWMutex
	young, old map[message.ID]int // the connection's number, which no other connection of the client ever gets
	turned     time.Time
}

// Add notes that a message had a bad answer on a connection. Messages without an id are not told apart, and not noted.
func (f *Failures) Add(id message.ID, connection int, now time.Time) {
	if id.IsZero() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := now.Sub(f.turned); f.young == nil || age >= long || len(f.young) >= most {
		f.young, f.old, f.turned = map[message.ID]int{}, f.young, now
		if age >= 2*long {
			f.old = nil
		}
	}
	f.young[id] = connection
}

// Take tells the connection that a message is to avoid, and forgets it; 0: none.
func (f *Failures) Take(id message.ID) int {
	f.mu.RLock()
	none := len(f.young)+len(f.old) == 0
	f.mu.RUnlock()
	if none {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	connection, ok := f.young[id]
	if !ok {
		connection = f.old[id]
	}
	delete(f.young, id)
	delete(f.old, id)
	return connection
}

// Len is how many messages are remembered.
func (f *Failures) Len() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.young) + len(f.old)
}
