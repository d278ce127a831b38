package push

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// userAgent is who the requests are from.
const userAgent = "hikyaku-pubsub-push"

// envelope is a wrapped message. Google writes two names with and without underscores, and clients read either.
type envelope struct {
	Message struct {
		Attributes   map[string]string `json:"attributes,omitempty"`
		Data         []byte            `json:"data,omitempty"` // base64
		MessageID    string            `json:"messageId"`
		MessageID2   string            `json:"message_id"`
		OrderingKey  string            `json:"orderingKey,omitempty"`
		PublishTime  string            `json:"publishTime"`
		PublishTime2 string            `json:"publish_time"`
	} `json:"message"`
	Subscription    string `json:"subscription"`
	DeliveryAttempt int    `json:"deliveryAttempt,omitempty"`
}

// timeFormat is that of protocol buffers' JSON.
const timeFormat = "2006-01-02T15:04:05.999999Z"

// request makes the request for a message.
func (p *Pusher) request(ctx context.Context, m Message) (*http.Request, error) {
	body := m.Data
	if !p.config.Unwrapped {
		var err error
		if body, err = p.wrapped(m); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.config.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEndpoint, err)
	}
	r.Header.Set("Content-Type", "application/json")
	if p.config.Unwrapped {
		r.Header.Set("Content-Type", "application/octet-stream")
		if p.config.Metadata {
			p.metadata(r.Header, m)
		}
	}
	r.Header.Set("User-Agent", userAgent)
	if p.config.OIDC != nil {
		r.Header.Set("Authorization", "Bearer "+p.token(time.Now()))
	}
	return r, nil
}

func (p *Pusher) wrapped(m Message) ([]byte, error) {
	var e envelope
	e.Message.Attributes, e.Message.Data, e.Message.OrderingKey = m.Attributes, m.Data, m.OrderingKey
	e.Message.MessageID, e.Message.MessageID2 = m.ID, m.ID
	e.Message.PublishTime = m.PublishTime.UTC().Format(timeFormat)
	e.Message.PublishTime2 = e.Message.PublishTime
	e.Subscription, e.DeliveryAttempt = p.config.Subscription, m.Attempt
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if err := w.Encode(e); err != nil {
		return nil, fmt.Errorf("message %s: %w", m.ID, err)
	}
	return b.Bytes(), nil
}

// ownPrefix begins the headers that tell of the message.
const ownPrefix = "X-Goog-Pubsub-"

// reserved are headers that no attribute may set: they say how the body is to be read and where the request goes, or
// who it is from.
var reserved = map[string]bool{
	"Host": true, "Content-Length": true, "Content-Encoding": true, "Transfer-Encoding": true, "Connection": true,
	"Keep-Alive": true, "Te": true,
	"Trailer": true, "Upgrade": true, "Expect": true, "Proxy-Connection": true, "Proxy-Authorization": true,
	"Authorization": true, "User-Agent": true,
}

// metadata writes a message's attributes and what else is known of it into headers.
func (p *Pusher) metadata(header http.Header, m Message) {
	for name, value := range m.Attributes {
		canonical := http.CanonicalHeaderKey(name)
		if isHeaderName(name) && isHeaderValue(value) && !reserved[canonical] &&
			!strings.HasPrefix(canonical, ownPrefix) {
			header.Set(canonical, value)
		}
	}
	own := func(name, value string) {
		if value != "" && isHeaderValue(value) {
			header.Set(ownPrefix+name, value)
		}
	}
	own("Subscription-Name", p.config.Subscription)
	own("Message-Id", m.ID)
	own("Publish-Time", m.PublishTime.UTC().Format(timeFormat))
	own("Ordering-Key", m.OrderingKey)
	if m.Attempt > 0 {
		own("Delivery-Attempt", strconv.Itoa(m.Attempt))
	}
}

// isHeaderName and isHeaderValue tell what can stand in a header (RFC 9110, 5.1 and 5.5).
func isHeaderName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

func isHeaderValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
