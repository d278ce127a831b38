package http

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Pusher sends through the sinks of the pipelines; *pipeline.Pipeline is one. Its errors are pipeline.ErrNoSink and
// pipeline.ErrNotRunning.
type Pusher interface {
	PushSinks() []string
	Push(ctx context.Context, sink string, deadline time.Time, msgs []*message.Message) ([]component.Answer, error)
}

// Bounds of pushes.
const (
	MaxPushes     = 100              // messages in one request
	mostPushing   = 10_000           // under way at once, in all requests
	pushTimeout   = 10 * time.Second // for the far end's answers, where the request does not say
	mostPushWait  = time.Minute
	mostPushBytes = 1 << 20 // of one request's bodies: those of the largest pushes are some 5 KB
)

func pushMessages(c *call) error {
	sink, err := c.pushSink()
	if err != nil {
		return err
	}
	if err := c.only("timeout"); err != nil {
		return err
	}
	wait, err := c.pushWait()
	if err != nil {
		return err
	}
	if t, err := c.mediaType(); err != nil {
		return err
	} else if t != jsonType {
		return badType.problemf("the body is %s", or(t, "of no Content-Type")).
			withHint(`send {"attributes": {"token": "…"}, "json": {…}} with Content-Type: application/json`)
	}
	data, err := c.body(true)
	if err != nil {
		return err
	}
	msgs, many, err := decodePut(data, c.started)
	if err != nil {
		return err
	}
	ready, err := pushable(msgs, c.started)
	if err != nil {
		return err
	}
	answers, err := c.push(sink, wait, ready)
	if err != nil {
		return err
	}
	results := make([]PushResult, len(answers))
	for i, a := range answers {
		results[i] = pushResult(ready[i], a)
	}
	if !many {
		return c.w.json(http.StatusOK, results[0])
	}
	return c.w.json(http.StatusOK, pushAnswer{results})
}

// pushSink is the sink of the path. Sinks are the configuration's, and so in the default namespace: a grant on another
// one is none on them.
func (c *call) pushSink() (string, error) {
	sink := c.r.PathValue("sink")
	n := c.d.store.Resolve(queue.Name{Namespace: c.r.PathValue("ns"), Name: sink})
	if err := c.may(access.Push, n); err != nil {
		return "", err
	}
	var names []string
	if c.d.pusher != nil && n.Namespace == queue.DefaultNamespace {
		names = c.d.pusher.PushSinks()
	}
	for _, name := range names {
		if name == sink {
			return sink, nil
		}
	}
	hint := "this server has no sink that pushes (of type apns, fcm, hms, webpush or wns)"
	if n.Namespace != queue.DefaultNamespace {
		hint = "sinks are in the namespace " + queue.DefaultNamespace
	} else if len(names) > 0 {
		hint = "sinks that push here: " + strings.Join(names, ", ")
	}
	return "", noSink.problemf("there is no sink %.100q that pushes", sink).withHint(hint)
}

func (c *call) pushWait() (time.Duration, error) {
	text := c.r.URL.Query().Get("timeout")
	if text == "" {
		return pushTimeout, nil
	}
	d, err := ParseDuration(text)
	if err != nil {
		return 0, badRequest.problemf("timeout: %v", err)
	}
	if wait := time.Duration(d); wait > 0 && wait <= mostPushWait {
		return wait, nil
	}
	return 0, badRequest.problemf("timeout is %.40s: it must be more than 0 and at most %v", text, mostPushWait)
}

// pushable refuses what has a meaning in queues alone, and makes messages of the others that sinks can send.
func pushable(msgs []message.Message, now time.Time) ([]*message.Message, error) {
	if len(msgs) > MaxPushes {
		return nil, badRequest.problemf("%d messages, the most are %d", len(msgs), MaxPushes).
			withHint("send several requests, or publish to the queue that the sink takes from")
	}
	ready, bytes := make([]*message.Message, len(msgs)), 0
	for i := range msgs {
		m := &msgs[i]
		if m.Key != "" || m.Dedup != "" || !m.NotBefore.IsZero() {
			return nil, badRequest.problemf("messages[%d]: key, dedup, delay and not_before are for queues", i)
		}
		if bytes += len(m.Body); bytes > mostPushBytes {
			return nil, bodyTooLarge.problemf("the payloads have more than %d bytes together", mostPushBytes)
		}
		if m.ID.IsZero() {
			m.ID = message.NewID()
		}
		m.Time = now
		ready[i] = m
	}
	return ready, nil
}

// push sends within the door's bound and waits for the answers.
func (c *call) push(sink string, wait time.Duration, msgs []*message.Message) ([]component.Answer, error) {
	n := int64(len(msgs))
	defer c.d.pushing.Add(-n)
	if c.d.pushing.Add(n) > mostPushing {
		return nil, tooManyPushes.problemf("%d pushes are under way", mostPushing)
	}
	answers, err := c.d.pusher.Push(c.ctx(), sink, time.Now().Add(wait), msgs)
	switch {
	case errors.Is(err, pipeline.ErrNoSink):
		return nil, noSink.problem(err.Error())
	case errors.Is(err, pipeline.ErrNotRunning):
		return nil, notReady.problem(err.Error()).withHint("they start with the server: see its log")
	}
	return answers, err
}
