package lambda

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/lambda/sign"
)

// ClientConfig says which door a Client speaks to.
type ClientConfig struct {
	URL     string // "": http://127.0.0.1:9001
	User    string // "": requests are not signed
	Secret  access.Secret
	Region  string      // that they are signed for; "": us-east-1
	Service string      // the same; "": lambda
	TLS     *tls.Config // nil: the system's
}

// Client speaks to a door, for the command. Its methods may be called from any goroutine.
type Client struct {
	config ClientConfig
	web    *http.Client
}

// NewClient makes a client. It connects nothing yet.
func NewClient(c ClientConfig) (*Client, error) {
	if c.URL == "" {
		c.URL = "http://" + DefaultListen
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of a door: http://HOST:PORT is one", shortened(c.URL))
	}
	c.URL = strings.TrimRight(c.URL, "/")
	c.Region, c.Service = cmp.Or(c.Region, "us-east-1"), cmp.Or(c.Service, "lambda")
	return &Client{c, &http.Client{Transport: &http.Transport{TLSClientConfig: c.TLS, DisableCompression: true}}}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.web.CloseIdleConnections() }

// Do makes a request. The caller closes the answer's body. An answer that is an error is an *Error.
func (c *Client) Do(ctx context.Context, method, path string, body []byte, headers map[string]string) (*http.Response,
	error) {
	r, err := http.NewRequestWithContext(ctx, method, c.config.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	if c.config.User != "" {
		sign.Request(r, body, c.config.User, c.config.Secret.Reveal(), c.config.Region, c.config.Service, time.Now())
	}
	answer, err := c.web.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode < http.StatusMultipleChoices {
		return answer, nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return nil, err
	}
	var said struct {
		Message string
		Type    string `json:"__type"` // as services say it that have no header for it
	}
	if json.Unmarshal(text, &said) != nil || said.Message == "" {
		said.Message = answer.Status
	}
	name := cmp.Or(answer.Header.Get("X-Amzn-Errortype"), said.Type[strings.LastIndexByte(said.Type, '#')+1:])
	return nil, &Error{Name: name, Status: answer.StatusCode, Message: said.Message}
}

// mostTime is how long a request may take that asks for nothing but an answer in JSON.
const mostTime = 2 * time.Minute

// JSON makes a request and reads its answer into out, if it is not nil. It waits for two minutes at most.
func (c *Client) JSON(ctx context.Context, method, path string, in, out any) error {
	return c.json(ctx, method, path, map[string]string{"Content-Type": "application/json"}, in, out)
}

// Call is JSON for the services that take a call by its name in a header, as SQS does: AmazonSQS.ListQueues.
func (c *Client) Call(ctx context.Context, name string, in, out any) error {
	return c.json(ctx, http.MethodPost, "/", map[string]string{"Content-Type": "application/x-amz-json-1.0",
		"X-Amz-Target": name}, in, out)
}

func (c *Client) json(ctx context.Context, method, path string, headers map[string]string, in, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, mostTime, errSilent)
	defer cancel()
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	answer, err := c.Do(ctx, method, path, body, headers)
	if err != nil {
		return silent(ctx, err)
	}
	defer answer.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		return silent(ctx, fmt.Errorf("read the door's answer: %w", err))
	}
	return nil
}

var errSilent = fmt.Errorf("the door has not answered for %v", mostTime)

// silent tells of a door that did not answer in time as such: "context deadline exceeded" says whose time that was to
// nobody.
func silent(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// Functions tells about functions and their instances.
func (c *Client) Functions(ctx context.Context) (out FunctionsAnswer, err error) {
	err = c.JSON(ctx, http.MethodGet, "/"+own+"/functions", nil, &out)
	return out, err
}

// Log reads the newest lines of a function's log and, with follow, what comes, until ctx ends or each fails.
func (c *Client) Log(ctx context.Context, name string, lines int, follow bool, each func(LineAnswer) error) error {
	q := url.Values{"lines": {itoa(lines)}}
	if follow {
		q.Set("follow", "true")
	}
	answer, err := c.Do(ctx, http.MethodGet, "/"+own+"/functions/"+url.PathEscape(name)+"/log?"+q.Encode(), nil, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	in := json.NewDecoder(answer.Body)
	for {
		var l LineAnswer
		if err := in.Decode(&l); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := each(l); err != nil {
			return err
		}
	}
}

// Invoked is the answer of an invocation.
type Invoked struct {
	Status  int
	Version string
	Error   string // Handled or Unhandled; "": none
	Advice  string // what can be done about the error
	Log     string // the end of the log, in base64
	Payload []byte
}

// Invoke invokes a function; kind is RequestResponse, Event or DryRun.
func (c *Client) Invoke(ctx context.Context, name, kind string, payload []byte, tail bool) (Invoked, error) {
	how := map[string]string{"X-Amz-Invocation-Type": kind}
	if tail {
		how["X-Amz-Log-Type"] = "Tail"
	}
	answer, err := c.Do(ctx, http.MethodPost, "/2015-03-31/functions/"+url.PathEscape(name)+"/invocations", payload,
		how)
	if err != nil {
		return Invoked{}, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	h := answer.Header
	return Invoked{answer.StatusCode, h.Get("X-Amz-Executed-Version"), h.Get("X-Amz-Function-Error"),
		h.Get(adviceHeader), h.Get("X-Amz-Log-Result"), body}, err
}
