// Package webhook is a sink that delivers messages by HTTP requests.
//
//	sinks:
//	  hook: { type: webhook, inputs: [shape], url: https://example.com/hook,
//	          headers: { Authorization: "Bearer ${TOKEN}" } }
//
// Each message is a request of its own, or (payload: array, or ndjson) a batch is one request and has one answer.
// Connections are kept and used again; HTTP/2 is spoken where the far end offers it.
//
// # Answers
//
// 2xx is delivered. 408, 425, 429, 5xx and answers that are not HTTP are tried again, after
// Retry-After where the far end says so; 429 and 503 also say that it wants less. A far end that gives no answer makes
// messages wait, and that counts as no try: it has no address, refuses connections, or answers nobody. A request that
// alone is not answered while others are is a try. Anything else is rejected with the beginning of what the far end
// said, and so is what would go to an address that may not be reached (outbound: allow:). A redirect is followed only
// when it keeps the method (307, 308) and stays on the same host.
//
// # Secrets
//
// Errors name the far end by scheme and host alone. The values of headers, the password and the path and query of the
// URL are taken out of whatever the far end says before it becomes part of a reason.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/away"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/outbound"
)

// Config is the sink's settings.
type Config struct {
	// URL of the far end: http or https.
	URL string `yaml:"url"`
	// Method of the request: POST, PUT or PATCH. "": POST.
	Method string `yaml:"method" oneof:"POST PUT PATCH"`
	// Headers of every request. They go before those that the sink sets.
	Headers map[string]string `yaml:"headers" secret:"true"`
	// Encoding of a message. Not set: its body as it is.
	Encoding lines.Encoding `yaml:"encoding"`
	// Payload is "message" (a request a message), "array" (a JSON array a batch) or "ndjson" (a batch, a line a
	// message). "": message.
	Payload string `yaml:"payload" oneof:"message array ndjson"`
	// TLS says whom to trust, and who we are.
	TLS TLS `yaml:"tls"`
	// MaxConnections is how many idle connections are kept for use again. 0: 128.
	MaxConnections int `yaml:"max_connections" min:"0"`
}

// TLS are the settings of secure connections.
type TLS struct {
	CAFile   string `yaml:"ca_file" file:"read"`   // certificates to trust instead of the system's
	CertFile string `yaml:"cert_file" file:"read"` // our certificate, with KeyFile
	KeyFile  string `yaml:"key_file" file:"read"`  // its key
	// the name to expect in the far end's certificate, where it is not the URL's host
	ServerName string `yaml:"server_name"`
}

// The payloads of Config.
const (
	perMessage = "message"
	array      = "array"
	ndjson     = "ndjson"
)

const defaultConnections = 128

// Sink sends requests. It may be used by several goroutines at once.
type Sink struct {
	url         *url.URL
	method      string
	header      http.Header
	encoder     *lines.Encoder
	payload     string
	tls         TLS
	connections int
	secrets     mask.Masker
	reach       *outbound.Policy

	client  *http.Client
	far     away.Far
	answers atomic.Uint64 // that have come, whatever they said
}

// Waits tells why the far end cannot be reached, or gives no answers.
func (s *Sink) Waits() error { return s.far.Why() }

// New checks the settings.
func New(c Config, env component.Env) (component.Sink, error) {
	s := &Sink{method: c.Method, payload: c.Payload, tls: c.TLS, connections: c.MaxConnections, reach: env.Outbound}
	var err error
	if s.url, err = parseURL(c.URL); err != nil {
		return nil, component.Setting("url", err)
	}
	if err := s.reach.CheckHost(s.url.Hostname()); err != nil {
		return nil, component.Setting("url", err)
	}
	switch s.method {
	case "":
		s.method = http.MethodPost
	case http.MethodPost, http.MethodPut, http.MethodPatch:
	default:
		return nil, component.Setting("method", fmt.Errorf("%q is none of POST, PUT and PATCH", c.Method))
	}
	if s.encoder, err = lines.NewEncoder(c.Encoding); err != nil {
		return nil, component.Setting("encoding.codec", err)
	}
	if err := s.checkPayload(); err != nil {
		return nil, err
	}
	if s.header, err = header(c.Headers); err != nil {
		return nil, err
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		return nil, component.Setting("tls", errors.New("cert_file and key_file belong together"))
	}
	switch {
	case c.MaxConnections < 0:
		return nil, component.Setting("max_connections", fmt.Errorf("%d is negative", c.MaxConnections))
	case c.MaxConnections == 0:
		s.connections = defaultConnections
	}
	s.secrets = secrets(s.url, s.header)
	return s, nil
}

func parseURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, errors.New("is missing: name the far end, as https://host/path")
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("cannot be read as a URL") // err would show what may be secret
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("is not http://host… or https://host…")
	}
	u.Fragment = ""
	return u, nil
}

func (s *Sink) checkPayload() error {
	switch s.payload {
	case "":
		s.payload = perMessage
	case perMessage:
	case array, ndjson:
		if s.encoder.Codec() == lines.Text {
			return component.Setting("encoding.codec", fmt.Errorf("payload %s needs the codec json or message",
				s.payload))
		}
	default:
		return component.Setting("payload", fmt.Errorf("%q is none of message, array and ndjson", s.payload))
	}
	return nil
}

// Limits: a request a message leaves it to the pipeline how many are under way at once.
func (s *Sink) Limits() component.SinkLimits {
	if s.payload == perMessage {
		return component.SinkLimits{MaxEvents: 1}
	}
	return component.SinkLimits{}
}

// Start reads the certificates and makes the pool of connections. It connects to nobody yet.
func (s *Sink) Start(context.Context) error {
	t, err := newTransport(s.tls, s.connections, s.reach)
	if err != nil {
		return err
	}
	s.client = &http.Client{Transport: t, CheckRedirect: s.redirect}
	return nil
}

// Close lets go of the connections.
func (s *Sink) Close() error {
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	return nil
}

// Send delivers the batch.
func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	if s.payload != perMessage {
		return s.sendTogether(ctx, batch)
	}
	out := make([]component.Outcome, len(batch))
	for i, m := range batch {
		if err := ctx.Err(); err != nil {
			out[i] = component.Again(0, err)
			continue
		}
		body, err := s.encoder.Append(nil, m)
		if err != nil {
			out[i] = component.Reject(err)
			continue
		}
		h := s.describe(m, body)
		traceTo(ctx, h, i)
		out[i] = s.deliver(ctx, body, h)
	}
	return out, nil
}
