package file

import (
	"container/list"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const (
	cacheBytes    = 16 << 20 // all tables together; a single larger one may be there alone
	cacheMinTable = 4 << 10  // smaller ones are read with the record
)

// table is the verified front of a group: all that is needed to find its records. It is not changed once it was made.
type table struct {
	header  header
	meta    []byte
	entries []entry
}

func (t *table) bytes() int { return len(t.meta) + 64*len(t.entries) }

// tableCache keeps the tables of large groups that were read last, so that reading a large group one record at a time
// does not read its table each time.
type tableCache struct {
	mu    sync.Mutex
	order list.List // of *table, the one used last at the front
	at    map[journal.Position]*list.Element
	bytes int
}

func (c *tableCache) get(p journal.Position) *table {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[p]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*table)
}

func (c *tableCache) put(t *table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = make(map[journal.Position]*list.Element)
	}
	p := t.header.position
	if c.at[p] != nil {
		return
	}
	c.at[p] = c.order.PushFront(t)
	c.bytes += t.bytes()
	for c.bytes > cacheBytes && c.order.Len() > 1 {
		last := c.order.Remove(c.order.Back()).(*table)
		delete(c.at, last.header.position)
		c.bytes -= last.bytes()
	}
}
