package http

import "context"

// Component tells all about one step of a pipeline.
func (c *Client) Component(ctx context.Context, name string) (Component, error) {
	var a Component
	err := c.call(ctx, "GET", path("-", "components", name), nil, &a)
	return a, err
}
