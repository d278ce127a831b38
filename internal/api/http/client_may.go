package http

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// May tells what the client's user may do with a name.
func (c *Client) May(ctx context.Context, n queue.Name) (May, error) {
	var m May
	err := c.call(ctx, "GET", path(n.Namespace, "may", n.Name), nil, &m)
	return m, err
}
