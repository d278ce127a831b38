package page

import (
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard keeps out what other web pages make a browser send:
//
//   - A name that another has pointed at this machine: the request's host has to be localhost, an address, or one of
//     the configured names.
//   - A page from elsewhere: what changes something has to come from this page, by the browser's own word (Origin,
//     Sec-Fetch-Site), and to be JSON, which a form cannot send.
//
// A program on the machine that is no browser sends what it likes; whoever may use the machine may use the page.
func (p *Page) guard(r *http.Request) error {
	if !p.known(r.Host) {
		return fmt.Errorf("the page is not known as %q; name it with --host, or use its address", r.Host)
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return fmt.Errorf("this request comes from another page (%s)", site)
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) {
			return fmt.Errorf("this request comes from another page (%s)", origin)
		}
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return errors.New("this request is not JSON")
	}
	return nil
}

// known tells whether a request may name this host.
func (p *Page) known(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return true // nobody can point an address elsewhere
	}
	return name == "localhost" ||
		slices.ContainsFunc(p.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}
