package http

import (
	"context"
	"net/url"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/queue"
)

type putGroup struct {
	Messages []Message `json:"messages"`
}

// Put puts messages as one atomic group.
func (c *Client) Put(ctx context.Context, n queue.Name, msgs ...Message) ([]PutResult, error) {
	return c.put(ctx, queuePath(n, "messages"), msgs)
}

// Publish gives messages to the topic of that name, else to the queue of that name, as one atomic group.
func (c *Client) Publish(ctx context.Context, n queue.Name, msgs ...Message) ([]PutResult, error) {
	return c.put(ctx, topicPath(n, "messages"), msgs)
}

func (c *Client) put(ctx context.Context, path string, msgs []Message) ([]PutResult, error) {
	if len(msgs) == 0 {
		return nil, nil
	}
	var answer putAnswer
	err := c.call(ctx, "POST", path, putGroup{msgs}, &answer)
	return answer.Results, err
}

// Claim claims messages of one queue; none and no error when nothing came in time. Settle each before its Deadline.
func (c *Client) Claim(ctx context.Context, n queue.Name, r ClaimRequest) ([]Claimed, error) {
	var answer struct {
		Messages []Claimed `json:"messages"`
	}
	err := c.call(ctx, "POST", queuePath(n, "claim"), r, &answer)
	return answer.Messages, err
}

// ClaimFrom claims messages of several queues. Queues without a namespace are in the given one.
func (c *Client) ClaimFrom(ctx context.Context, namespace string, r ClaimFromRequest) ([]Claimed, error) {
	var answer struct {
		Messages []Claimed `json:"messages"`
	}
	err := c.call(ctx, "POST", path(namespace, "claim"), r, &answer)
	return answer.Messages, err
}

// Settle ends claims, and answers for each by itself.
func (c *Client) Settle(ctx context.Context, settlements ...Settlement) ([]TokenResult, error) {
	if len(settlements) == 0 {
		return nil, nil
	}
	var answer tokenResults
	err := c.call(ctx, "POST", path(queue.DefaultNamespace, "settle"), settleRequest{settlements}, &answer)
	return answer.Results, err
}

// Extend lets leases end so long from now, and answers for each by itself.
func (c *Client) Extend(ctx context.Context, lease Duration, tokens ...string) ([]TokenResult, error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	var answer tokenResults
	err := c.call(ctx, "POST", path(queue.DefaultNamespace, "extend"), extendRequest{tokens, lease}, &answer)
	return answer.Results, err
}

// PeekRequest asks for messages without claiming them.
type PeekRequest struct {
	Where  string // a condition
	After  uint64 // sequences greater than this
	Max    int    // 0: 100; at most MaxPeek
	Ready  bool   // only what a claim could get now
	NoBody bool
	// MaxBody is how many bytes of a body are wanted at most: see Peeked.BodyBytes. 0: all.
	MaxBody int
}

// Peek looks at messages, in the order of the queue.
func (c *Client) Peek(ctx context.Context, n queue.Name, r PeekRequest) ([]Peeked, error) {
	q := url.Values{}
	if r.Where != "" {
		q.Set("where", r.Where)
	}
	if r.After != 0 {
		q.Set("after", strconv.FormatUint(r.After, 10))
	}
	if r.Max != 0 {
		q.Set("max", strconv.Itoa(r.Max))
	}
	if r.Ready {
		q.Set("ready", "true")
	}
	if r.NoBody {
		q.Set("no_body", "true")
	}
	if r.MaxBody != 0 {
		q.Set("max_body", strconv.Itoa(r.MaxBody))
	}
	most := or(r.Max, 100)
	var all []Peeked
	for {
		var answer struct {
			Messages []Peeked `json:"messages"`
			Next     uint64   `json:"next"` // the answer has not all: it goes on behind this sequence
		}
		if err := c.call(ctx, "GET", queuePath(n, "messages")+"?"+q.Encode(), nil, &answer); err != nil {
			return nil, err
		}
		all = append(all, answer.Messages...)
		if answer.Next == 0 || len(all) >= most {
			return all, nil
		}
		q.Set("after", strconv.FormatUint(answer.Next, 10))
		q.Set("max", strconv.Itoa(most-len(all)))
	}
}
