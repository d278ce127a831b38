package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hikyaku/hikyaku/internal/away"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/outbound"
)

// HTTP are the settings of a server and a question to it.
type HTTP struct {
	URL     string            `yaml:"url" secret:"true" doc:"Of http: the address. {name} is an attribute or field of the message, escaped; {keys} is many keys with commas."`
	Method  string            `yaml:"method" oneof:"GET POST" doc:"Of http: GET or POST. Not set: POST where there is a body, else GET."`
	Headers map[string]string `yaml:"headers" secret:"true" doc:"Of http: headers of every request."`
	Body    string            `yaml:"body" doc:"Of http: the body, JSON. {name} is an attribute or field of the message, as JSON; {keys} is a list."`
	Items   string            `yaml:"items" doc:"Of http: where in the answer the items are, fields of fields with dots. Not set: the answer itself."`
}

// MaxAnswer bounds an answer, in bytes.
const MaxAnswer = 64 << 20

// maxRetryAfter bounds the wait that a server can ask for.
const maxRetryAfter = time.Hour

// Server asks an HTTP server one question. Its methods may be called from several goroutines at once.
type Server struct {
	url    *question
	body   *question
	method string
	header http.Header
	items  []string
	base   *url.URL // of the text without its parameters, for errors and the next pages
	client *http.Client
	reach  *outbound.Policy
}

// NewHTTP checks the settings, which stand below prefix ("source."). reach says which addresses may be asked; nil: all.
// Errors are *component.SettingError.
func NewHTTP(c HTTP, prefix string, reach *outbound.Policy) (*Server, error) {
	s := &Server{method: c.Method, header: http.Header{}, reach: reach}
	if c.URL == "" {
		return nil, component.Setting(prefix+"url",
			errors.New("is missing: name the server, as https://host/path/{name}"))
	}
	s.url, s.body = parseBraces(c.URL), parseBraces(c.Body)
	var err error
	plain := strings.Join(s.url.texts, "0")
	if s.base, err = url.Parse(plain); err != nil || s.base.Scheme != "http" && s.base.Scheme != "https" ||
		s.base.Hostname() == "" {
		return nil, component.Setting(prefix+"url", errors.New("is not http://host… or https://host…"))
	}
	if first := s.url.texts[0]; !strings.HasPrefix(strings.TrimPrefix(first, s.base.Scheme+"://"), s.base.Host) &&
		s.base.User == nil {
		return nil, component.Setting(prefix+"url", errors.New("has a parameter in the name of its host"))
	}
	if err := reach.CheckHost(s.base.Hostname()); err != nil {
		return nil, component.Setting(prefix+"url", err)
	}
	switch {
	case s.method == "" && c.Body != "":
		s.method = http.MethodPost
	case s.method == "":
		s.method = http.MethodGet
	case s.method == http.MethodGet && c.Body != "":
		return nil, component.Setting(prefix+"body", errors.New("stands beside method: GET, which sends none"))
	}
	for name, value := range c.Headers {
		if strings.ContainsAny(name+value, "\r\n\x00") || name == "" {
			return nil, component.Setting(prefix+"headers", errors.New("a name or value is not one line"))
		}
		s.header.Set(name, value)
	}
	if c.Body != "" && s.header.Get("Content-Type") == "" {
		s.header.Set("Content-Type", "application/json")
	}
	if s.header.Get("Accept") == "" {
		s.header.Set("Accept", "application/json")
	}
	if c.Items != "" {
		s.items = strings.Split(c.Items, ".")
	}
	s.Want(DefaultConnections)
	return s, nil
}

// parseBraces finds "{name}".
func parseBraces(text string) *question {
	q := &question{}
	from := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		name := nameAt(text, i+1)
		if end := i + 1 + len(name); name != "" && end < len(text) && text[end] == '}' {
			q.texts, q.names, q.at = append(q.texts, text[from:i]), append(q.names, name), append(q.at, i)
			i, from = end, end+1
		}
	}
	q.texts = append(q.texts, text[from:])
	return q
}

// Names are the names of the parameters, each as often as it stands there.
func (s *Server) Names() []string {
	return append(append([]string(nil), s.url.names...), s.body.names...)
}

// Uses tells whether the question has a parameter of that name.
func (s *Server) Uses(name string) bool { return s.url.uses(name) || s.body.uses(name) }

// Want says how many connections are worth keeping. It is called before the first question.
func (s *Server) Want(connections int) {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	s.client = &http.Client{
		Transport: &http.Transport{
			Proxy: s.reach.Proxy, DialContext: s.reach.Dial(dialer), TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConns: connections, MaxIdleConnsPerHost: connections, IdleConnTimeout: 90 * time.Second,
			MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
		// Headers may be secret: they go to the host they are meant for, and nowhere else.
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if next.URL.Scheme == s.base.Scheme && next.URL.Host == s.base.Host && len(via) <= 5 {
				return nil
			}
			return http.ErrUseLastResponse
		},
	}
}

// ErrNotFound is in the error of an answer 404: for a question about one key it says that there is nothing.
var ErrNotFound = errors.New("answered 404 Not Found")

// Ask binds the parameters, sends the request and returns the answer, and what of it are the items.
func (s *Server) Ask(ctx context.Context, p Params) (answer, items json.RawMessage, err error) {
	var address, body []byte
	if address, err = s.url.fill(p, escaped); err == nil {
		body, err = s.body.fill(p, asJSON)
	}
	if err != nil {
		return nil, nil, s.failed(err)
	}
	return s.send(ctx, string(address), body)
}

// Follow asks for the page at an address that an answer named, which may be relative. It has to be on the same host.
func (s *Server) Follow(ctx context.Context, address string) (answer, items json.RawMessage, err error) {
	to, err := s.base.Parse(address)
	if err != nil {
		return nil, nil, s.failed(errors.New("the address of the next page cannot be read"))
	}
	if to.Scheme != s.base.Scheme || to.Host != s.base.Host {
		return nil, nil, s.failed(fmt.Errorf("the next page is at %s://%s: it is not followed", to.Scheme, to.Host))
	}
	to.User = s.base.User
	return s.send(ctx, to.String(), nil)
}

func (s *Server) send(ctx context.Context, address string, body []byte) (answer, items json.RawMessage, err error) {
	req, err := http.NewRequestWithContext(ctx, s.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, s.failed(errors.New("the address cannot be read"))
	}
	req.Header = s.header.Clone()
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := s.client.Do(req)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err // u itself would show the address
		}
		if refused := (*outbound.RefusedError)(nil); errors.As(err, &refused) {
			return nil, nil, s.failed(err) // it will not be another time
		}
		if away.Is(err) { // nothing was asked
			return nil, nil, component.HoldError(0, s.failed(err))
		}
		return nil, nil, component.RetryError(0, s.failed(err))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	switch {
	case resp.StatusCode/100 != 2:
		return nil, nil, s.refused(resp, text)
	case err != nil:
		return nil, nil, component.RetryError(0, s.failed(fmt.Errorf("the answer broke off: %w", err)))
	case len(text) > MaxAnswer:
		return nil, nil, s.failed(fmt.Errorf("the answer has more than %d bytes", MaxAnswer))
	case !json.Valid(text):
		return nil, nil, s.failed(errors.New("the answer is not JSON"))
	}
	items = text
	for _, name := range s.items {
		found := false
		if row, err := ParseObject(items); err == nil {
			items, found = row.Get(name)
		}
		if !found {
			return nil, nil, s.failed(fmt.Errorf("the answer has no %q", strings.Join(s.items, ".")))
		}
	}
	return text, items, nil
}

// refused reads an answer that is none.
func (s *Server) refused(resp *http.Response, text []byte) error {
	if resp.StatusCode == http.StatusNotFound {
		return s.failed(ErrNotFound)
	}
	said := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(string(text[:min(len(text), 200)]), "\ufffd"))
	err := fmt.Errorf("answered %d %s: %s", resp.StatusCode, http.StatusText(resp.StatusCode), said)
	if said == "" {
		err = fmt.Errorf("answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	switch code := resp.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusTooEarly,
		code >= 500:
		return component.RetryError(retryAfter(resp.Header.Get("Retry-After")), s.failed(err))
	}
	return s.failed(err)
}

func retryAfter(text string) time.Duration {
	seconds, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// failed names the server by what is no secret.
func (s *Server) failed(err error) error {
	return fmt.Errorf("%s://%s: %w", s.base.Scheme, s.base.Host, err)
}

// Close lets go of the connections.
func (s *Server) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// fill puts values in, as one writes them.
func (q *question) fill(p Params, write func(dst []byte, name string, vs []message.Value) []byte) ([]byte, error) {
	var b []byte
	for i, name := range q.names {
		b = append(b, q.texts[i]...)
		values, ok := p[name]
		if !ok {
			return nil, fmt.Errorf("the parameter {%s} has no value", name)
		}
		b = write(b, name, values)
	}
	return append(b, q.texts[len(q.texts)-1]...), nil
}

// escaped is a value in a path or query: nothing in it can be taken for a part of the address.
func escaped(dst []byte, _ string, vs []message.Value) []byte {
	for i, v := range vs {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.IsNull() {
			continue
		}
		text := strings.ReplaceAll(url.QueryEscape(v.Text()), "+", "%20")
		if text == "." || text == ".." {
			text = strings.ReplaceAll(text, ".", "%2E")
		}
		dst = append(dst, text...)
	}
	return dst
}

func asJSON(dst []byte, name string, vs []message.Value) []byte {
	if name != Keys {
		return AppendValue(dst, vs[0])
	}
	dst = append(dst, '[')
	for i, v := range vs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendValue(dst, v)
	}
	return append(dst, ']')
}
