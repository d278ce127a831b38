package push

// SetNextStream lets the open connections go on with that stream.
func SetNextStream(c *Client, next uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.open {
		k.next = next
	}
}
