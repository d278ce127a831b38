package door

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/door/line"
	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func say(text string) http.HandlerFunc {
	// a client that is gone misses it
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func open(t *testing.T, c Config) *Web {
	t.Helper()
	c.Name, c.Listen = "test", "127.0.0.1:0"
	if c.Report == nil {
		c.Report = func(err error) { t.Log(err) }
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 10
	}
	if c.Handler == nil {
		c.Handler = say("handler")
	}
	w, err := Listen(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	w.Serve()
	t.Cleanup(func() { _ = w.Close(context.Background()) }) // a test that wants to know has closed it
	return w
}

// ask makes a request on a connection of its own.
func ask(t *testing.T, w *Web, method string, trust *tls.Config) (*http.Response, string) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	scheme := "http://"
	if trust != nil {
		scheme = "https://"
	}
	req, err := http.NewRequestWithContext(t.Context(), method, scheme+w.Addr().String(), strings.NewReader("abc"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func plain(x *line.Exchange) { _ = x.Send(http.StatusOK, append(x.Begin(), "plain"...)) } // as say

func TestPlainRequestsHaveAWayOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		plain func(*line.Exchange)
		want  map[string]string
	}{
		{nil, map[string]string{"POST": "handler", "PUT": "handler"}},
		{plain, map[string]string{"POST": "plain", "PUT": "handler"}},
	} {
		w := open(t, Config{Plain: c.plain})
		for method, want := range c.want {
			if _, got := ask(t, w, method, nil); got != want {
				t.Errorf("%s is answered by %s, not %s", method, got, want)
			}
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestBothWaysSpeakTLS(t *testing.T) {
	known := httptest.NewUnstartedServer(nil)
	known.StartTLS()
	defer known.Close()
	trust := known.Client().Transport.(*http.Transport).TLSClientConfig
	for _, c := range []struct {
		plain     func(*line.Exchange)
		protocols []string
		major     int
		want      string
	}{
		{nil, nil, 2, "handler"},
		{plain, []string{"http/1.1"}, 1, "plain"},
	} {
		w := open(t, Config{Plain: c.plain,
			TLS: &tls.Config{Certificates: known.TLS.Certificates, NextProtos: c.protocols}})
		if resp, got := ask(t, w, "POST", trust.Clone()); got != c.want || resp.ProtoMajor != c.major {
			t.Errorf("answered by %s over %s", got, resp.Proto)
		}
	}
}

func TestPlainHTTPToTLSIsToldSo(t *testing.T) {
	known := httptest.NewUnstartedServer(nil)
	known.StartTLS()
	defer known.Close()
	for _, way := range []func(*line.Exchange){nil, plain} {
		w := open(t, Config{Plain: way, TLS: &tls.Config{Certificates: known.TLS.Certificates}})
		for request, told := range map[string]bool{"GET / HTTP/1.1\r\n\r\n": true, "POST /a HTTP/1.1\r\n\r\n": true,
			"something else entirely": false} {
			c, err := net.Dial("tcp", w.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(c) // it may be reset behind the answer
			if (strings.HasPrefix(string(text), "HTTP/1.0 400 ") && strings.Contains(string(text), "HTTPS")) != told {
				t.Errorf("plain %t: %q is answered with %q", way != nil, request, text)
			}
			_ = c.Close()
		}
	}
}

// Who they are is not known yet, and as many of them can come as connect: they are counted, and fill no log.
func TestHandshakesThatFailAreCounted(t *testing.T) {
	known := httptest.NewUnstartedServer(nil)
	known.StartTLS()
	defer known.Close()
	for _, way := range []func(*line.Exchange){nil, plain} {
		traffic := NewTraffic("sqs")
		w := open(t, Config{Plain: way, TLS: &tls.Config{Certificates: known.TLS.Certificates}, Traffic: traffic,
			Report: func(err error) { t.Errorf("plain %t: it is told of %v", way != nil, err) }})
		for _, text := range []string{"\x16\x03\x01\x02\x00", "something else entirely", ""} {
			c, err := net.Dial("tcp", w.Addr().String())
			if err == nil {
				_, err = io.WriteString(c, text)
			}
			if err == nil {
				err = c.(*net.TCPConn).CloseWrite()
			}
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.ReadAll(c) // until it is closed, after what would be said
			_ = c.Close()
		}
		trust := known.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		if resp, _ := ask(t, w, "GET", trust); resp == nil {
			t.Error("one that does not fail")
		}
		doortest.Until(t, "three are counted", func() bool {
			return metricstest.Of(t, traffic)["hikyaku_door_tls_handshakes_failed_total sqs"] == 3
		})
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	for _, way := range []func(*line.Exchange){nil, plain} {
		held, goOn := make(chan struct{}, 2), make(chan struct{})
		w := open(t, Config{MaxConnections: 1, Plain: way,
			Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				held <- struct{}{}
				<-goOn
			})})
		var conns [2]net.Conn
		for i := range conns {
			var err error
			if conns[i], err = net.Dial("tcp", w.Addr().String()); err != nil {
				t.Fatal(err)
			}
			defer conns[i].Close()
			if _, err := io.WriteString(conns[i],
				"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				<-held
			}
		}
		if len(held) != 0 {
			t.Error("the second connection is served beside the first")
		}
		close(goOn)
		for _, c := range conns { // the second one is served when the first has ended
			if text, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200") {
				t.Errorf("%q, %v", text, err)
			}
		}
	}
}

func TestATakenAddressIsToldWithAnAdvice(t *testing.T) {
	w := open(t, Config{})
	for option, want := range map[string]string{"": "api: test: listen:)",
		"--listen": "api: test: listen:, or --listen)"} {
		_, err := Listen(t.Context(), Config{Name: "test", Option: option, Listen: w.Addr().String()})
		if err == nil || !strings.Contains(err.Error(), "test door: cannot listen on "+w.Addr().String()) ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
	if _, err := Listen(t.Context(), Config{Name: "test", Listen: "192.0.2.1:1"}); err == nil ||
		!strings.Contains(err.Error(), "does not have that address") {
		t.Errorf("%v", err)
	}
}

func TestAnAddressThatIsNotServedIsGivenBack(t *testing.T) {
	for _, way := range []func(*line.Exchange){nil, plain} {
		w, err := Listen(t.Context(), Config{Name: "test", Listen: "127.0.0.1:0", Plain: way, MaxConnections: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", w.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}

func TestAClosingDoorWaitsForWhatIsUnderWayAsLongAsItMay(t *testing.T) {
	for _, way := range []func(*line.Exchange){nil, func(x *line.Exchange) { x.Leave() }} {
		working, goOn := make(chan struct{}), make(chan struct{})
		w := open(t, Config{Plain: way, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(working)
			<-goOn
		})})
		conn, err := net.Dial("tcp", w.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn,
			"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		<-working
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("its connection was not cut")
		}
		close(goOn)
	}
}

func TestAPanicOfAPlainRequestIsTold(t *testing.T) {
	told := make(chan error, 1)
	w := open(t, Config{Plain: func(*line.Exchange) { panic("oh") }, Report: func(err error) { told <- err }})
	conn, err := net.Dial("tcp", w.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-told; err.Error() != "test door: panic: oh" {
		t.Error(err)
	}
}
