package lambda

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/function"
)

const (
	urlPath = "/lambda-url/"
	urlHost = ".lambda-url"
)

// urlOf finds out whether a request is for a function's URL: which function, and which path of it.
func urlOf(r *http.Request) (name, path string, ok bool) {
	if rest, found := strings.CutPrefix(r.URL.Path, urlPath); found {
		name, path, _ = strings.Cut(rest, "/")
		return name, "/" + path, name != ""
	}
	if i := strings.Index(r.Host, urlHost); i > 0 {
		return r.Host[:i], r.URL.Path, true
	}
	return "", "", false
}

// serveURL answers a request by a function.
func (c *call) serveURL(name, path string) {
	c.action = "lambda:InvokeFunctionUrl"
	err := c.read(maxEvent)
	if err != nil {
		c.refuse(err)
		return
	}
	if c.function, c.qualifier, err = deployment.ParseName(name); err != nil {
		c.fail(denied("Forbidden: no function has this URL"))
		return
	}
	u, err := c.url()
	share := corsOf(u)
	asks := share != nil && preflight(c.r)
	switch {
	case err != nil: // whoever asks is told nothing of what there is
		err = denied("Forbidden: no function has this URL")
	case asks: // it is never signed
		err = c.near()
	default:
		err = c.admitURL(u)
	}
	if err != nil {
		c.fail(err)
		return
	}
	if share != nil {
		c.w = &sharing{c.w, share, c.r.Header.Get("Origin")}
	}
	if asks {
		c.answerPreflight(share)
		return
	}
	if c.r.Header.Get(traceHeader) == "" {
		c.r.Header.Set(traceHeader, newTrace(time.Now()))
	}
	event, err := c.urlEvent(path)
	if err != nil {
		c.fail(err)
		return
	}
	in := function.Request{Function: c.function, Version: c.qualifier, Payload: event, ID: c.id,
		TraceID: c.r.Header.Get(traceHeader)}
	if u.Mode == "RESPONSE_STREAM" {
		c.streamURL(in)
		return
	}
	result, err := c.d.functions.Invoke(c.ctx(), in)
	switch {
	case err != nil:
		c.fail(err)
	case result.FunctionError != "":
		c.send(http.StatusBadGateway, "application/json", []byte("Internal Server Error"))
	default:
		if n := int64(len(result.Payload)); n > largeAnswer {
			c.hold.Owe(3 * n) // as the function has made it, decoded, and as it is written
		}
		switch err := c.hold.Values(result.Payload, valueWeight); {
		case errors.Is(err, door.ErrNeverFits):
			c.send(http.StatusBadGateway, "application/json", []byte("Internal Server Error"))
		case err != nil:
			c.fail(err)
		default:
			c.writeURL(result.Payload)
		}
	}
}

// admitURL refuses who may not use a URL.
func (c *call) admitURL(u deployment.URL) error {
	if u.Auth == "NONE" {
		return c.near()
	}
	if err := c.admit(c.body); err != nil {
		return err
	}
	return c.may(access.Put, c.function)
}

// near refuses, without users, what does not come from this machine and this account.
func (c *call) near() error {
	if c.d.users.Any() {
		return nil
	}
	if err := c.here(); err != nil {
		return err
	}
	return c.sameAccount()
}

const traceHeader = "X-Amzn-Trace-Id"

// newTrace is the id of a trace that begins now, in the form of X-Ray's.
func newTrace(now time.Time) string {
	id := strings.ReplaceAll(uuid.NewString(), "-", "")
	return fmt.Sprintf("Root=1-%08x-%s", now.Unix(), id[:24])
}

// urlEvent is the request in version 2.0 of the payload format.
func (c *call) urlEvent(path string) ([]byte, error) {
	r := c.r
	headers := map[string]string{"host": r.Host}
	for name, values := range r.Header {
		if name != "Cookie" {
			headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	source, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		source = r.RemoteAddr
	}
	headers["x-forwarded-for"], headers["x-forwarded-proto"] = source, "http"
	if r.TLS != nil {
		headers["x-forwarded-proto"] = "https"
	}
	if at, ok := c.ctx().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if _, port, err := net.SplitHostPort(at.String()); err == nil {
			headers["x-forwarded-port"] = port
		}
	}
	now := time.Now().UTC()
	request := map[string]any{
		"accountId": "anonymous", "apiId": c.function, "domainName": r.Host, "domainPrefix": c.function,
		"requestId": c.id, "routeKey": "$default", "stage": "$default",
		"time": now.Format("02/Jan/2006:15:04:05 -0700"), "timeEpoch": now.UnixMilli(),
		"http": map[string]string{"method": r.Method, "path": path, "protocol": r.Proto, "sourceIp": source,
			"userAgent": r.UserAgent()},
	}
	if c.user != nil { // the URL is for those who sign
		account := c.d.functions.Account()
		request["accountId"] = account
		request["authorizer"] = map[string]any{"iam": map[string]any{
			"accessKey": c.user.Name, "accountId": account, "callerId": c.user.Name, "cognitoIdentity": nil,
			"principalOrgId": nil, "userArn": "arn:aws:iam::" + account + ":user/" + c.user.Name, "userId": c.user.Name,
		}}
	}
	event := map[string]any{
		"version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": r.URL.RawQuery, "headers": headers,
		"isBase64Encoded": false, "requestContext": request,
	}
	if cookies := r.Header.Values("Cookie"); len(cookies) > 0 {
		event["cookies"] = strings.Split(strings.Join(cookies, "; "), "; ")
	}
	if r.URL.RawQuery != "" {
		query := map[string]string{}
		for name, values := range r.URL.Query() {
			query[name] = strings.Join(values, ",")
		}
		event["queryStringParameters"] = query
	}
	if len(c.body) > 0 {
		if textual(r.Header.Get("Content-Type")) && utf8.Valid(c.body) {
			event["body"] = string(c.body)
		} else {
			event["body"], event["isBase64Encoded"] = base64.StdEncoding.EncodeToString(c.body), true
		}
	}
	return json.Marshal(event)
}

// textual tells whether a content type is one that a function gets as text.
func textual(kind string) bool {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	return kind == "" || strings.HasPrefix(kind, "text/") || kind == "application/json" || kind == "application/xml" ||
		kind == "application/javascript" ||
		kind == "application/x-www-form-urlencoded" || strings.HasSuffix(kind, "+json") ||
		strings.HasSuffix(kind, "+xml")
}

// urlAnswer is what a function says of its answer.
type urlAnswer struct {
	Status  *int            `json:"statusCode"`
	Headers map[string]any  `json:"headers"`
	Cookies []string        `json:"cookies"`
	Body    json.RawMessage `json:"body"`
	Base64  bool            `json:"isBase64Encoded"`
}

// head writes status and headers; false: the status is none.
func (c *call) head(a urlAnswer) bool {
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	for name, value := range a.Headers {
		text, ok := value.(string)
		if !ok {
			raw, err := json.Marshal(value)
			if err != nil {
				continue
			}
			text = string(raw)
		}
		switch http.CanonicalHeaderKey(name) {
		case "Content-Length", "Connection", "Transfer-Encoding": // these are the connection's
		default:
			h.Set(name, text)
		}
	}
	for _, cookie := range a.Cookies {
		h.Add("Set-Cookie", cookie)
	}
	return a.Status == nil || *a.Status >= 200 && *a.Status <= 599
}

// writeURL answers with what a function returned: an object with a statusCode says it all, anything else is the body of
// an answer that went well.
func (c *call) writeURL(payload []byte) {
	var a urlAnswer
	if err := json.Unmarshal(payload, &a); err != nil || a.Status == nil {
		c.send(http.StatusOK, "application/json", payload)
		return
	}
	var body []byte
	if len(a.Body) > 0 && string(a.Body) != "null" {
		body = a.Body
		var text string
		if json.Unmarshal(a.Body, &text) == nil {
			body = []byte(text)
		}
	}
	ok := c.head(a)
	if a.Base64 {
		decoded, err := base64.StdEncoding.DecodeString(string(body))
		body, ok = decoded, ok && err == nil
	}
	if !ok {
		clear(c.w.Header())
		c.send(http.StatusBadGateway, "application/json", []byte("Internal Server Error"))
		return
	}
	c.send(*a.Status, "", body)
}

// integration is the content type of a stream that begins with status and headers.
const integration = "application/vnd.awslambda.http-integration-response"

// urlStream passes an answer on as it comes. One that begins with status and headers has eight zero bytes behind them.
type urlStream struct {
	c       *call
	prelude []byte // nil: it is over
	begun   bool
	bad     bool
}

// maxPrelude bounds status and headers.
const maxPrelude = 64 << 10

// Begin implements function.Stream.
func (s *urlStream) Begin(kind string) {
	switch {
	case s.begun || s.prelude != nil:
	case kind == integration:
		s.prelude = []byte{}
	default:
		if kind == "" {
			kind = "application/octet-stream"
		}
		s.c.w.Header().Set("Content-Type", kind)
		s.start(http.StatusOK)
	}
}

func (s *urlStream) start(status int) {
	s.begun, s.prelude = true, nil
	s.c.answered(status)
	s.c.w.WriteHeader(status)
}

// Write implements function.Stream.
func (s *urlStream) Write(p []byte) (int, error) {
	n := len(p)
	s.Begin("")
	if s.prelude != nil {
		s.prelude = append(s.prelude, p...)
		head, rest, ok := bytes.Cut(s.prelude, make([]byte, 8))
		if !ok {
			if len(s.prelude) > maxPrelude {
				s.bad = true
				return 0, io.ErrShortBuffer
			}
			return n, nil
		}
		var a urlAnswer
		if err := json.Unmarshal(head, &a); err != nil || !s.c.head(a) {
			s.bad = true
			return 0, io.ErrUnexpectedEOF
		}
		status := http.StatusOK
		if a.Status != nil {
			status = *a.Status
		}
		s.start(status)
		p = rest
	}
	if _, err := s.c.w.Write(p); err != nil {
		return 0, err
	}
	return n, http.NewResponseController(s.c.w).Flush()
}

func (c *call) streamURL(in function.Request) {
	if err := c.hold.Take(c.ctx(), min(streamed, c.d.busy.Limit())); err != nil {
		c.fail(err)
		return
	}
	s := &urlStream{c: c}
	result, err := c.d.functions.InvokeStream(c.ctx(), in, s)
	switch {
	case s.begun && (err != nil || result.FunctionError != ""):
		panic(http.ErrAbortHandler) // the client sees that it is not whole
	case err != nil:
		c.fail(err)
	case !s.begun || s.bad:
		c.send(http.StatusBadGateway, "application/json", []byte("Internal Server Error"))
	}
}
