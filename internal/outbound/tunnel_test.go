package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/outbound/proxytest"
)

// through asks a server of TLS over connections that dial makes.
func through(t *testing.T, server *httptest.Server, dial DialFunc) (string, error) {
	t.Helper()
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.DialContext, transport.Proxy = dial, nil
	defer transport.CloseIdleConnections()
	r, err := (&http.Client{Transport: transport}).Get(server.URL)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return string(text), err
}

func TestATunnelGoesThroughItsProxy(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "here")
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	for name, p := range map[string]*proxytest.Proxy{
		"http": proxytest.Start(t, nil, nil), "with a password": proxytest.Start(t, url.UserPassword("me", "s3cret:/"),
			nil),
		"https": proxytest.Start(t, nil, &tls.Config{Certificates: server.TLS.Certificates}),
	} {
		dial, err := (*Policy)(nil).Tunnel(p.URL.String(), &tls.Config{RootCAs: trusted, NextProtos: []string{"h2"}},
			&net.Dialer{})
		if err != nil {
			t.Fatal(name, err)
		}
		if text, err := through(t, server, dial); text != "here" || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if asked := p.Asked(); len(asked) != 1 || asked[0] != address {
			t.Errorf("%s was asked for %v", name, asked)
		}
	}
	unused := proxytest.Start(t, nil, nil)
	t.Setenv("HTTPS_PROXY", unused.URL.String())
	dial, err := (*Policy)(nil).Tunnel(Direct, nil, &net.Dialer{})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := through(t, server, dial); text != "here" || err != nil || len(unused.Asked()) > 0 {
		t.Errorf("directly: %q, %v", text, err)
	}
}

func TestWhatAProxyRefusesIsToldWithoutItsPassword(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	odd, stop := oddProxy(t)
	defer stop()
	asking := proxytest.Start(t, url.UserPassword("me", "right"), nil)
	for name, c := range map[string]struct{ proxy, to, want string }{
		"a wrong password": {"http://me:s3cret@" + asking.URL.Host, closed.Addr().String(),
			"407 Proxy Authentication Required: write its user and password"},
		"nobody there":    {"http://me:s3cret@" + closed.Addr().String(), "127.0.0.1:9", "connection refused"},
		"no such far end": {"http://me:right@" + asking.URL.Host, closed.Addr().String(), "502 Bad Gateway"},
		"it is silent":    {"http://me:s3cret@" + silent.Addr().String(), "127.0.0.1:9", "i/o timeout"},
		"it talks on":     {"http://me:s3cret@" + odd, "127.0.0.1:9", "sends more than its answer"},
	} {
		dial, err := (*Policy)(nil).Tunnel(c.proxy, nil, &net.Dialer{})
		if err != nil {
			t.Fatal(name, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		conn, err := dial(ctx, "tcp", c.to)
		cancel()
		var told *ProxyError
		if conn != nil || !errors.As(err, &told) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), told.Proxy) {
			t.Errorf("%s: %v, %v", name, conn, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error has the password: %v", name, err)
		}
	}
}

// oddProxy is one that says more than it was asked.
func oddProxy(t *testing.T) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Read(make([]byte, 1000))
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\nhello")
	}()
	return l.Addr().String(), func() {
		l.Close()
		<-done
	}
}

func TestATunnelLeadsNowhereThatMayNotBeReached(t *testing.T) {
	p := proxytest.Start(t, nil, nil)
	policy, err := New([]string{"10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	dial, err := policy.Tunnel(p.URL.String(), nil, &net.Dialer{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = dial(t.Context(), "tcp", "169.254.169.254:443")
	var refused *RefusedError
	if !errors.As(err, &refused) || len(p.Asked()) > 0 {
		t.Errorf("%v, and the proxy was asked for %v", err, p.Asked())
	}
}

func TestAProxyIsAURL(t *testing.T) {
	for setting, good := range map[string]bool{
		"": true, Direct: true, "http://proxy:3128": true, "https://me:word@proxy.example:8443/": true,
		"http://[::1]:3128": true,
		"proxy:3128":        false, "socks5://proxy:1080": false, "http://": false, "http://proxy/path": false,
		"http://me:s3cret@pro xy": false, "ftp://x": false,
	} {
		err := CheckProxy(setting)
		if (err == nil) != good {
			t.Errorf("%q: %v", setting, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error has the password: %v", err)
		}
	}
}
