package topic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/rest"
	"github.com/hikyaku/hikyaku/internal/push/token"
)

// Config says for which project members are changed.
type Config struct {
	AccountFile string // the service account's key, as JSON
	Project     string // its id; "": that of the account
	Endpoint    string // host:port; "": Google's
	TokenURL    string // where access tokens are to be had; "": as the account says
	CAFile      string // certificates to trust instead of the system's
	Proxy       string // as outbound.ProxyFor has it
}

const (
	google = "fcm.googleapis.com:443"
	scope  = "https://www.googleapis.com/auth/firebase.messaging"
	// AtOnce is how many requests are under way at once.
	AtOnce    = 100
	tries     = 4
	firstWait = 500 * time.Millisecond // before the second try, with full jitter; then twice as long each time
	longest   = time.Minute            // that a far end may ask to wait
	maxAnswer = 16 << 10
)

// A name is of these, up to maxName: with the number in the expression this would be nine hundred times as large.
var name = regexp.MustCompile(`^[a-zA-Z0-9_.~%-]+$`)

const maxName = 900

// Refusal is an answer of FCM that changes nothing.
type Refusal struct {
	Status  int
	Code    string // as NOT_FOUND or UNREGISTERED; "": it has none
	Message string
	after   time.Duration
}

func (e *Refusal) Error() string {
	text := fmt.Sprintf("FCM answered %d %s", e.Status, e.Code)
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Client changes members of topics. It may be used by several goroutines at once.
type Client struct {
	base   string
	http   *http.Client
	tokens *token.OAuth
}

// New reads the account. Close the client.
func New(c Config) (*Client, error) {
	secure, err := push.Trust(c.CAFile)
	if err != nil {
		return nil, err
	}
	proxy, err := outbound.ProxyFor(c.Proxy)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: proxy, TLSClientConfig: secure, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 30 * time.Second, MaxConnsPerHost: 4}
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	tokens, err := token.NewOAuth(token.OAuthConfig{File: c.AccountFile, Scopes: []string{scope}, URL: c.TokenURL,
		Client: client})
	if err != nil {
		return nil, err
	}
	project, err := tokens.Project()
	if err == nil && cmp.Or(c.Project, project) == "" {
		err = errors.New("the account has no project_id: name the project")
	}
	if err != nil {
		tokens.Close()
		return nil, err
	}
	return &Client{http: client, tokens: tokens, base: "https://" + cmp.Or(c.Endpoint, google) + "/v1/projects/" +
		url.PathEscape(cmp.Or(c.Project, project)) + "/registrations/"}, nil
}

// Close lets go of the connections.
func (c *Client) Close() {
	c.tokens.Close()
	c.http.CloseIdleConnections()
}

// Subscribe makes devices members of a topic; it is no error for one that is. The answer has an error for each device,
// nil for one that is a member now.
func (c *Client) Subscribe(ctx context.Context, topic string, devices []string) []error {
	return c.change(ctx, topic, devices, func(device, topic string) (method, address string) {
		return "POST", c.base + device + "/topicSubscriptions?topic_name=" + topic
	})
}

// Unsubscribe is Subscribe's counterpart.
func (c *Client) Unsubscribe(ctx context.Context, topic string, devices []string) []error {
	return c.change(ctx, topic, devices, func(device, topic string) (method, address string) {
		return "DELETE", c.base + device + "/topicSubscriptions/" + topic + "?allow_missing=true"
	})
}

func (c *Client) change(ctx context.Context, topic string, devices []string,
	request func(device, topic string) (method, address string)) []error {
	errs := make([]error, len(devices))
	topic = strings.TrimPrefix(topic, "/topics/")
	var all sync.WaitGroup
	places := make(chan struct{}, AtOnce)
	for i, device := range devices {
		switch {
		case len(topic) > maxName || !name.MatchString(topic):
			errs[i] = fmt.Errorf("%.100q is no name of a topic: letters, digits and -_.~%% make one, %d at most", topic,
				maxName)
			continue
		case device == "":
			errs[i] = errors.New("the device has no token")
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			method, address := request(url.PathEscape(device), url.QueryEscape(topic))
			errs[i] = c.persist(ctx, method, address)
		})
	}
	all.Wait()
	return errs
}

// persist sends a request again while the far end cannot do it, a few times.
func (c *Client) persist(ctx context.Context, method, address string) (err error) {
	wait := firstWait
	for try := 1; ; try++ {
		err = c.send(ctx, method, address)
		var refused *Refusal
		again := err != nil && !errors.As(err, &refused) && token.Passing(err)
		if refused != nil {
			again = refused.Status == 401 && try == 1 || refused.Status == 429 || refused.Status >= 500
		}
		if !again || try == tries {
			return err
		}
		pause := rand.N(wait)
		if refused != nil {
			pause = max(pause, min(refused.after, longest))
		}
		wait *= 2
		select {
		case <-time.After(pause): // the far end wants it
		case <-ctx.Done():
			return err
		}
	}
}

// send sends a request once.
func (c *Client) send(ctx context.Context, method, address string) error {
	type granted struct {
		authorization string
		err           error
	}
	came := make(chan granted, 1)
	c.tokens.Use(func(authorization string, err error) { came <- granted{authorization, err} })
	var g granted
	select {
	case g = <-came:
	case <-ctx.Done():
		return ctx.Err()
	}
	if g.err != nil {
		return g.err
	}
	var body io.Reader
	if method == "POST" {
		body = bytes.NewReader([]byte("{}"))
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	req.Header.Set("authorization", g.authorization)
	req.Header.Set("content-type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return err
	case resp.StatusCode < 300, method == "POST" && resp.StatusCode == http.StatusConflict: // it is a member
		return nil
	case resp.StatusCode == http.StatusUnauthorized:
		c.tokens.Refused(g.authorization)
	}
	return read(resp, text)
}

// read makes an error of an answer.
func read(resp *http.Response, text []byte) *Refusal {
	var said struct {
		Error struct {
			Status, Message string
			Details         []struct{ ErrorCode string }
		}
	}
	e := &Refusal{Status: resp.StatusCode, after: rest.After(resp.Header.Get("retry-after"), time.Now())}
	if json.Unmarshal(text, &said) != nil {
		return e
	}
	e.Code, e.Message = said.Error.Status, said.Error.Message
	for _, d := range said.Error.Details {
		e.Code = cmp.Or(d.ErrorCode, e.Code)
	}
	return e
}
