package mysql

import (
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// counts are what a door has done since it was opened.
type counts struct {
	statements                           atomic.Int64 // sent as text, or prepared and executed
	waits, ends, aborts, rowids, sources atomic.Int64 // calls of the functions

	mu     sync.Mutex
	tables map[queue.Name]*tableCounts
}

// tableCounts are Q4M's figures of a table that the queue itself does not count.
type tableCounts struct {
	immediate, delayed, timeout atomic.Int64 // how waits ended
	aborted, closed             atomic.Int64 // how rows came back
}

// maxCounted is how many tables are counted. Names of tables that are gone are forgotten with all others.
const maxCounted = 10_000

// of is what is counted of a table, by its full name.
func (c *counts) of(n queue.Name) *tableCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[n]
	if t == nil {
		if len(c.tables) >= maxCounted || c.tables == nil {
			c.tables = map[queue.Name]*tableCounts{}
		}
		t = new(tableCounts)
		c.tables[n] = t
	}
	return t
}

// waited counts a wait that ended. place is that of the table that yielded a row, from 1; 0: none did.
func (s *session) waited(wishes []wish, place int, delayed bool) {
	counted := func(w wish) *tableCounts { return s.door.counts.of(s.door.store.Resolve(w.queue)) }
	switch {
	case place > 0 && delayed:
		counted(wishes[place-1]).delayed.Add(1)
	case place > 0:
		counted(wishes[place-1]).immediate.Add(1)
	default:
		for _, w := range wishes {
			counted(w).timeout.Add(1)
		}
	}
}

// ownedGoesBack counts the row that is owned, if there is one, as one that comes back.
func (s *session) ownedGoesBack(how func(*tableCounts) *atomic.Int64) {
	if _, h := s.seat.now(); h != nil {
		how(s.door.counts.of(h.queue)).Add(1)
	}
}
