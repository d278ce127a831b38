package push

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/api/sqs"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/harness/sqsclient"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// openSQSDoor opens the SQS door over a store, on a port of loopback that it finds. Whoever opens it closes it.
func openSQSDoor(ctx context.Context, s *queue.Store) (harness.Door, net.Addr, error) {
	d, err := sqs.New(sqs.Config{Listen: "127.0.0.1:0"}, sqs.Options{Store: s})
	if err != nil {
		return nil, nil, err
	}
	addr, err := d.Start(ctx)
	return d, addr, err
}

// collector sends messages of ten users each to queues of an SQS server, as the first half of the report's system does.
type collector struct {
	post  *sqsclient.Post
	lines []*sqsclient.Line
}

// collectorLines is how many requests it has under way.
const collectorLines = 4

func newCollector(ctx context.Context, addr string) (*collector, error) {
	p, err := sqsclient.OpenPost(ctx, harness.CaseOurs, addr, nil)
	if err != nil {
		return nil, err
	}
	c := &collector{post: p}
	for range collectorLines {
		l, err := sqsclient.OpenLine(ctx, p.Host)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s at %s: %w", p.Name, p.Host, err), c.Close())
		}
		c.lines = append(c.lines, l)
	}
	return c, nil
}

func (c *collector) Close() error {
	var errs []error
	for _, l := range c.lines {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// url is that of a queue that is there.
func (c *collector) url(name string) (string, error) {
	var found struct {
		URL string `json:"QueueUrl"`
	}
	err := c.post.Ask("GetQueueUrl", map[string]any{"QueueName": name}, &found)
	return found.URL, err
}

// prepare makes the requests that send so many messages to a queue, with users from 1.
func (c *collector) prepare(url string, messages int) ([][]byte, error) {
	type entry struct {
		ID   string `json:"Id"`
		Body string `json:"MessageBody"`
	}
	var requests [][]byte
	for i := 0; i < messages; i += sqsclient.Most {
		var entries []entry
		for j := i; j < min(i+sqsclient.Most, messages); j++ {
			entries = append(entries,
				entry{strconv.Itoa(j), string(workMessage(j*usersOfMessage+1, usersOfMessage).Body)})
		}
		text, err := json.Marshal(map[string]any{"QueueUrl": url, "Entries": entries})
		if err != nil {
			return nil, err
		}
		requests = append(requests, text)
	}
	return requests, nil
}

// send sends what was prepared.
func (c *collector) send(ctx context.Context, requests [][]byte) error {
	var next atomic.Int64
	return harness.Crowd(ctx, len(c.lines), func(ctx context.Context, i int) error {
		for ctx.Err() == nil {
			n := int(next.Add(1)) - 1
			if n >= len(requests) {
				return nil
			}
			answer, err := c.lines[i].Ask("SendMessageBatch", requests[n])
			if err != nil {
				return fmt.Errorf("%s at %s: %w", c.post.Name, c.post.Host, err)
			}
			if _, _, failed := sqsclient.TextOf(`"Code"`, answer); failed {
				return fmt.Errorf("%s at %s: %w: SendMessageBatch: %.300s", c.post.Name, c.post.Host,
					sqsclient.ErrRefused, answer)
			}
		}
		return ctx.Err()
	})
}

// ready is what a seedProgram says when it expects a trial's messages.
type ready struct {
	Ready bool `json:"ready"`
}

// seedProgram is a program that receives from a queue what a collector sends, pushes to the users and says what that
// took.
type seedProgram struct {
	*harness.Talker
	url string                    // of its queue
	say func(messages int) string // the line that asks for a trial
}

// trial lets a program work through so many messages. They are sent when it has said that it expects them.
func (c *collector) trial(ctx context.Context, r seedProgram, messages int) (took pushed, err error) {
	requests, err := c.prepare(r.url, messages)
	if err != nil {
		return took, err
	}
	if err := r.Ask(r.say(messages), new(ready)); err != nil {
		return took, err
	}
	if err := c.send(ctx, requests); err != nil {
		return took, err
	}
	return took, r.Hear(&took)
}
