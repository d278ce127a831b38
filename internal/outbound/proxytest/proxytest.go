// Package proxytest is an HTTP proxy for tests: it makes the connections that CONNECT asks for.
package proxytest

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
)

// A Proxy listens on loopback until the test ends.
type Proxy struct {
	URL *url.URL // with User, where it asks for one

	mu    sync.Mutex
	asked []string // host:port
	open  []net.Conn
	ended bool
}

// Start starts a proxy. With user it asks for it and password; with secure it is one of https.
func Start(t testing.TB, user *url.Userinfo, secure *tls.Config) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{URL: &url.URL{Scheme: "http", Host: l.Addr().String(), User: user}}
	if secure != nil {
		p.URL.Scheme, l = "https", tls.NewListener(l, secure)
	}
	server := &http.Server{Handler: http.HandlerFunc(p.serve)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // it ends by Close
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
		for _, c := range p.open {
			_ = c.Close()
		}
	})
	return p
}

// Asked is where connections were asked for, in order.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
		return
	}
	if p.URL.User != nil {
		asked := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		name, password, _ := asked.BasicAuth()
		if want, _ := p.URL.User.Password(); name != p.URL.User.Username() || password != want {
			http.Error(w, "who are you?", http.StatusProxyAuthRequired)
			return
		}
	}
	far, err := new(net.Dialer).DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	if !p.keep(r.Host, near, far) {
		return
	}
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pass(far, near) })
	both.Go(func() { pass(near, far) })
	both.Wait()
}

// keep notes a tunnel, unless the proxy has ended.
func (p *Proxy) keep(to string, ends ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked, p.open = append(p.asked, to), append(p.open, ends...)
	return !p.ended
}

// pass copies until one side ends, and ends the other one.
func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}
