package apns

import (
	"net"
	"net/url"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/outbound/proxytest"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
)

func TestPushesGoThroughTheProxy(t *testing.T) {
	p := proxytest.Start(t, url.UserPassword("me", "word"), nil)
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Proxy = p.URL.String() })
	if o := pushtest.Deliver1(t, s, to(device(0))); o.Verdict != component.Delivered {
		t.Error(o)
	}
	if asked := p.Asked(); len(asked) != 1 || asked[0] != f.Addr().String() {
		t.Errorf("the proxy was asked for %v", asked)
	}
}

// TestPushesGoByTheProxyOfTheEnvironment, or past it: to loopback's own addresses nothing goes by a proxy that the
// environment names, so the far end has another one of this machine.
func TestPushesGoByTheProxyOfTheEnvironment(t *testing.T) {
	const here = "0.0.0.0"
	f := newFar(t, func(c *sandbox.Config) { c.Names = []string{here} })
	_, port, err := net.SplitHostPort(f.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	f.app.Endpoint = net.JoinHostPort(here, port)
	for past, want := range map[string][]string{
		"": {f.app.Endpoint}, here: nil, "other.example": {f.app.Endpoint}, "other.example," + here: nil,
	} {
		t.Run("NO_PROXY="+past, func(t *testing.T) {
			p := proxytest.Start(t, nil, nil)
			t.Setenv("HTTPS_PROXY", p.URL.String())
			t.Setenv("NO_PROXY", past)
			t.Setenv("no_proxy", past)
			s := newSink(t, f, nil)
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(0))), component.Delivered, "")
			if asked := p.Asked(); !slices.Equal(asked, want) {
				t.Errorf("the proxy was asked for %v, want %v", asked, want)
			}
		})
	}
}
