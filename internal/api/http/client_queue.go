package http

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// CreateQueue makes a queue; created is false when it was there with the same definition. One that is there with
// another definition is queue.ErrExists, with the differences in the Problem.
func (c *Client) CreateQueue(ctx context.Context, n queue.Name, d Definition) (created bool, err error) {
	var s Stats
	status, err := c.status(ctx, "PUT", queuePath(n), d, &s)
	return status == http.StatusCreated, err
}

// AlterQueue changes the fields of a definition that change names ("max_attempts": 5) and leaves the others.
func (c *Client) AlterQueue(ctx context.Context, n queue.Name, change map[string]any) (Stats, error) {
	var s Stats
	err := c.call(ctx, "PATCH", queuePath(n), change, &s)
	return s, err
}

// DeleteQueue deletes a queue with all of its messages.
func (c *Client) DeleteQueue(ctx context.Context, n queue.Name) error {
	return c.call(ctx, "DELETE", queuePath(n), nil, nil)
}

// Stats describes a queue.
func (c *Client) Stats(ctx context.Context, n queue.Name) (Stats, error) {
	var s Stats
	err := c.call(ctx, "GET", queuePath(n), nil, &s)
	return s, err
}

// Queues describes every queue of a namespace, ordered by name.
func (c *Client) Queues(ctx context.Context, namespace string) ([]Stats, error) {
	var all []Stats
	for after := ""; ; {
		var page queueList
		if err := c.call(ctx, "GET", path(namespace, "queues")+"?after="+url.QueryEscape(after), nil,
			&page); err != nil {
			return nil, err
		}
		all = append(all, page.Queues...)
		if page.Next == "" {
			return all, nil
		}
		after = page.Next
	}
}

// CreateTopic makes a topic; created is false when it was there.
func (c *Client) CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (created bool, err error) {
	var s TopicStats
	status, err := c.status(ctx, "PUT", topicPath(n), topicDefinition{labels}, &s)
	return status == http.StatusCreated, err
}

// DeleteTopic deletes a topic. The queues of its subscriptions stay.
func (c *Client) DeleteTopic(ctx context.Context, n queue.Name) error {
	return c.call(ctx, "DELETE", topicPath(n), nil, nil)
}

// TopicStats describes a topic.
func (c *Client) TopicStats(ctx context.Context, n queue.Name) (TopicStats, error) {
	var s TopicStats
	err := c.call(ctx, "GET", topicPath(n), nil, &s)
	return s, err
}

// Topics describes every topic of a namespace, ordered by name.
func (c *Client) Topics(ctx context.Context, namespace string) ([]TopicStats, error) {
	var all []TopicStats
	for after := ""; ; {
		some, next, err := c.TopicsAfter(ctx, namespace, after, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if next == "" {
			return all, nil
		}
		after = next
	}
}

// TopicsAfter describes at most so many topics of a namespace from behind a name on; next is where to go on, "" at the
// end. most 0: as many as the door gives.
func (c *Client) TopicsAfter(ctx context.Context, namespace, after string, most int) (some []TopicStats, next string,
	err error) {
	var page topicList
	q := url.Values{"after": {after}, "max": {strconv.Itoa(most)}}
	err = c.call(ctx, "GET", path(namespace, "topics")+"?"+q.Encode(), nil, &page)
	return page.Topics, page.Next, err
}

// Subscribe makes a queue, in the topic's namespace, that receives what is published to the topic from now on.
func (c *Client) Subscribe(ctx context.Context, topic queue.Name, queueName string, d Definition) (created bool,
	err error) {
	var s Stats
	status, err := c.status(ctx, "PUT", topicPath(topic, "subscriptions", queueName), d, &s)
	return status == http.StatusCreated, err
}

// Unsubscribe deletes the queue of a subscription, with its messages.
func (c *Client) Unsubscribe(ctx context.Context, topic queue.Name, queueName string) error {
	return c.call(ctx, "DELETE", topicPath(topic, "subscriptions", queueName), nil, nil)
}

// Purge deletes every message that is in the queue now and tells how many.
func (c *Client) Purge(ctx context.Context, n queue.Name) (int, error) {
	var p purged
	err := c.call(ctx, "POST", queuePath(n, "purge"), nil, &p)
	return p.Purged, err
}

// Replay sends dead letters again.
func (c *Client) Replay(ctx context.Context, n queue.Name, r ReplayRequest) (Replayed, error) {
	var did Replayed
	err := c.call(ctx, "POST", queuePath(n, "replay"), r, &did)
	return did, err
}

// Live tells whether the server answers.
func (c *Client) Live(ctx context.Context) error {
	return c.call(ctx, "GET", "/livez", nil, &healthAnswer{})
}

// Ready tells whether the server takes messages; the error says why not.
func (c *Client) Ready(ctx context.Context) error {
	return c.call(ctx, "GET", "/readyz", nil, &healthAnswer{})
}
