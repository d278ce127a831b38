package component

import (
	"fmt"
	"maps"
	"sync"
)

// Tally counts by name what only a component can tell apart, and tells a person of the 1st of each name, the 10th, the
// 100th and so on. Embedded, it makes a component a Counter whose notices are logged. The zero Tally is ready, and may
// be used by several goroutines at once.
type Tally struct {
	mu      sync.Mutex
	counts  map[string]uint64
	next    map[string]uint64 // when the name is told again
	notices []string          // only grows: a few entries a name
}

// Add counts one of that name; what says, for a person, what has happened. Names are few, and never made of what others
// sent.
func (t *Tally) Add(name, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts, t.next = map[string]uint64{}, map[string]uint64{}
	}
	t.counts[name]++
	n := t.counts[name]
	if n < t.next[name] {
		return
	}
	t.next[name] = 10 * n
	t.notices = append(t.notices, fmt.Sprintf("%s (%s: %d since the start)", what, name, n))
}

// Counts implements Counter.
func (t *Tally) Counts() map[string]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// Notices are what a person should know, oldest first.
func (t *Tally) Notices() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.notices...)
}
