package file

import (
	"container/list"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const cacheMinTable = 4 << 10 // smaller ones are read with the record

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
	most int // bytes of all tables together; a single larger one may be there alone

	mu    sync.Mutex
	order list.List // of *cached, the one used last at the front
	at    map[tablePlace]*list.Element
	bytes int
}

// tablePlace tells a group from every other, also after its segment went and another uses its blocks.
type tablePlace struct {
	generation uint64
	position   journal.Position
}

type cached struct {
	at tablePlace
	t  *table
}

func (c *tableCache) get(generation uint64, p journal.Position) *table {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[tablePlace{generation, p}]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).t
}

func (c *tableCache) put(generation uint64, t *table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = make(map[tablePlace]*list.Element)
	}
	at := tablePlace{generation, t.header.position}
	if c.at[at] != nil {
		return
	}
	c.at[at] = c.order.PushFront(&cached{at, t})
	c.bytes += t.bytes()
	for c.bytes > c.most && c.order.Len() > 1 {
		last := c.order.Remove(c.order.Back()).(*cached)
		delete(c.at, last.at)
		c.bytes -= last.t.bytes()
	}
}
