package http

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// Trace tells where a message has been.
func (c *Client) Trace(ctx context.Context, id string) (Journey, error) {
	var j Journey
	err := c.call(ctx, "GET", path("-", "trace", id), nil, &j)
	return j, err
}

// SlowestRequest asks for the messages that took longest.
type SlowestRequest struct {
	Queue string        // in this queue; "": in any
	Sink  string        // at this sink, by its longest request; "": everywhere
	Last  time.Duration // that did something in the last so long; 0: an hour
	Max   int           // 0: 10
}

// Slowest tells which messages took longest.
func (c *Client) Slowest(ctx context.Context, r SlowestRequest) (Slowest, error) {
	q := url.Values{"slowest": {strconv.Itoa(or(r.Max, 10))}}
	if r.Queue != "" {
		q.Set("queue", r.Queue)
	}
	if r.Sink != "" {
		q.Set("sink", r.Sink)
	}
	if r.Last > 0 {
		q.Set("last", r.Last.String())
	}
	var s Slowest
	err := c.call(ctx, "GET", path("-", "trace")+"?"+q.Encode(), nil, &s)
	return s, err
}
