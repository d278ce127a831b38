package http

import (
	"context"
	"net/url"
	"time"
)

func deadPath(sink string, more ...string) string {
	return path(append([]string{"-", "push", "dead", sink}, more...)...)
}

// DeadSinks are the server's sinks that remember dead devices, ordered by name.
func (c *Client) DeadSinks(ctx context.Context) ([]DeadSink, error) {
	var list deadSinkList
	err := c.call(ctx, "GET", path("-", "push", "dead"), nil, &list)
	return list.Sinks, err
}

// DeadTotals counts the dead devices of a sink that are meant, by cause and day. A token cannot be selected.
func (c *Client) DeadTotals(ctx context.Context, sink string, s DeadSelection) (DeadTotals, error) {
	q := url.Values{}
	for name, value := range map[string]string{"app": s.App, "of": s.Of, "reason": s.Reason} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if s.Since != nil {
		q.Set("since", s.Since.Format(time.RFC3339))
	}
	var t DeadTotals
	err := c.call(ctx, "GET", deadPath(sink)+"?"+q.Encode(), nil, &t)
	return t, err
}

// FindDead tells whether a token is dead for a sink.
func (c *Client) FindDead(ctx context.Context, sink string, s DeadSelection) (DeadDevice, error) {
	var d DeadDevice
	err := c.call(ctx, "POST", deadPath(sink, "find"), s, &d)
	return d, err
}

// Reload has the server read its configuration again.
func (c *Client) Reload(ctx context.Context, r ReloadRequest) (Reloaded, error) {
	var did Reloaded
	err := c.call(ctx, "POST", path("-", "reload"), r, &did)
	return did, err
}

// ReviveDead takes deaths back.
func (c *Client) ReviveDead(ctx context.Context, sink string, r ReviveRequest) (Revived, error) {
	var did Revived
	err := c.call(ctx, "POST", deadPath(sink, "revive"), r, &did)
	return did, err
}
