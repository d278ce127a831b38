package http

import (
	"context"
	"net/url"
	"strconv"
)

// TopRequest asks how busy queues, components and doors are.
type TopRequest struct {
	Sort   string // of TopSorts; "": the busiest queues first
	Filter string // only what has this in its name; "": all
	Max    int    // rows of each table; 0: 50
	// Queues are the only ones that are told, as namespace/name, at most MaxTopQueues; nil: all.
	Queues []string
}

// Top tells how busy queues, components and doors are. Rates are known from the second time on that somebody asks
// within a minute.
func (c *Client) Top(ctx context.Context, r TopRequest) (Top, error) {
	q := url.Values{}
	if r.Sort != "" {
		q.Set("sort", r.Sort)
	}
	if r.Filter != "" {
		q.Set("filter", r.Filter)
	}
	if r.Max > 0 {
		q.Set("max", strconv.Itoa(r.Max))
	}
	if len(r.Queues) > 0 {
		q["queue"] = r.Queues
	}
	var t Top
	err := c.call(ctx, "GET", path("-", "top")+"?"+q.Encode(), nil, &t)
	return t, err
}
