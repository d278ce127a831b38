package http

import (
	"context"
	"net/url"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func snapshotPath(n queue.Name) string { return path(n.Namespace, "snapshots", n.Name) }

// Seek takes a queue to a time or to a snapshot.
func (c *Client) Seek(ctx context.Context, n queue.Name, to SeekRequest) (Sought, error) {
	var did Sought
	err := c.call(ctx, "POST", queuePath(n, "seek"), to, &did)
	return did, err
}

// CreateSnapshot takes a snapshot of a queue. queue.ErrSnapshot: there is one of that name.
func (c *Client) CreateSnapshot(ctx context.Context, n queue.Name, r SnapshotRequest) (Snapshot, error) {
	var s Snapshot
	err := c.call(ctx, "PUT", snapshotPath(n), r, &s)
	return s, err
}

// Snapshot describes a snapshot.
func (c *Client) Snapshot(ctx context.Context, n queue.Name) (Snapshot, error) {
	var s Snapshot
	err := c.call(ctx, "GET", snapshotPath(n), nil, &s)
	return s, err
}

// DeleteSnapshot deletes a snapshot, and with it the settled messages that nothing else keeps.
func (c *Client) DeleteSnapshot(ctx context.Context, n queue.Name) error {
	return c.call(ctx, "DELETE", snapshotPath(n), nil, nil)
}

// Snapshots describes every snapshot of a namespace, ordered by name.
func (c *Client) Snapshots(ctx context.Context, namespace string) ([]Snapshot, error) {
	var all []Snapshot
	for after := ""; ; {
		var page snapshotList
		if err := c.call(ctx, "GET", path(namespace, "snapshots")+"?after="+url.QueryEscape(after), nil,
			&page); err != nil {
			return nil, err
		}
		all = append(all, page.Snapshots...)
		if page.Next == "" {
			return all, nil
		}
		after = page.Next
	}
}
