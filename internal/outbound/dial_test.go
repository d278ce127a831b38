package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server that answers with the next of a name's addresses each time it is asked.
func names(t *testing.T, answers ...string) *net.Resolver {
	t.Helper()
	server, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		asked, buf := 0, make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				a := netip.MustParseAddr(answers[min(asked, len(answers)-1)]).As4()
				asked++
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type,
					Class: q.Class, TTL: 0}, Body: &dnsmessage.AResource{A: a}}}
			}
			out, err := m.Pack()
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := server.WriteTo(out, from); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func get(t *testing.T, c *http.Client, address string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(r)
	if err == nil {
		_ = res.Body.Close()
	}
	return err
}

func wantRefused(t *testing.T, err error, host, addr string) {
	t.Helper()
	refused := (*RefusedError)(nil)
	if !errors.As(err, &refused) || refused.Host != host || refused.Addr != netip.MustParseAddr(addr) {
		t.Errorf("%v, want a refusal of %s (%s)", err, host, addr)
	}
}

func TestANameIsLookedAtWhereItLeadsEachTime(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer inside.Close()
	_, port, err := net.SplitHostPort(inside.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// 127.0.0.2 is allowed and 127.0.0.1 is not: the name leads to the first, and then elsewhere.
	p := policy(t, "127.0.0.2")
	dialer := &net.Dialer{Timeout: 10 * time.Second, Resolver: names(t, "127.0.0.2", "127.0.0.1")}
	dial := p.Dial(dialer)
	c, err := dial(t.Context(), "tcp4", "rebound.example:"+port)
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		t.Errorf("the allowed address is refused: %v", err)
	}
	if err == nil {
		_ = c.Close()
	}
	_, err = dial(t.Context(), "tcp4", "rebound.example:"+port)
	wantRefused(t, err, "rebound.example", "127.0.0.1")
	// A host that is named may lead anywhere.
	if err := p.Set([]string{"rebound.example"}); err != nil {
		t.Fatal(err)
	}
	if c, err = dial(t.Context(), "tcp4", "rebound.example:"+port); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if dialer.Control != nil {
		t.Error("the dialer was changed")
	}
}

func TestRedirectsAreLookedAt(t *testing.T) {
	reached := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer inside.Close()
	first := httptest.NewUnstartedServer(http.RedirectHandler(inside.URL, http.StatusTemporaryRedirect))
	var err error
	if first.Listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.3:0"); err != nil {
		t.Fatal(err)
	}
	first.Start()
	defer first.Close()
	p := policy(t, "127.0.0.3")
	transport := &http.Transport{Proxy: p.Proxy, DialContext: p.Dial(&net.Dialer{})}
	defer transport.CloseIdleConnections()
	wantRefused(t, get(t, &http.Client{Transport: transport}, first.URL), "127.0.0.1", "127.0.0.1")
	if reached {
		t.Error("the redirect led inside")
	}
}

func TestAProxyMayBeAnywhereAndDoesNotLeadInside(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		asked = append(asked, r.URL.Host)
	}))
	defer proxy.Close()
	to, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := policy(t)
	p.proxies = proxies{known: []string{to.Host}, of: func(u *url.URL) (*url.URL, error) {
		if u.Host == to.Host {
			return nil, nil // as NO_PROXY may say
		}
		return to, nil
	}}
	p.resolver = names(t, "10.0.0.7")
	transport := &http.Transport{Proxy: p.Proxy, DialContext: p.Dial(&net.Dialer{})}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	if err := get(t, client, "http://8.8.8.8/"); err != nil {
		t.Errorf("a public address through the proxy: %v", err)
	}
	wantRefused(t, get(t, client, "http://169.254.169.254/latest"), "169.254.169.254", "169.254.169.254")
	wantRefused(t, get(t, client, "http://inside.example/"), "inside.example", "10.0.0.7")
	wantRefused(t, get(t, client, proxy.URL), "127.0.0.1", "127.0.0.1")
	if len(asked) != 1 {
		t.Errorf("the proxy was asked for %v", asked)
	}
}

func TestTheEnvironmentsProxiesAreKnown(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://Proxy.internal:3128")
	t.Setenv("HTTPS_PROXY", "secure.internal")
	t.Setenv("NO_PROXY", "")
	ps := environment()
	if !ps.has("proxy.internal:3128") || !ps.has("secure.internal:80") || ps.has("proxy.internal:80") {
		t.Errorf("%v", ps.known)
	}
}
