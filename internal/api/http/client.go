package http

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// ClientConfig says how to reach a door.
type ClientConfig struct {
	URL    string        // "": http://DefaultListen
	Secret access.Secret // of a user; "": none
	TLS    *tls.Config   // nil: the system's
	HTTP   *http.Client  // nil: one of its own. TLS and Patience are then its business
	// Patience is how long a connection that is refused is tried for again, since NewClient: a server may be starting.
	// 0: not at all.
	Patience time.Duration
}

// Client speaks to a door. Its errors are *Problem when the door said no: with a hint, and with the queue error behind
// it for errors.Is. Methods may be called from any goroutine; each returns soon after its context ends. Names without a
// namespace are in the default one.
type Client struct {
	base   string
	secret access.Secret
	http   *http.Client
	own    bool
}

// NewClient makes a client. It does not connect yet.
func NewClient(c ClientConfig) (*Client, error) {
	base := or(c.URL, "http://"+DefaultListen)
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of a server (http://%s is the default)", c.URL, DefaultListen)
	}
	if strings.ContainsFunc(c.Secret.Reveal(), notHeaderText) {
		return nil, errors.New("the secret has a line break, or another control character, in it: it cannot be sent")
	}
	client := &Client{base: strings.TrimRight(base, "/"), secret: c.Secret, http: c.HTTP}
	if client.http == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = c.TLS
		transport.MaxIdleConnsPerHost = 16
		if c.Patience > 0 {
			transport.DialContext = patient(transport.DialContext, time.Now().Add(c.Patience))
		}
		client.http, client.own = &http.Client{Transport: transport}, true
	}
	return client, nil
}

// redial is how often a connection that is refused is tried for again.
const redial = 20 * time.Millisecond

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// patient is a dial that tries again, until a moment, while it is refused.
func patient(try dial, until time.Time) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		for {
			conn, err := try(ctx, network, address)
			if err == nil || !errors.Is(err, syscall.ECONNREFUSED) || time.Until(until) <= redial {
				return conn, err
			}
			again := time.NewTimer(redial)
			select {
			case <-again.C:
			case <-ctx.Done():
				again.Stop()
				return nil, ctx.Err()
			}
		}
	}
}

// notHeaderText: no header can hold it.
func notHeaderText(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// Close lets go of idle connections.
func (c *Client) Close() {
	if c.own {
		c.http.CloseIdleConnections()
	}
}

// maxAnswer bounds what is read of one answer that is not a stream.
const maxAnswer = 1 << 30

// path makes a path of segments, each escaped.
func path(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

func queuePath(n queue.Name, more ...string) string {
	return path(append([]string{n.Namespace, "queues", n.Name}, more...)...)
}

func topicPath(n queue.Name, more ...string) string {
	return path(append([]string{n.Namespace, "topics", n.Name}, more...)...)
}

// call sends in as JSON (nil: no body) and reads the answer into out (nil: there is none).
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	_, err := c.status(ctx, method, path, in, out)
	return err
}

func (c *Client) status(ctx context.Context, method, path string, in, out any) (int, error) {
	var body io.Reader
	contentType := ""
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return 0, fmt.Errorf("%s %s: %w", method, path, err)
		}
		body, contentType = bytes.NewReader(data), jsonType
	}
	answer, err := c.do(ctx, method, path, contentType, body)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if out == nil {
		return answer.StatusCode, nil
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return 0, fmt.Errorf("%s %s: the answer broke off: %w", method, c.base+path, err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return 0, fmt.Errorf("%s %s: not the answer of a hikyaku server: %w", method, c.base+path, err)
	}
	return answer.StatusCode, nil
}

// do sends a request. An answer that is not 2xx is an error; the caller closes the body of any other.
func (c *Client) do(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if c.secret != "" {
		r.Header.Set("Authorization", "Bearer "+c.secret.Reveal())
	}
	answer, err := c.http.Do(r)
	if err != nil {
		var op *url.Error
		if errors.As(err, &op) {
			err = op.Err // the URL is said once
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("cannot reach the server at %s: %w%s", c.base, err, c.advice(err))
	}
	if answer.StatusCode < 300 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, problemFrom(answer, method+" "+c.base+path)
}

func problemFrom(answer *http.Response, what string) error {
	data, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	var p Problem
	if err == nil && json.Unmarshal(data, &p) == nil && strings.HasPrefix(p.Type, urn) {
		return &p
	}
	if answer.StatusCode == http.StatusBadRequest && strings.Contains(string(data), "HTTP request to an HTTPS server") {
		return fmt.Errorf("%s: the server speaks TLS (try https:// in its address)", what)
	}
	return fmt.Errorf("%s: %s, which is no answer of a hikyaku server", what, answer.Status)
}
