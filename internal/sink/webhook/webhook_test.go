package webhook

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"

	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/message"
	receiver "github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func farEnd(t *testing.T) *receiver.Server {
	t.Helper()
	s, err := receiver.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func start(t *testing.T, c Config) *Sink {
	t.Helper()
	made, err := New(c, component.Env{Name: "hook"})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Sink)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func msg(body string) *message.Message {
	return &message.Message{ID: message.NewID(), Body: []byte(body), Time: time.Now()}
}

func send(t *testing.T, s *Sink, batch ...*message.Message) []component.Outcome {
	t.Helper()
	out, err := s.Send(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(batch) {
		t.Fatalf("%d outcomes for %d messages", len(out), len(batch))
	}
	return out
}

func TestAMessageIsDeliveredWithWhatIsKnownOfIt(t *testing.T) {
	far := farEnd(t)
	s := start(t, Config{URL: far.URL() + "hook", Headers: map[string]string{"authorization": "Bearer secret"}})
	m := msg(`{"a":1}`)
	m.Key = "user 1/é"
	before := time.Now()
	o := send(t, s, m)[0]
	if o.Verdict != component.Delivered || o.Sent.Before(before) || o.Sent.After(time.Now()) {
		t.Fatalf("%+v", o)
	}
	if n := far.Count(m.ID.String()); n != 1 {
		t.Fatalf("delivered %d times", n)
	}
	r := far.Requests()[0]
	if r.Method != "POST" || r.Path != "/hook" || string(r.Body) != `{"a":1}` {
		t.Errorf("%s %s %q", r.Method, r.Path, r.Body)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer secret", "Content-Type": "application/json", "User-Agent": "hikyaku",
		HeaderID: m.ID.String(), HeaderKey: "user%201%2F%C3%A9", HeaderTime: m.Time.UTC().Format(time.RFC3339Nano),
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestTheContentTypeIsWhatTheBodyIs(t *testing.T) {
	far := farEnd(t)
	for _, c := range []struct{ codec, body, want string }{
		{"", "hello", "text/plain; charset=utf-8"},
		{"", "\xff", "application/octet-stream"},
		{"", "[1]", "application/json"},
		{"message", "hello", "application/json"},
	} {
		far.Forget()
		send(t, start(t, Config{URL: far.URL(), Encoding: lines.Encoding{Codec: c.codec}}), msg(c.body))
		if got := far.Requests()[0].Header.Get("Content-Type"); got != c.want {
			t.Errorf("codec %q, body %q: %s", c.codec, c.body, got)
		}
	}
}

func TestAnswersBecomeOutcomes(t *testing.T) {
	far := farEnd(t)
	s := start(t, Config{URL: far.URL()})
	for name, c := range map[string]struct {
		told    receiver.Behaviour
		verdict component.Verdict
		after   time.Duration
		slow    bool
		reason  string
	}{
		"created":    {receiver.Behaviour{Do: receiver.Status, Code: 201}, component.Delivered, 0, false, ""},
		"no content": {receiver.Behaviour{Do: receiver.Status, Code: 204}, component.Delivered, 0, false, ""},
		"too many": {receiver.Behaviour{Do: receiver.Status, Code: 429, RetryAfter: "7"}, component.Retry,
			7 * time.Second, true, "429 Too Many Requests"},
		"unavailable": {receiver.Behaviour{Do: receiver.Status, Code: 503}, component.Retry, 0, true,
			"503 Service Unavailable"},
		"broken": {receiver.Behaviour{Do: receiver.Status, Code: 500, Body: "oops\r\n again"},
			component.Retry, 0, false, "500 Internal Server Error: oops   again"},
		"bad gateway": {receiver.Behaviour{Do: receiver.Status, Code: 502, RetryAfter: "2"}, component.Retry,
			2 * time.Second, false, "502 Bad Gateway"},
		"request time-out": {receiver.Behaviour{Do: receiver.Status, Code: 408}, component.Retry, 0, false,
			"408 Request Timeout"},
		"bad request": {receiver.Behaviour{Do: receiver.Status, Code: 400, Body: "no such field"},
			component.Rejected, 0, false, "400 Bad Request: no such field"},
		"gone": {receiver.Behaviour{Do: receiver.Status, Code: 410}, component.Rejected, 0, false,
			"410 Gone"},
		"no known status": {receiver.Behaviour{Do: receiver.Status, Code: 799}, component.Retry, 0, false,
			"answered 799"},
		"not modified": {receiver.Behaviour{Do: receiver.Status, Code: 304}, component.Rejected, 0, false,
			"304 Not Modified"},
		"reset":      {receiver.Behaviour{Do: receiver.Reset}, component.Retry, 0, false, "127.0.0.1"},
		"garbage":    {receiver.Behaviour{Do: receiver.Garbage}, component.Retry, 0, false, "malformed HTTP"},
		"broken off": {receiver.Behaviour{Do: receiver.Half}, component.Delivered, 0, false, ""},
		"slow": {receiver.Behaviour{Do: receiver.Slow, Delay: receiver.Duration(10 * time.Millisecond)},
			component.Delivered, 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := far.Script(c.told); err != nil {
				t.Fatal(err)
			}
			o := send(t, s, msg("x"))[0]
			if o.Verdict != c.verdict || o.After != c.after || o.Slow != c.slow {
				t.Errorf("%+v", o)
			}
			switch {
			case c.reason == "" && o.Reason != nil, c.reason != "" &&
				(o.Reason == nil || !strings.Contains(o.Reason.Error(), c.reason)):
				t.Errorf("reason: %v", o.Reason)
			}
		})
	}
}

func TestRetryAfterIsHeeded(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"30":                            30 * time.Second,
		" 30 ":                          30 * time.Second,
		"-1":                            0,
		"1.5":                           0,
		"soon":                          0,
		"999999999":                     MaxRetryAfter,
		"99999999999999999999":          0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute,
		"Fri, 02 Jan 2026 03:04:00 GMT": 0,
		"Fri, 02 Jan 2099 03:04:00 GMT": MaxRetryAfter,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestAFarEndThatHangsIsARetryWhenTheTimeIsUp(t *testing.T) {
	far := farEnd(t)
	s := start(t, Config{URL: far.URL()})
	if err := far.Script(receiver.Behaviour{Do: receiver.Hang}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	out, err := s.Send(ctx, []*message.Message{msg("x"), msg("y")})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out {
		if o.Verdict != component.Retry || !errors.Is(o.Reason, context.DeadlineExceeded) {
			t.Errorf("%+v", o)
		}
	}
	if got := out[0].Reason.Error(); !regexp.MustCompile(
		`^http://[0-9.:]+: no answer within (1|0\.\d+) s \(request\.timeout_secs\)$`).MatchString(got) {
		t.Errorf("%q", got)
	}
	if n := far.Counts().Requests; n != 1 {
		t.Errorf("%d requests: the second message had no time left", n)
	}
}

// unanswered sends a message whose request breaks off, while another one is answered or not.
func unanswered(t *testing.T, othersAnswered bool) component.Outcome {
	t.Helper()
	first, last := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && string(body) == "poison" {
			close(first)
			<-last
			panic(http.ErrAbortHandler)
		}
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(srv.Close)
	s := start(t, Config{URL: srv.URL})
	came := make(chan component.Outcome)
	go func() { came <- send(t, s, msg("poison"))[0] }()
	<-first
	if othersAnswered {
		if o := send(t, s, msg("x"))[0]; o.Verdict != component.Delivered {
			t.Errorf("%+v", o)
		}
	}
	close(last)
	return <-came
}

func TestOnlyAnAnswerCountsAsATry(t *testing.T) {
	if o := unanswered(t, false); o.Verdict != component.Retry || !o.Held {
		t.Errorf("a far end that answers nobody: %+v", o)
	}
	if o := unanswered(t, true); o.Verdict != component.Retry || o.Held {
		t.Errorf("a message that alone is not answered: %+v", o)
	}
}

func TestAFarEndThatIsAwayIsLookedForByOneAtATime(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	s := start(t, Config{URL: "http://" + address})
	for range 3 {
		o := send(t, s, msg("x"))[0]
		if o.Verdict != component.Retry || !o.Held || o.After <= 0 || !strings.Contains(o.Reason.Error(), "refused") {
			t.Fatalf("%+v", o)
		}
	}
	if why := s.Waits(); why == nil || !strings.Contains(why.Error(), "refused") {
		t.Errorf("it waits for %v", why)
	}
	// It comes back in the same place.
	if l, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	t.Cleanup(func() { srv.Close() })
	go srv.Serve(l) // ends with Close
	for send(t, s, msg("x"))[0].Verdict != component.Delivered {
		if t.Context().Err() != nil {
			t.Fatal("it is never found again")
		}
	}
	if why := s.Waits(); why != nil {
		t.Errorf("it waits for %v", why)
	}
}

// TestAHostThatCannotBeReachedIsNoTryWhateverTheReason: of a message or of a batch, however often it is asked for.
func TestAHostThatCannotBeReachedIsNoTryWhateverTheReason(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for host, says := range map[string]string{
		l.Addr().String():      "connection refused",
		"no-such-host.invalid": "lookup no-such-host.invalid",
		"255.255.255.255":      "network is unreachable", // no connection is ever made to a broadcast address
	} {
		for _, payload := range []string{"", array} {
			s := start(t, Config{URL: "http://" + host + "/", Payload: payload,
				Encoding: lines.Encoding{Codec: "message"}})
			for range 3 {
				for _, o := range send(t, s, msg("x"), msg("y")) {
					if o.Verdict != component.Retry || !o.Held || o.After <= 0 ||
						!strings.Contains(o.Reason.Error(), says) {
						t.Errorf("%s: %+v", host, o)
					}
				}
			}
			if why := s.Waits(); why == nil || !strings.Contains(why.Error(), says) {
				t.Errorf("%s: it waits for %v", host, why)
			}
		}
	}
}

func TestABodyWithoutAnEndDoesNotHoldADeliveryUp(t *testing.T) {
	far := farEnd(t)
	s := start(t, Config{URL: far.URL()})
	if err := far.Script(receiver.Behaviour{Do: receiver.Trickle,
		Delay: receiver.Duration(time.Millisecond)}); err != nil {
		t.Fatal(err)
	}
	if o := send(t, s, msg("x"))[0]; o.Verdict != component.Delivered {
		t.Errorf("%+v", o)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var opened int
	r := receiver.NewReceiver()
	srv := httptest.NewUnstartedServer(r)
	srv.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			opened++ // called by the goroutine that accepts, alone
		}
	}
	srv.Start()
	s := start(t, Config{URL: srv.URL})
	if err := r.Always(receiver.Behaviour{Do: receiver.Status, Code: 500,
		Body: strings.Repeat("x", 100_000)}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		send(t, s, msg("x"))
	}
	srv.Close()
	if opened != 1 {
		t.Errorf("%d connections for 20 requests in a row", opened)
	}
}

func TestOnlyRedirectsThatKeepTheMethodOnTheSameHostAreFollowed(t *testing.T) {
	far, other := farEnd(t), farEnd(t)
	s := start(t, Config{URL: far.URL() + "old", Headers: map[string]string{"Authorization": "Bearer secret"}})
	for name, c := range map[string]struct {
		told    receiver.Behaviour
		verdict component.Verdict
	}{
		"307 here": {receiver.Behaviour{Do: receiver.Redirect, Location: "/new"}, component.Delivered},
		"308 here": {receiver.Behaviour{Do: receiver.Redirect, Code: 308, Location: far.URL() + "new"},
			component.Delivered},
		"301 here": {receiver.Behaviour{Do: receiver.Redirect, Code: 301, Location: "/new"},
			component.Rejected},
		"303 here": {receiver.Behaviour{Do: receiver.Redirect, Code: 303, Location: "/new"},
			component.Rejected},
		"307 elsewhere": {receiver.Behaviour{Do: receiver.Redirect, Location: other.URL() + "new?token=x"},
			component.Rejected},
		"307 without place": {receiver.Behaviour{Do: receiver.Redirect}, component.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			far.Forget()
			if err := far.Script(c.told); err != nil {
				t.Fatal(err)
			}
			m := msg("body")
			o := send(t, s, m)[0]
			if o.Verdict != c.verdict ||
				far.Count(m.ID.String()) != map[component.Verdict]int{component.Delivered: 1}[c.verdict] {
				t.Fatalf("%+v, delivered %d times", o, far.Count(m.ID.String()))
			}
			if c.verdict == component.Delivered {
				if last := far.Requests()[1]; last.Path != "/new" || string(last.Body) != "body" ||
					last.Method != "POST" {
					t.Errorf("%s %s %q", last.Method, last.Path, last.Body)
				}
			}
		})
	}
	if n := other.Counts().Requests; n != 0 {
		t.Errorf("%d requests went to another host", n)
	}
}

func TestARedirectLoopEnds(t *testing.T) {
	far := farEnd(t)
	if err := far.Always(receiver.Behaviour{Do: receiver.Redirect, Location: "/again"}); err != nil {
		t.Fatal(err)
	}
	if o := send(t, start(t, Config{URL: far.URL()}), msg("x"))[0]; o.Verdict != component.Rejected {
		t.Errorf("%+v", o)
	}
	if n := far.Counts().Requests; n != maxRedirects+1 {
		t.Errorf("%d requests", n)
	}
}

func TestNoSecretIsInAReason(t *testing.T) {
	far := farEnd(t)
	u := strings.Replace(far.URL(), "http://", "http://user:pass-word@", 1) +
		"services/T000/hidden-path?token=hidden-query"
	s := start(t, Config{URL: u, Headers: map[string]string{"Authorization": "Bearer hidden-token",
		"X-Key": "hidden-key"}})
	all := "user:pass-word /services/T000/hidden-path?token=hidden-query hidden-token hidden-key "
	for _, b := range []receiver.Behaviour{
		{Do: receiver.Status, Code: 400, Body: all},
		{Do: receiver.Status, Code: 500, Body: strings.Repeat("z", reasonBytes-8) + all},
		{Do: receiver.Garbage},
		{Do: receiver.Reset},
		{Do: receiver.Redirect, Location: "http://user:pass-word@elsewhere.example/hidden-path"},
		{Do: receiver.Redirect, Location: "http://bad host/services/T000/hidden-path?token=hidden-query"},
	} {
		if err := far.Script(b); err != nil {
			t.Fatal(err)
		}
		o := send(t, s, msg("x"))[0]
		if o.Reason == nil {
			t.Fatalf("%+v: no reason", b)
		}
		for _, secret := range []string{"pass-word", "hidden-"} {
			if strings.Contains(o.Reason.Error(), secret) {
				t.Errorf("%s: %v", b.Do, o.Reason)
			}
		}
	}
}

func TestAReasonIsShort(t *testing.T) {
	far := farEnd(t)
	if err := far.Always(receiver.Behaviour{Do: receiver.Status, Code: 400,
		Body: strings.Repeat("é", 5000)}); err != nil {
		t.Fatal(err)
	}
	o := send(t, start(t, Config{URL: far.URL()}), msg("x"))[0]
	if text := o.Reason.Error(); len(text) > 300 || !strings.HasSuffix(text, "é…") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

func TestABatchCanBeOneRequest(t *testing.T) {
	for payload, want := range map[string]string{array: `[{"a":1},{"b":2}]`, ndjson: "{\"a\":1}\n{\"b\":2}\n"} {
		t.Run(payload, func(t *testing.T) {
			far := farEnd(t)
			s := start(t, Config{URL: far.URL(), Payload: payload, Encoding: lines.Encoding{Codec: "json"}})
			out := send(t, s, msg("not JSON"), msg(`{"a": 1}`), msg("nor this"), msg(`{"b": 2}`))
			for i, o := range out {
				if want := []component.Verdict{component.Rejected, component.Delivered}[i%2]; o.Verdict != want {
					t.Errorf("message %d: %+v", i, o)
				}
			}
			r := far.Requests()
			if len(r) != 1 || string(r[0].Body) != want || r[0].Header.Get(HeaderCount) != "2" {
				t.Fatalf("%d requests, the first %q", len(r), r[0].Body)
			}
			if out := send(t, s, msg("not JSON")); out[0].Verdict != component.Rejected || len(far.Requests()) != 1 {
				t.Errorf("an empty batch was sent")
			}
		})
	}
}

func TestARefusedBatchIsAskedForByHalves(t *testing.T) {
	far := farEnd(t)
	s := start(t, Config{URL: far.URL(), Payload: array, Encoding: lines.Encoding{Codec: "message"}})
	if err := far.Script(receiver.Behaviour{Do: receiver.Status, Code: 422},
		receiver.Behaviour{Do: receiver.Status, Code: 422},
		receiver.Behaviour{Do: receiver.Status, Code: 503}); err != nil {
		t.Fatal(err)
	}
	batch := []*message.Message{msg("1"), msg("2")}
	if out, err := s.Send(t.Context(), batch); out != nil || !component.IsReject(err) {
		t.Fatalf("%v, %v", out, err)
	}
	if out := send(t, s, batch[0]); out[0].Verdict != component.Rejected {
		t.Fatalf("alone: %+v", out[0])
	}
	for _, o := range send(t, s, batch...) {
		if o.Verdict != component.Retry || !o.Slow {
			t.Errorf("%+v", o)
		}
	}
	send(t, s, batch...)
	if c := far.Counts(); c.Messages != 2 || c.Doubles != 0 {
		t.Errorf("%+v", c)
	}
}

func TestHTTP2IsSpokenWhereItIsOfferedAndTheCertificateIsChecked(t *testing.T) {
	r := receiver.NewReceiver()
	proto := make(chan string, 1)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		proto <- req.Proto
		r.ServeHTTP(w, req)
	}))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()

	if o := send(t, start(t, Config{URL: srv.URL}), msg("x"))[0]; o.Verdict != component.Retry ||
		!strings.Contains(o.Reason.Error(), "certificate") {
		t.Errorf("a certificate nobody vouches for: %+v", o)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{URL: srv.URL, TLS: TLS{CAFile: ca}})
	if o := send(t, s, msg("x"))[0]; o.Verdict != component.Delivered {
		t.Fatalf("%+v", o)
	}
	if p := <-proto; p != "HTTP/2.0" {
		t.Errorf("spoke %s", p)
	}
	s.Close()
}

func TestMessagesAreNotChanged(t *testing.T) {
	far := farEnd(t)
	m := msg("x")
	m.Attributes.Set("a", message.Int(1))
	before := *m.Clone()
	send(t, start(t, Config{URL: far.URL(), Encoding: lines.Encoding{Codec: "message"}}), m)
	if !bytes.Equal(m.Body, before.Body) || !slices.Equal(m.Attributes, before.Attributes) || m.ID != before.ID {
		t.Error("the message was changed")
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for setting, c := range map[string]Config{
		"url":                {},
		"url ":               {URL: "ftp://host/"},
		"url  ":              {URL: "/path"},
		"url   ":             {URL: "http://user:secret-word@ho st/"},
		"method":             {URL: "http://h", Method: "GET"},
		"encoding.codec":     {URL: "http://h", Encoding: lines.Encoding{Codec: "xml"}},
		"encoding.codec ":    {URL: "http://h", Payload: "array"},
		"payload":            {URL: "http://h", Payload: "csv"},
		"headers.a b":        {URL: "http://h", Headers: map[string]string{"a b": "x"}},
		"headers.a":          {URL: "http://h", Headers: map[string]string{"a": "secret-word\n"}},
		"headers.connection": {URL: "http://h", Headers: map[string]string{"connection": "close"}},
		"tls":                {URL: "http://h", TLS: TLS{CertFile: "x"}},
		"max_connections":    {URL: "http://h", MaxConnections: -1},
	} {
		_, err := New(c, component.Env{})
		var s *component.SettingError
		if !errors.As(err, &s) || s.Setting != strings.TrimSpace(setting) && s.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: a secret is shown: %v", setting, err)
		}
	}
}

func TestStartReadsTheCertificates(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []TLS{{CAFile: empty}, {CAFile: empty + "x"}, {CertFile: empty, KeyFile: empty}} {
		made, err := New(Config{URL: "https://h", TLS: c}, component.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := made.(*Sink).Start(t.Context()); err == nil {
			t.Errorf("%+v: started", c)
		}
	}
}

func FuzzQuoteIsShortAndPrintable(f *testing.F) {
	f.Add([]byte("hello\r\n\x00\xffworld"))
	f.Add([]byte(strings.Repeat("é", 300)))
	made, err := New(Config{URL: "http://h/hidden-path", Headers: map[string]string{"X": "hidden-key"}},
		component.Env{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		q := made.(*Sink).quote(said)
		if len(q) > reasonBytes+len("…") || strings.ContainsAny(q, "\r\n\x00") || strings.Contains(q, "hidden-key") {
			t.Errorf("%q", q)
		}
	})
}

func FuzzRetryAfterIsNeverNegativeNorForEver(f *testing.F) {
	f.Add("30", int64(0))
	f.Add("Fri, 02 Jan 2026 03:05:05 GMT", int64(1767323105))
	f.Fuzz(func(t *testing.T, text string, now int64) {
		if d := retryAfter(text, time.Unix(now%(1<<40), 0)); d < 0 || d > MaxRetryAfter {
			t.Errorf("%v", d)
		}
	})
}
