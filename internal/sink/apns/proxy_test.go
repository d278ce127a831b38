package apns

import (
	"net/url"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/outbound/proxytest"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
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
