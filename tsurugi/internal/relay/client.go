package relay

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// Config says how the relay is reached.
type Config struct {
	Endpoint string        // in place of the one that the server names
	TLS      *tls.Config   // of a secure relay; nil: the system's authorities
	Most     int           // bytes that a message may have
	Timeout  time.Duration // for connecting, and for a sign of life of a relay that says nothing
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Client puts and gets the large objects of one session.
type Client struct {
	session   uint64
	base      string // URL
	chunk     int    // bytes that a message has at most on its way to the relay
	most      int
	transport *http.Transport
	ended     context.Context
	end       context.CancelFunc
}

// mostChunk is the bytes of a message that servers of gRPC take unless they are told otherwise, by a margin.
const mostChunk = 1 << 20

// New returns a client, which connects when it has something to do.
func New(info *message.Relay, cfg Config) (*Client, error) {
	if info.Medium != "streaming" {
		return nil, fmt.Errorf("tsurugi: the server's relay is of the kind %q; only streaming is known", info.Medium)
	}
	endpoint := cfg.Endpoint
	if endpoint == "" {
		endpoint = info.Endpoint
	}
	address := strings.TrimPrefix(endpoint, "dns:///")
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("tsurugi: the relay's endpoint %q is not of the form host:port or dns:///host:port",
			endpoint)
	}
	c := &Client{session: info.Session, base: "http://" + address, chunk: mostChunk, most: cfg.Most}
	if n, err := strconv.Atoi(info.Params["stream_chunk_size"]); err == nil && n > 0 {
		c.chunk = min(c.chunk, n)
	}
	c.ended, c.end = context.WithCancel(context.Background())
	c.transport = &http.Transport{TLSClientConfig: cfg.TLS, Protocols: new(http.Protocols),
		HTTP2: &http.HTTP2Config{SendPingTimeout: cfg.Timeout, PingTimeout: cfg.Timeout, WriteByteTimeout: cfg.Timeout},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
			defer cancel()
			conn, err := cfg.Dial(ctx, network, address)
			if err == nil {
				context.AfterFunc(c.ended, func() { _ = conn.Close() }) // whatever is on its way
			}
			return conn, err
		}}
	if info.Secure {
		c.base = "https://" + address
		c.transport.Protocols.SetHTTP2(true)
	} else {
		c.transport.Protocols.SetUnencryptedHTTP2(true)
	}
	return c, nil
}

// Close closes the connections. What is on its way fails.
func (c *Client) Close() { c.end() }

// An Error is the relay's word on a call; the code is gRPC's.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("tsurugi: the relay: %s (code %d)", e.Message, e.Code)
}

// A SourceError is that of the reader whose bytes were to be put.
type SourceError struct{ Err error }

func (e *SourceError) Error() string { return "tsurugi: reading a large object: " + e.Err.Error() }

func (e *SourceError) Unwrap() error { return e.Err }

// Put sends what r reads, up to its end. It does not return before a Read of r that has begun.
func (c *Client) Put(ctx context.Context, r io.Reader) (wire.RelayReference, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	head := message.RelayPart{Head: true, API: message.RelayAPI, Session: c.session}
	up := &upload{from: r, buf: make([]byte, c.chunk), closed: make(chan struct{}),
		frame: AppendFrame(nil, head.AppendUpload)}
	up.left = up.frame
	ref, err := c.put(ctx, up)
	cancel()
	<-up.closed
	switch {
	case up.err != nil && up.err != io.EOF && err != nil:
		err = &SourceError{up.err}
	case err == nil && (up.err == nil || len(up.left) > 0): // what it keeps is not the object
		err = fmt.Errorf("%w: the relay answers before it has the whole object", wire.ErrMalformed)
	}
	return ref, err
}

func (c *Client) put(ctx context.Context, up *upload) (wire.RelayReference, error) {
	none := wire.RelayReference{}
	a, err := c.call(ctx, PutPath, up)
	if err != nil {
		return none, err
	}
	defer a.close()
	b, err := a.next()
	if err == io.EOF {
		err = fmt.Errorf("%w: the relay does not say where it has put an object", wire.ErrMalformed)
	}
	if err != nil {
		return none, err
	}
	ref, err := message.ParseRelayed(b)
	if err != nil {
		return none, err
	}
	if _, err = a.next(); err != io.EOF { // the call's status comes behind
		if err == nil {
			err = fmt.Errorf("%w: two answers of the relay to one upload", wire.ErrMalformed)
		}
		return none, err
	}
	return ref, nil
}

// Get returns the bytes of an object that a result set of a transaction has named. The context bounds the reading.
func (c *Client) Get(ctx context.Context, tx uint64, ref wire.RelayReference) (io.ReadCloser, error) {
	g := message.RelayGet{API: message.RelayAPI, Tx: tx, Object: ref}
	a, err := c.call(ctx, GetPath, io.NopCloser(strings.NewReader(string(AppendFrame(nil, g.Append)))))
	if err != nil {
		return nil, err
	}
	o := &object{a: a}
	if o.err = o.fill(); o.err != nil && o.err != io.EOF { // what is refused is so at once
		a.close()
		return nil, o.err
	}
	return o, nil
}

// call makes a call whose messages, in their frames, are the body.
func (c *Client) call(ctx context.Context, path string, body io.ReadCloser) (*answers, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, body)
	if err != nil {
		_ = body.Close() // nobody else does
		return nil, fmt.Errorf("tsurugi: the relay: %w", err)
	}
	r.Header.Set("Content-Type", ContentType)
	r.Header.Set("Te", "trailers")
	response, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("tsurugi: the relay at %s: %w", c.base, err)
	}
	a := &answers{response: response, most: c.most}
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), ContentType) {
		a.close()
		return nil, fmt.Errorf("%w: the relay at %s does not speak gRPC: %s", wire.ErrMalformed, c.base,
			response.Status)
	}
	return a, nil
}

// answers are what comes back of a call.
type answers struct {
	response *http.Response
	most     int
}

func (a *answers) close() { _ = a.response.Body.Close() } // what is there has been read, or nobody wants it

// next is the next message; the error is io.EOF after the last one of a call that succeeded.
func (a *answers) next() ([]byte, error) {
	b, err := ReadFrame(a.response.Body, a.most)
	switch {
	case err == nil:
		return b, nil
	case err != io.EOF:
		return nil, fmt.Errorf("tsurugi: the relay: %w", err)
	}
	end := a.response.Trailer
	if end.Get("Grpc-Status") == "" {
		end = a.response.Header // of a call without messages
	}
	code, err := strconv.Atoi(end.Get("Grpc-Status"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("tsurugi: the relay: the answer ends without a status: %w", io.ErrUnexpectedEOF)
	case code == 0:
		return nil, io.EOF
	}
	text, err := url.PathUnescape(end.Get("Grpc-Message"))
	if err != nil {
		text = end.Get("Grpc-Message")
	}
	return nil, &Error{code, text}
}
