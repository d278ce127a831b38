package farend

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
)

// lines are what a developer is told.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) tell(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) with(part string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// TestWhoIsRefusedIsToldWhy connects in ways that fail, and looks what the counts and the developer are told.
func TestWhoIsRefusedIsToldWhy(t *testing.T) {
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := other.Server("stranger")
	if err != nil {
		t.Fatal(err)
	}
	trusting := func(change func(*tls.Config)) *tls.Config {
		c := &tls.Config{RootCAs: a.Pool(), ServerName: "localhost", NextProtos: []string{"h2"}}
		change(c)
		return c
	}
	// over speaks TLS as far as it gets, and writes something.
	over := func(c *tls.Config, text string) func(net.Conn) {
		return func(nc net.Conn) {
			secure := tls.Client(nc, c)
			if secure.Handshake() == nil {
				_, _ = io.WriteString(secure, text) // it is refused
				_, _ = io.Copy(io.Discard, secure)
			}
		}
	}
	for why, c := range map[string]struct {
		connect func(net.Conn)
		hint    string
	}{
		brokenPlain: {func(nc net.Conn) {
			_, _ = io.WriteString(nc, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
			_, _ = io.Copy(io.Discard, nc)
		}, "--plain"},
		brokenDistrust: {over(trusting(func(c *tls.Config) { c.RootCAs = other.Pool() }), ""), "authority.pem"},
		brokenALPN:     {over(trusting(func(c *tls.Config) { c.NextProtos = []string{"spdy/3"} }), ""), "ALPN"},
		brokenHTTP1: {over(trusting(func(c *tls.Config) { c.NextProtos = nil }), "GET / HTTP/1.1\r\n\r\n"),
			"HTTP/2 alone"},
		brokenPreface: {over(trusting(func(*tls.Config) {}), "HELLO, IS THERE ANYBODY?"), "HTTP/2 begins"},
		brokenHungUp:  {func(nc net.Conn) { nc.Close() }, "in the middle of the handshake"},
		brokenClient: {over(trusting(func(c *tls.Config) { c.Certificates = []tls.Certificate{stranger} }), ""),
			"sandbox's authority"},
		brokenRules + ": PROTOCOL_ERROR": {over(trusting(func(*tls.Config) {}),
			http2.ClientPreface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"+ // settings
				"\x00\x00\x00\x00\x00\x00\x00\x00\x02"), // and data of stream 2, which a client cannot open
			"RFC 9113"},
	} {
		t.Run(why, func(t *testing.T) {
			var l lines
			s := start(t, Config{Authority: a, Clients: true, Trouble: l.tell})
			for range 3 {
				nc, err := net.Dial("tcp", s.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				c.connect(nc)
				nc.Close()
			}
			eventually(t, "all are refused", func() bool { return s.Counts().Broken == 3 })
			if n := s.Counts().BrokenBy; n[why] != 3 || len(n) != 1 {
				t.Errorf("%v; told %q", n, l.all)
			}
			if l.with(c.hint) != 1 || len(l.all) != 1 {
				t.Errorf("told %q, not once of %q", l.all, c.hint)
			}
			s.Forget()
			if n := s.Counts().BrokenBy; len(n) != 0 {
				t.Errorf("forgotten, and yet %v", n)
			}
		})
	}
}

func TestARefusedRequestIsTold(t *testing.T) {
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	var l lines
	s := start(t, Config{Authority: a, Trouble: l.tell, HTTP1: true})
	for _, http2 := range []bool{true, false} {
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Pool()}, ForceAttemptHTTP2: http2}
		defer tr.CloseIdleConnections()
		req, err := http.NewRequest("POST", s.URL()+"/phone/1", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("trust", "no")
		resp, err := (&http.Client{Transport: tr, Timeout: patience}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if l.with("refused a request: 403 Untrusted") != 1 || len(l.all) != 1 {
		t.Errorf("told %q", l.all)
	}
}
