package http

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// putter is Store.Put or Store.Publish for one name.
type putter struct {
	name queue.Name
	put  func(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error)
	c    *call
}

func putMessages(c *call) error {
	n, err := c.on(access.Put, "queue")
	if err != nil {
		return err
	}
	return c.putOrStream(putter{n, c.d.store.Put, c})
}

func publishMessages(c *call) error {
	n, err := c.on(access.Put, "topic")
	if err != nil {
		return err
	}
	return c.putOrStream(putter{n, c.d.store.Publish, c})
}

// do puts one atomic group and feeds the hops.
func (p putter) do(ctx context.Context, msgs []message.Message) ([]queue.PutResult, error) {
	if parent := p.c.r.Header.Get("Traceparent"); parent != "" {
		for i := range msgs {
			p.c.d.trace.Spans().Carry(&msgs[i], parent, p.c.r.Header.Get("Tracestate"))
		}
	}
	results, err := p.put(ctx, p.name, msgs)
	if err != nil {
		return nil, err
	}
	now := time.Now().UnixNano()
	for i := range msgs {
		p.c.d.metrics.Hop(p.name, message.Durable, time.Duration(max(0, now-msgs[i].Hops[message.Accepted])))
	}
	return results, nil
}

func (c *call) putOrStream(p putter) error {
	t, err := c.mediaType()
	if err != nil {
		return err
	}
	switch t {
	case jsonType:
		return c.putJSON(p)
	case "application/x-ndjson", "application/ndjson", "application/jsonl":
		return c.putStream(p)
	case "application/x-www-form-urlencoded", "multipart/form-data":
		return badType.problemf("the body is %s", t).
			withHint("with curl, add -H 'Content-Type: text/plain' for the body as it is, or application/json for a " +
				"JSON object")
	}
	return c.putRaw(p)
}

func (c *call) putJSON(p putter) error {
	if err := c.only(); err != nil {
		return err
	}
	data, err := c.body(true)
	if err != nil {
		return err
	}
	msgs, many, err := decodePut(data, c.started)
	if err != nil {
		return err
	}
	results, err := p.do(c.ctx(), msgs)
	if err != nil {
		return err
	}
	if !many {
		return c.w.json(http.StatusOK, putResult(results[0]))
	}
	answer := putAnswer{Results: make([]PutResult, len(results))}
	for i, r := range results {
		answer.Results[i] = putResult(r)
	}
	return c.w.json(http.StatusOK, answer)
}

type putAnswer struct {
	Results []PutResult `json:"results"`
}

// decodePut reads {"messages": […]} or one message.
func decodePut(data []byte, now time.Time) (msgs []message.Message, many bool, err error) {
	var group struct {
		Messages *[]Message `json:"messages"`
	}
	var one Message
	if isGroup(data) {
		if err := decode(data, &group); err != nil {
			return nil, true, err
		}
		if group.Messages == nil || len(*group.Messages) == 0 {
			return nil, true, badRequest.problem("messages is empty").withHint(`{"messages": [{"body": "hello"}]}`)
		}
	} else {
		if err := decode(data, &one); err != nil {
			return nil, false, err
		}
		m, err := one.message(now)
		if err != nil {
			return nil, false, badRequest.problem(err.Error())
		}
		return []message.Message{m}, false, nil
	}
	msgs = make([]message.Message, len(*group.Messages))
	for i := range *group.Messages {
		if msgs[i], err = (*group.Messages)[i].message(now); err != nil {
			return nil, true, badRequest.problemf("messages[%d]: %v", i, err)
		}
	}
	return msgs, true, nil
}

// isGroup looks whether the first key of an object is messages: a group has no other.
func isGroup(data []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	t, err := dec.Token()
	return err == nil && t == "messages"
}

// putRaw takes the body as it is; everything else of the message stands in the query.
func (c *call) putRaw(p putter) error {
	if err := c.only("id", "key", "dedup", "delay", "not_before", "expires", "expires_in", "attribute"); err != nil {
		return err
	}
	wire, err := messageOfQuery(c.r.URL.Query())
	if err != nil {
		return badRequest.problem(err.Error())
	}
	m, err := wire.message(c.started)
	if err != nil {
		return badRequest.problem(err.Error())
	}
	if m.Body, err = c.body(false); err != nil {
		return err
	}
	results, err := p.do(c.ctx(), []message.Message{m})
	if err != nil {
		return err
	}
	return c.w.json(http.StatusOK, putResult(results[0]))
}

func messageOfQuery(q url.Values) (Message, error) {
	m := Message{ID: q.Get("id"), Key: q.Get("key"), Dedup: q.Get("dedup")}
	for _, d := range []struct {
		name string
		to   **Duration
	}{{"delay", &m.Delay}, {"expires_in", &m.ExpiresIn}} {
		if text := q.Get(d.name); text != "" {
			v, err := ParseDuration(text)
			if err != nil {
				return m, fmt.Errorf("%s: %w", d.name, err)
			}
			*d.to = &v
		}
	}
	for _, t := range []struct {
		name string
		to   **time.Time
	}{{"not_before", &m.NotBefore}, {"expires", &m.Expires}} {
		if text := q.Get(t.name); text != "" {
			v, err := message.ParseTime(text)
			if err != nil {
				return m, fmt.Errorf("%s: %w", t.name, err)
			}
			*t.to = &v
		}
	}
	for _, text := range q["attribute"] {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return m, fmt.Errorf("attribute=%.60q: write attribute=NAME=VALUE", text)
		}
		m.Attributes.Set(name, message.String(value))
	}
	return m, nil
}
