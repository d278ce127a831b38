package http

import (
	"context"
	"net/url"
)

// PastRequest asks how busy something was.
type PastRequest struct {
	What string   // of PastKinds; "": queues
	Of   []string // names, MaxPast at most; of the sum none
}

// Past tells how busy queues, components or doors were in the last 15 minutes: a row for each name, in their order.
func (c *Client) Past(ctx context.Context, r PastRequest) (Past, error) {
	q := url.Values{"of": r.Of}
	if r.What != "" {
		q.Set("what", r.What)
	}
	var p Past
	err := c.call(ctx, "GET", path("-", "past")+"?"+q.Encode(), nil, &p)
	return p, err
}
