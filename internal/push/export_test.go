package push

import "time"

// SetNextStream lets the open connections go on with that stream.
func SetNextStream(c *Client, next uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.open {
		k.next = next
	}
}

// Freeze keeps a client from everything for a while, as a process that is stopped does.
func Freeze(c *Client, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	time.Sleep(d)
}
