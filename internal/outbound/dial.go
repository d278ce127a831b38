package outbound

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/net/http/httpproxy"
)

// Dial makes what connects: http.Transport.DialContext, and others' of the same form. It is the dialer's own way, but
// that each address is looked at when it is about to be connected to, whatever resolved it. d is not changed; its
// Control is replaced. Errors contain a *RefusedError.
func (p *Policy) Dial(d *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	if p == nil {
		return d.DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if p.open() || p.proxies.has(address) {
			return d.DialContext(ctx, network, address) // Proxy has looked at where the request goes
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("outbound: %q is not host:port: %w", address, err)
		}
		checking := *d
		checking.ControlContext = nil
		checking.Control = func(_, resolved string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("outbound: %s cannot be told to be allowed: %w", resolved, err)
			}
			return p.allowed(host, to.Addr())
		}
		return checking.DialContext(ctx, network, address)
	}
}

// Proxy is http.ProxyFromEnvironment for a transport whose connections Dial makes. The proxy itself is the operator's,
// and may be anywhere. Where a request goes through it, is looked at here: the host, if it is an address, and what it
// resolves to on this machine. A name that only the proxy can resolve is the proxy's to refuse.
func (p *Policy) Proxy(r *http.Request) (*url.URL, error) {
	if p == nil {
		return http.ProxyFromEnvironment(r)
	}
	proxy, err := p.proxies.of(r.URL)
	if err != nil {
		return nil, err
	}
	if p.open() || proxy == nil && !p.proxies.has(withPort(r.URL)) {
		return proxy, nil // Dial looks at it, if anybody has to
	}
	return proxy, p.resolves(r.Context(), r.URL.Hostname())
}

// resolves refuses a host that stands for an address that may not be reached.
func (p *Policy) resolves(ctx context.Context, host string) error {
	if err := p.CheckHost(host); err != nil {
		return err
	}
	found, err := p.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil //nolint:nilerr // only the proxy can resolve it
	}
	for _, a := range found {
		if err := p.allowed(host, a); err != nil {
			return err
		}
	}
	return nil
}

// resolver is *net.Resolver.
type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// proxies are those that the environment names.
type proxies struct {
	of    func(*url.URL) (*url.URL, error)
	known []string // host:port
}

func environment() proxies {
	c := httpproxy.FromEnvironment()
	ps := proxies{of: c.ProxyFunc()}
	for _, text := range []string{c.HTTPProxy, c.HTTPSProxy} {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			u, err = url.Parse("http://" + text) // as the library reads it
		}
		if err == nil && u.Host != "" {
			ps.known = append(ps.known, withPort(u))
		}
	}
	return ps
}

func (ps *proxies) has(address string) bool {
	return len(ps.known) > 0 && slices.Contains(ps.known, strings.ToLower(address))
}

// withPort is host:port of a URL, as a transport dials it.
func withPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
		if port == "" {
			port = "80"
		}
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}
