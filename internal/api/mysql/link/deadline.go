package link

import "time"

// past is a deadline that ends a read at once.
var past = time.Unix(1, 0)

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *Conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readEnd, c.writeEnd = t, t
	if err := c.setRead(); err != nil {
		return err
	}
	return c.setWrite()
}

// SetReadDeadline sets when a Read fails. The handshake's end holds beside it. While a watch goes on it only takes
// effect after it.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readEnd = t
	return c.setRead()
}

// SetWriteDeadline sets when a Write fails. The time-out of each write holds beside it.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeEnd = t
	return c.setWrite()
}

// setRead puts the read deadline that holds now into force.
func (c *Conn) setRead() error {
	if c.watch != nil {
		return nil // the watch's end does it
	}
	return c.raw.SetReadDeadline(soonest(c.readEnd, c.readyBy))
}

// setWrite puts the write deadline that holds for a write beginning now into force.
func (c *Conn) setWrite() error {
	by := soonest(c.writeEnd, c.readyBy)
	if c.stall >= 0 {
		by = soonest(by, time.Now().Add(c.stall))
	}
	return c.raw.SetWriteDeadline(by)
}

// soonest is the earlier of two deadlines; zero is none.
func soonest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
