package http

import (
	"context"
	"net/url"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Push sends at most MaxPushes messages through a running sink and returns what the far end said of each. wait is for
// its answers; 0: the server's default.
func (c *Client) Push(ctx context.Context, sink string, wait time.Duration, msgs ...Message) ([]PushResult, error) {
	if len(msgs) == 0 {
		return nil, nil
	}
	to := path(queue.DefaultNamespace, "push", sink)
	if wait > 0 {
		to += "?" + url.Values{"timeout": {wait.String()}}.Encode()
	}
	var answer pushAnswer
	err := c.call(ctx, "POST", to, putGroup{msgs}, &answer)
	return answer.Results, err
}
