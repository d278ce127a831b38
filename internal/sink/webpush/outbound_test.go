package webpush

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// inside is a sink that may post to any host, as far as the addresses allow it, and its policy.
func inside(t *testing.T, f *far, allow ...string) (*Sink, *outbound.Policy) {
	t.Helper()
	policy, err := outbound.New(allow)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{KeyFile: f.key, Subject: "mailto:push@example.com", CAFile: f.ca, Services: []string{"*"}}
	return pushtest.Start[*Sink](t, New, c,
		component.Env{Name: "browsers", Store: pushtest.Store(t), Outbound: policy}), policy
}

func TestEndpointsInsideAreRejected(t *testing.T) {
	f := newFar(t, nil)
	s, policy := inside(t, f, "127.0.0.1")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.subscribe(t))), component.Delivered, "")
	if err := policy.Set(nil); err != nil {
		t.Fatal(err)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.subscribe(t))), component.Rejected, "127.0.0.1 may not be reached")
	sub := f.subscribe(t)
	for _, endpoint := range []string{"https://localhost/x", "https://169.254.169.254/x", "https://[::1]:8443/x",
		"https://2130706433/x"} {
		sub.Endpoint = endpoint
		pushtest.Want(t, pushtest.Deliver1(t, s, to(sub)), component.Rejected, "outbound: allow")
	}
}

func TestEndpointsWhoseNamesLeadInsideAreRejected(t *testing.T) {
	f := newFar(t, nil)
	s, _ := inside(t, f)
	s.reach = nil // as if the endpoint had a name: only the connection finds out where it leads
	answered := make(chan component.Outcome, 1)
	s.Deliver(to(f.subscribe(t)), time.Now().Add(time.Second), func(o component.Outcome) { answered <- o })
	pushtest.Want(t, <-answered, component.Rejected, "127.0.0.1 may not be reached")
	if n := f.Counts().Connections; n != 0 {
		t.Errorf("%d connections were made", n)
	}
}
