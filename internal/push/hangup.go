package push

import "context"

// HangUp closes at once: what is under way is answered with ErrClosed. When it returns, all goroutines of the client
// have ended.
func (c *Client) HangUp() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.Close(ended) // its error says that requests were cut off, which their callers are told
}
