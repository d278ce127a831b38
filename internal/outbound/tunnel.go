package outbound

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// A DialFunc connects, as net.Dialer.DialContext does.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// A ProxyError tells that a proxy makes no connection. Its text has no password.
type ProxyError struct {
	Proxy  string // host:port
	To     string // host:port
	Reason string
	Err    error // nil: the proxy has answered
}

func (e *ProxyError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("proxy %s, asked for a connection to %s: %v", e.Proxy, e.To, e.Err)
	}
	return fmt.Sprintf("proxy %s refuses a connection to %s: %s", e.Proxy, e.To, e.Reason)
}

func (e *ProxyError) Unwrap() error { return e.Err }

// Direct is a setting of Tunnel that uses no proxy, whatever the environment names.
const Direct = "direct"

// CheckProxy says what is wrong with a setting of Tunnel.
func CheckProxy(setting string) error {
	_, err := proxyOf(setting)
	return err
}

// proxyOf is the proxy of a setting; nil: none is set.
func proxyOf(setting string) (*url.URL, error) {
	if setting == "" || setting == Direct {
		return nil, nil
	}
	u, err := url.Parse(setting)
	if err != nil {
		// the URL's error would have the password
		return nil, errors.New("the proxy is no URL: write http://host:port or https://user:password@host:port")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Path != "" && u.Path != "/" ||
		u.RawQuery != "" {
		return nil, fmt.Errorf("a proxy is written http://host:port, https://host:port or %q, with user:password@ "+
			"before the host where it asks for them", Direct)
	}
	return u, nil
}

// ProxyFor is what http.Transport.Proxy has to be for a setting of Tunnel.
func ProxyFor(setting string) (func(*http.Request) (*url.URL, error), error) {
	set, err := proxyOf(setting)
	switch {
	case err != nil || setting == Direct:
		return nil, err
	case set == nil:
		return http.ProxyFromEnvironment, nil
	}
	return http.ProxyURL(set), nil
}

// Tunnel makes what connects, as Dial does, but through an HTTP proxy that is asked for the connection with CONNECT:
// the one that setting names; with "" the one that the environment names for https to the address (HTTPS_PROXY and
// NO_PROXY); with Direct none. The proxy is the operator's, and may be anywhere; where a connection goes through it, is
// looked at as Proxy does. A proxy with https is held to secure's certificates. Errors of the proxy are *ProxyError.
func (p *Policy) Tunnel(setting string, secure *tls.Config, d *net.Dialer) (DialFunc, error) {
	dial := p.Dial(d)
	set, err := proxyOf(setting)
	if err != nil || setting == Direct {
		return dial, err
	}
	find := func(*url.URL) (*url.URL, error) { return set, nil }
	if set == nil {
		find = httpproxy.FromEnvironment().ProxyFunc()
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		to := &url.URL{Scheme: "https", Host: address}
		proxy, err := find(to)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the proxy that the environment names for %s: %w", address, err)
		case proxy == nil:
			return dial(ctx, network, address)
		case proxy.Scheme != "http" && proxy.Scheme != "https":
			return nil, fmt.Errorf("the proxy that the environment names for %s has the scheme %q: only http and "+
				"https are supported", address, proxy.Scheme)
		}
		if p != nil && !p.open() {
			if err := p.resolves(ctx, to.Hostname()); err != nil {
				return nil, err
			}
		}
		c, err := d.DialContext(ctx, network, withPort(proxy))
		if err != nil {
			return nil, &ProxyError{Proxy: withPort(proxy), To: address, Err: err}
		}
		through, err := connect(ctx, c, proxy, secure, address)
		if err != nil {
			_ = c.Close()
			return nil, err
		}
		return through, nil
	}, nil
}

// connectTime is how long a proxy may take where the context says nothing.
const connectTime = 30 * time.Second

// maxConnectAnswer bounds what a proxy answers, in bytes.
const maxConnectAnswer = 64 << 10

// connect asks a proxy for a connection. What is returned reads and writes over c.
func connect(ctx context.Context, c net.Conn, proxy *url.URL, secure *tls.Config, to string) (net.Conn, error) {
	wrong := func(err error) error { return &ProxyError{Proxy: withPort(proxy), To: to, Err: err} }
	end, ok := ctx.Deadline()
	if !ok {
		end = time.Now().Add(connectTime)
	}
	if err := c.SetDeadline(end); err != nil {
		return nil, wrong(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if proxy.Scheme == "https" {
		own := new(tls.Config)
		if secure != nil {
			own = secure.Clone()
		}
		own.ServerName, own.NextProtos, own.Certificates, own.GetClientCertificate = proxy.Hostname(), nil, nil, nil
		t := tls.Client(c, own)
		if err := t.HandshakeContext(ctx); err != nil {
			return nil, wrong(err)
		}
		c = t
	}
	var ask strings.Builder
	fmt.Fprintf(&ask, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", to, to)
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		fmt.Fprintf(&ask, "Proxy-Authorization: Basic %s\r\n",
			base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	ask.WriteString("\r\n")
	if _, err := io.WriteString(c, ask.String()); err != nil {
		return nil, wrong(err)
	}
	answer := bufio.NewReader(io.LimitReader(c, maxConnectAnswer))
	res, err := http.ReadResponse(answer, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, wrong(err)
	}
	switch {
	case res.StatusCode == http.StatusProxyAuthRequired:
		return nil, &ProxyError{Proxy: withPort(proxy), To: to, Reason: res.Status + ": write its user and password " +
			"before its host, http://user:password@host:port"}
	case res.StatusCode != http.StatusOK:
		return nil, &ProxyError{Proxy: withPort(proxy), To: to, Reason: res.Status}
	case answer.Buffered() > 0: // the far end of TLS waits for its client
		return nil, &ProxyError{Proxy: withPort(proxy), To: to, Reason: "it sends more than its answer"}
	case !stop():
		return nil, wrong(context.Cause(ctx))
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return nil, wrong(err)
	}
	return c, nil
}
