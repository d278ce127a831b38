package http

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Message is a message to put. At most one of Body, BodyBase64 and JSON is set; without any the body is empty.
type Message struct {
	ID         string             `json:"id,omitempty"` // a UUID; "": the queue makes one
	Body       *string            `json:"body,omitempty"`
	BodyBase64 *string            `json:"body_base64,omitempty"`
	JSON       json.RawMessage    `json:"json,omitempty"`
	Attributes message.Attributes `json:"attributes,omitempty"`
	Key        string             `json:"key,omitempty"` // messages of one key keep their order
	// a second put of it within the queue's window puts nothing
	Dedup     string     `json:"dedup,omitempty"`
	Delay     *Duration  `json:"delay,omitempty"`      // sleeps so long
	NotBefore *time.Time `json:"not_before,omitempty"` // or until then
	Expires   *time.Time `json:"expires,omitempty"`    // dropped if not claimed by then
	ExpiresIn *Duration  `json:"expires_in,omitempty"` // the same, from now
}

// NewMessage makes a message of any bytes.
func NewMessage(body []byte) Message {
	var m Message
	m.Body, m.BodyBase64 = textOrBase64(body)
	return m
}

func textOrBase64(body []byte) (text, encoded *string) {
	if utf8.Valid(body) {
		s := string(body)
		return &s, nil
	}
	s := base64.StdEncoding.EncodeToString(body)
	return nil, &s
}

// message makes what a queue takes. Its errors are for the sender.
func (m *Message) message(now time.Time) (message.Message, error) {
	out := message.Message{
		Key: m.Key, Dedup: m.Dedup,
		Attributes: m.Attributes,
	}
	out.Hops.Mark(message.Accepted, now)
	var err error
	if m.ID != "" {
		if out.ID, err = message.ParseID(m.ID); err != nil || out.ID.IsZero() {
			return out, fmt.Errorf("id: %.60q is no UUID", m.ID)
		}
	}
	if out.Body, err = m.bytes(); err != nil {
		return out, err
	}
	switch {
	case m.Delay != nil && m.NotBefore != nil:
		return out, errors.New("delay and not_before say the same thing: keep one")
	case m.Delay != nil:
		out.NotBefore = now.Add(time.Duration(*m.Delay))
	case m.NotBefore != nil:
		out.NotBefore = *m.NotBefore
	}
	switch {
	case m.ExpiresIn != nil && m.Expires != nil:
		return out, errors.New("expires and expires_in say the same thing: keep one")
	case m.ExpiresIn != nil:
		out.Expires = now.Add(time.Duration(*m.ExpiresIn))
	case m.Expires != nil:
		out.Expires = *m.Expires
	}
	return out, nil
}

func (m *Message) bytes() ([]byte, error) {
	given := 0
	for _, is := range []bool{m.Body != nil, m.BodyBase64 != nil, m.JSON != nil} {
		if is {
			given++
		}
	}
	if given > 1 {
		return nil, errors.New("body, body_base64 and json are three ways to say the body: keep one")
	}
	switch {
	case m.Body != nil:
		return []byte(*m.Body), nil
	case m.BodyBase64 != nil:
		b, err := base64.StdEncoding.DecodeString(*m.BodyBase64)
		if err != nil {
			return nil, fmt.Errorf("body_base64: %w", err)
		}
		return b, nil
	case m.JSON != nil:
		var b bytes.Buffer
		if err := json.Compact(&b, m.JSON); err != nil {
			return nil, fmt.Errorf("json: %w", err)
		}
		return b.Bytes(), nil
	}
	return nil, nil
}

// PutResult is what became of one message that was put.
type PutResult struct {
	ID        string `json:"id"`
	Sequence  uint64 `json:"sequence,omitempty"` // its place in the queue; none for what was published to a topic
	Duplicate bool   `json:"duplicate,omitempty"`
	Unheard   bool   `json:"unheard,omitempty"` // the topic has no subscription: it was dropped
}

func putResult(r queue.PutResult) PutResult {
	return PutResult{ID: r.ID.String(), Sequence: r.Sequence, Duplicate: r.Duplicate, Unheard: r.Unheard}
}

// Death tells why a message is a dead letter.
type Death struct {
	Queue    string    `json:"queue,omitempty"` // it was taken from
	Step     string    `json:"step,omitempty"`  // of a pipeline
	Reason   string    `json:"reason"`
	Attempts int       `json:"attempts"`
	Time     time.Time `json:"time"`
}

// Content is a message as it comes out. Bytes returns its body.
type Content struct {
	ID         string             `json:"id"`
	Body       *string            `json:"body,omitempty"`
	BodyBase64 *string            `json:"body_base64,omitempty"`
	JSON       json.RawMessage    `json:"json,omitempty"` // the row, in a queue with columns
	Attributes message.Attributes `json:"attributes,omitempty"`
	Key        string             `json:"key,omitempty"`
	Dedup      string             `json:"dedup,omitempty"`
	Time       *time.Time         `json:"time,omitempty"` // when it was published
	Expires    *time.Time         `json:"expires,omitempty"`
	Death      *Death             `json:"death,omitempty"`
}

// Bytes returns the body, however it was written.
func (c *Content) Bytes() ([]byte, error) {
	return (&Message{Body: c.Body, BodyBase64: c.BodyBase64, JSON: c.JSON}).bytes()
}

// content shows a message; row says that body is a JSON object of columns.
func content(m *message.Message, body []byte, row bool) Content {
	c := Content{
		ID: m.ID.String(), Attributes: showable(m.Attributes), Key: m.Key, Dedup: m.Dedup,
		Time: timeOrNil(m.Time), Expires: timeOrNil(m.Expires),
	}
	if row && json.Valid(body) {
		c.JSON = body
	} else {
		c.Body, c.BodyBase64 = textOrBase64(body)
	}
	if d := m.Death; d != nil {
		c.Death = &Death{Queue: d.Queue, Step: d.Step, Reason: d.Reason, Attempts: d.Attempts, Time: d.Time}
	}
	return c
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// showable replaces values that JSON has no form for (a float that is no finite number, a time beyond the year 9999) by
// their text, so that such a message can still be taken.
func showable(attributes message.Attributes) message.Attributes {
	if _, err := attributes.MarshalJSON(); err == nil {
		return attributes
	}
	shown := slices.Clone(attributes)
	for i, a := range shown {
		if _, err := a.Value.MarshalJSON(); err != nil {
			shown[i].Value = message.String(a.Value.Text())
		}
	}
	return shown
}
