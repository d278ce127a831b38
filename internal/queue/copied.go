package queue

// copied is which messages a queue has, copied a few pages at a time beside the work, for a snapshot that is about to
// be taken. Taking one then looks only at the pages that changed since they were copied, however long the queue is.
type copied struct {
	users int // callers that are about to take a snapshot
	pages sequences
	next  uint64              // number of the page from which on none is copied yet
	stale map[uint64]struct{} // pages before it that have changed since
}

// beginCopy begins to copy which messages there are, or goes on with what others have begun. Call endCopy.
func (m *messages) beginCopy() *copied {
	if m.copied == nil {
		m.copied = &copied{stale: map[uint64]struct{}{}}
	}
	m.copied.users++
	return m.copied
}

// copyOn copies a piece, and tells whether there is more.
func (m *messages) copyOn(c *copied) (more bool) {
	c.refresh(m, copyPiece)
	return c.more(m, copyPiece)
}

// endCopy lets go of a copy that nobody else needs.
func (m *messages) endCopy(c *copied) {
	if c.users--; c.users == 0 {
		m.copied = nil
	}
}

// changes notes that a page is about to change.
func (c *copied) changes(number uint64) {
	if c != nil && number < c.next {
		c.stale[number] = struct{}{}
	}
}

// refresh copies pages that have changed once more: at most so many.
func (c *copied) refresh(m *messages, most int) {
	for number := range c.stale {
		if most--; most < 0 {
			return
		}
		delete(c.stale, number)
		c.pages.deletePage(number)
		if p, there := m.pages.Get(number); there {
			c.pages.addPage(number, p.there)
		}
	}
}

// more copies the next pages: at most so many. It tells whether there are more.
func (c *copied) more(m *messages, most int) bool {
	for p := range m.pagesFrom(c.next) {
		if most--; most < 0 {
			return true
		}
		c.pages.addPage(p.number, p.there)
		c.next = p.number + 1
	}
	return false
}

// sequences are those of the messages. What was copied ahead is not copied once more.
func (m *messages) sequences() sequences {
	c := m.copied
	if c == nil {
		c = &copied{}
	}
	c.refresh(m, len(c.stale))
	c.more(m, m.pages.Len())
	return sequences{blocks: *c.pages.blocks.Copy(), n: c.pages.n}
}

// copyPiece is how many pages of a queue are copied under one hold of the lock.
const copyPiece = 256
