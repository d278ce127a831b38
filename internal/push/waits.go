package push

import (
	"errors"
	"fmt"
)

var errNoStreams = errors.New("the far end allows no streams (SETTINGS_MAX_CONCURRENT_STREAMS is 0)")

// Waits tells why requests cannot be answered now: no connection comes about, connections end before they answer
// anything, or the far end allows no streams. nil: there are no requests, or nothing of that kind keeps them.
func (c *Client) Waits() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.outstanding == 0:
		return nil
	case len(c.open) == 0 && c.lastFailure != nil:
		return fmt.Errorf("no connection: %w", c.lastFailure)
	case c.useless != nil:
		return fmt.Errorf("%s ended the connection before it answered anything: %w", c.config.Address, c.useless)
	case len(c.open) == 0:
		return nil
	}
	for _, k := range c.open {
		if k.limit() > 0 {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", c.config.Address, errNoStreams)
}
