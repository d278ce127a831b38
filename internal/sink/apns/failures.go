package apns

import (
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	mostFailed = 10_000      // messages in each of two generations
	failedFor  = time.Minute // a generation
)

// failures knows the connection on which the far end failed a message, so that it is tried again on another. What it forgets is tried on
// any. The zero value is ready.
type failures struct {
	mu         sync.RWMutex
	young, old map[message.ID]int // the connection's number, which no other connection ever gets
	turned     time.Time
}

// add notes that a message had a bad answer on a connection.
func (f *failures) add(id message.ID, connection int, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := now.Sub(f.turned); f.young == nil || age >= failedFor || len(f.young) >= mostFailed {
		f.young, f.old, f.turned = map[message.ID]int{}, f.young, now
		if age >= 2*failedFor {
			f.old = nil
		}
	}
	f.young[id] = connection
}

// take tells the connection that a message is to avoid, and forgets it; 0: none.
func (f *failures) take(id message.ID) int {
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
