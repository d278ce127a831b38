package push_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/push"
	"github.com/hikyaku/hikyaku/internal/outbound"
)

const subscription = "projects/local/subscriptions/news"

// deliverOne delivers one message to an endpoint and tells whether it was acknowledged.
func deliverOne(t *testing.T, c push.Config, m push.Message) bool {
	t.Helper()
	s := newStore(t, 0)
	s.items = []*item{{message: m}}
	ended := make(chan struct{})
	one := &first{Source: s, ended: ended}
	stop := run(t, c, one)
	<-ended
	stop()
	return len(s.acked) == 1
}

// first is a source that closes ended when something became of its message.
type first struct {
	push.Source
	ended chan struct{}
	once  sync.Once
}

func (f *first) Ack(ctx context.Context, m push.Message) error {
	defer f.once.Do(func() { close(f.ended) })
	return f.Source.Ack(ctx, m)
}

func (f *first) Nack(ctx context.Context, m push.Message) error {
	defer f.once.Do(func() { close(f.ended) })
	return f.Source.Nack(ctx, m)
}

// received is a request as an endpoint saw it.
type received struct {
	method, path string
	header       http.Header
	body         string
}

// keep is an endpoint that keeps the last request.
func keep(t *testing.T, last *received) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*last = received{r.Method, r.URL.RequestURI(), r.Header.Clone(), string(body)}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	return server
}

var message = push.Message{
	ID: "0199", Data: []byte("<飛脚>"), Attributes: map[string]string{"lang": "ja"}, OrderingKey: "k",
	PublishTime: time.Date(2026, 1, 2, 3, 4, 5, 678900000, time.UTC),
}

func TestAWrappedMessageIsGooglesJSON(t *testing.T) {
	var got received
	server := keep(t, &got)
	if !deliverOne(t, push.Config{Endpoint: server.URL + "/news?token=x", Subscription: subscription}, message) {
		t.Error("it was not acknowledged")
	}
	want := `{"message":{"attributes":{"lang":"ja"},"data":"POmjm+iEmj4=","messageId":"0199","message_id":"0199","orderingKey":"k",` +
		`"publishTime":"2026-01-02T03:04:05.6789Z","publish_time":"2026-01-02T03:04:05.6789Z"},"subscription":"projects/local/subscriptions/news","deliveryAttempt":1}`
	if strings.TrimSpace(got.body) != want || got.method != "POST" || got.path != "/news?token=x" ||
		got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v\nwanted %s", got, want)
	}
	if got.header.Get("Authorization") != "" || got.header.Get("User-Agent") == "" {
		t.Errorf("%v", got.header)
	}
}

func TestAnEmptyMessageIsWrapped(t *testing.T) {
	var got received
	server := keep(t, &got)
	deliverOne(t, push.Config{Endpoint: server.URL, Subscription: subscription}, push.Message{ID: "1", Attempt: -1})
	want := `{"message":{"messageId":"1","message_id":"1","publishTime":"0001-01-01T00:00:00Z","publish_time":"0001-01-01T00:00:00Z"},"subscription":"projects/local/subscriptions/news"}`
	if strings.TrimSpace(got.body) != want {
		t.Errorf("%s\nwanted %s", got.body, want)
	}
}

func TestAnUnwrappedMessageIsItsData(t *testing.T) {
	var got received
	server := keep(t, &got)
	deliverOne(t, push.Config{Endpoint: server.URL, Subscription: subscription, Unwrapped: true}, message)
	if got.body != "<飛脚>" || got.header.Get("Content-Type") != "application/octet-stream" ||
		got.header.Get("lang") != "" || got.header.Get("x-goog-pubsub-message-id") != "" {
		t.Errorf("%+v", got)
	}
}

func TestMetadataOfAnUnwrappedMessageStandsInHeaders(t *testing.T) {
	var got received
	server := keep(t, &got)
	m := message
	m.Attributes = map[string]string{
		"lang": "ja", "Content-Type": "text/plain", "text": "飛脚", "two words": "no", "": "no", "colon:": "no",
		"line": "a\r\nEvil: yes", "tab": "a\tb",
		"Host": "evil", "content-length": "1", "Transfer-Encoding": "chunked", "authorization": "Bearer evil",
		"x-goog-pubsub-message-id": "evil", "connection": "close", "飛脚": "no",
	}
	deliverOne(t, push.Config{Endpoint: server.URL, Subscription: subscription, Unwrapped: true, Metadata: true}, m)
	want := map[string]string{
		"X-Goog-Pubsub-Subscription-Name": subscription, "X-Goog-Pubsub-Message-Id": "0199",
		"X-Goog-Pubsub-Publish-Time": "2026-01-02T03:04:05.6789Z",
		"X-Goog-Pubsub-Ordering-Key": "k", "X-Goog-Pubsub-Delivery-Attempt": "1", "Lang": "ja",
		"Content-Type": "text/plain", "Text": "飛脚", "Tab": "a\tb",
		"Content-Length": "8", "User-Agent": got.header.Get("User-Agent"),
		"Accept-Encoding": got.header.Get("Accept-Encoding"),
	}
	for name, values := range got.header {
		if want[name] != strings.Join(values, ", ") {
			t.Errorf("the header %s is %q, wanted %q", name, values, want[name])
		}
	}
	for name := range want {
		if got.header[name] == nil && want[name] != "" {
			t.Errorf("the header %s is missing", name)
		}
	}
}

func TestATokenHasGooglesClaimsAndNoSignature(t *testing.T) {
	var got received
	server := keep(t, &got)
	for audience, want := range map[string]string{"": server.URL, "me": "me"} {
		deliverOne(t, push.Config{Endpoint: server.URL,
			OIDC: &push.OIDC{ServiceAccountEmail: "a@b.c", Audience: audience}}, message)
		parts := strings.Split(strings.TrimPrefix(got.header.Get("Authorization"), "Bearer "), ".")
		if len(parts) != 3 || parts[2] != "" {
			t.Fatalf("%v", got.header)
		}
		var header, claims map[string]any
		for i, into := range []*map[string]any{&header, &claims} {
			text, err := base64.RawURLEncoding.DecodeString(parts[i])
			if err != nil || json.Unmarshal(text, into) != nil {
				t.Fatalf("%s: %v", parts[i], err)
			}
		}
		if header["alg"] != "none" || claims["aud"] != want || claims["email"] != "a@b.c" ||
			claims["email_verified"] != true || claims["iss"] != "https://accounts.google.com" ||
			claims["exp"].(float64)-claims["iat"].(float64) != 3600 {
			t.Errorf("%v %v", header, claims)
		}
	}
}

func TestOnlySomeAnswersAcknowledge(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // before that the server does not notice that a client went away
		var status int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &status); err != nil {
			t.Error(err)
		}
		if status/100 == 3 {
			w.Header().Set("Location", other.URL)
		}
		w.WriteHeader(status)
		if status == http.StatusProcessing { // and then nothing for a long time
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	for status, want := range map[int]bool{
		102: true, 200: true, 201: true, 202: true, 204: true,
		203: false, 205: false, 206: false, 301: false, 302: false, 307: false, 308: false, 400: false, 401: false,
		404: false, 429: false, 500: false, 503: false,
	} {
		if got := deliverOne(t, push.Config{Endpoint: fmt.Sprintf("%s/%d", server.URL, status)}, message); got != want {
			t.Errorf("%d acknowledges: %v", status, got)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// raw is an endpoint that says what it wants to a request, whatever HTTP may be.
func raw(t *testing.T, say func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					say(c)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		conns.Wait()
	})
	return "http://" + l.Addr().String()
}

func TestAnEndpointThatMisbehavesGetsItsMessageAgain(t *testing.T) {
	for name, say := range map[string]func(net.Conn){
		"hangs up":               func(net.Conn) {},
		"speaks another tongue":  func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH\r\n") },
		"breaks off":             func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 O") },
		"says nothing":           func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) },
		"never ends its headers": func(c net.Conn) { endless(c, "HTTP/1.1 200 OK\r\n", "X: y\r\n") },
		"informs without end":    func(c net.Conn) { endless(c, "", "HTTP/1.1 103 Early Hints\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			if deliverOne(t, push.Config{Endpoint: raw(t, say), AckDeadline: 100 * time.Millisecond}, message) {
				t.Error("it was acknowledged")
			}
		})
	}
}

// endless says a beginning, and something again and again until nobody listens.
func endless(c net.Conn, begin, again string) {
	_, err := io.WriteString(c, begin)
	for err == nil {
		_, err = io.WriteString(c, again)
	}
}

func TestABodyThatNeverEndsHoldsUpNobody(t *testing.T) {
	endpoint := raw(t, func(c net.Conn) {
		endless(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n")
	})
	if !deliverOne(t, push.Config{Endpoint: endpoint}, message) {
		t.Error("it was not acknowledged")
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var mu sync.Mutex
	conns := map[string]int{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "thanks")
	}))
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if s == http.StateActive {
			conns[c.RemoteAddr().String()]++
		}
	}
	server.Start()
	defer server.Close()
	transport := push.NewTransport(push.TransportOptions{})
	defer transport.CloseIdleConnections()
	for range 2 { // two subscriptions
		s := newStore(t, 0)
		s.put(200)
		stop := run(t, push.Config{Endpoint: server.URL, MaxWindow: 4, Transport: transport}, s)
		<-s.all
		stop()
	}
	if len(conns) > 8 {
		t.Errorf("400 requests took %d connections: %v", len(conns), slices.Collect(maps.Values(conns)))
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	if deliverOne(t, push.Config{Endpoint: server.URL}, message) {
		t.Error("a certificate that nobody vouches for is trusted")
	}
	authorities := x509.NewCertPool()
	authorities.AddCert(server.Certificate())
	if !deliverOne(t, push.Config{Endpoint: server.URL,
		Transport: push.NewTransport(push.TransportOptions{RootCAs: authorities})}, message) {
		t.Error("a certificate that is vouched for is not trusted")
	}
}

func TestOnlyWhatIsAllowedIsReached(t *testing.T) {
	var got received
	server := keep(t, &got)
	policy, err := outbound.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	transport := push.NewTransport(push.TransportOptions{Outbound: policy})
	defer transport.CloseIdleConnections()
	if !deliverOne(t, push.Config{Endpoint: server.URL, Transport: transport}, message) {
		t.Error("this machine is not reached")
	}
	for _, address := range []string{"http://192.0.2.1/", "http://[2001:db8::1]/", "http://0.0.0.0:9/"} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		if refused := (*outbound.RefusedError)(nil); !errors.As(err, &refused) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestEndpointsThatCannotBeAreRefused(t *testing.T) {
	for endpoint, words := range map[string]string{
		"": "neither https", "example.com": "neither", "ftp://example.com": "neither", "http://": "no host",
		"https://:443/x":          "no host",
		"https://a:b@example.com": "password", "https://example.com/#x": "fragment", "http://[::1": "missing",
		"http://exa mple.com": "invalid",
	} {
		err := push.CheckEndpoint(endpoint)
		if !errors.Is(err, push.ErrEndpoint) || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, wanted %q", endpoint, err, words)
		}
		if _, err := push.New(push.Config{Endpoint: endpoint}, newStore(t, 0)); err == nil {
			t.Errorf("%q is accepted", endpoint)
		}
	}
	for _, endpoint := range []string{"http://127.0.0.1:8080/push", "https://example.com?token=x", "http://[::1]/",
		"HTTPS://EXAMPLE.COM"} {
		if err := push.CheckEndpoint(endpoint); err != nil {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
	if _, err := push.New(push.Config{Endpoint: "http://127.0.0.1"}, nil); err == nil {
		t.Error("no source is accepted")
	}
}
