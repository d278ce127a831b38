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
	// MaxBytes is how many bytes an answer has: it ends behind the message that goes beyond. 0: 8 MiB.
	MaxBytes int
}

// Peek looks at messages, in the order of the queue, by as many requests as that takes.
func (c *Client) Peek(ctx context.Context, n queue.Name, r PeekRequest) (all []Peeked, err error) {
	for most := or(r.Max, 100); ; {
		r.Max = most - len(all)
		page, next, err := c.PeekPage(ctx, n, r)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if next == 0 || len(all) >= most {
			return all, nil
		}
		r.After = next
	}
}

// PeekPage is Peek by one request. next is what After has to be for those that are missing of Max; 0: none is.
func (c *Client) PeekPage(ctx context.Context, n queue.Name, r PeekRequest) (page []Peeked, next uint64, err error) {
	q := url.Values{}
	if r.Where != "" {
		q.Set("where", r.Where)
	}
	for name, value := range map[string]uint64{"after": r.After, "max": uint64(r.Max), "max_body": uint64(r.MaxBody),
		"max_bytes": uint64(r.MaxBytes)} {
		if value != 0 {
			q.Set(name, strconv.FormatUint(value, 10))
		}
	}
	for name, is := range map[string]bool{"ready": r.Ready, "no_body": r.NoBody} {
		if is {
			q.Set(name, "true")
		}
	}
	var answer struct {
		Messages []Peeked `json:"messages"`
		Next     uint64   `json:"next"`
	}
	err = c.call(ctx, "GET", queuePath(n, "messages")+"?"+q.Encode(), nil, &answer)
	return answer.Messages, answer.Next, err
}
