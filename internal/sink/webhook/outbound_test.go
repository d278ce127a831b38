package webhook

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/outbound"
)

func TestWhatWouldGoInsideIsRejectedWithTheSetting(t *testing.T) {
	far := farEnd(t)
	policy, err := outbound.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	made, err := New(Config{URL: far.URL(), Headers: map[string]string{"Connection-Note": "x"}},
		component.Env{Name: "hook", Outbound: policy})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Sink)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if o := send(t, s, msg("a"))[0]; o.Verdict != component.Delivered {
		t.Fatalf("%+v", o)
	}
	s.client.CloseIdleConnections()
	if err := policy.Set(nil); err != nil {
		t.Fatal(err)
	}
	o := send(t, s, msg("b"))[0]
	if o.Verdict != component.Rejected || !strings.Contains(o.Reason.Error(), "127.0.0.1") ||
		!strings.Contains(o.Reason.Error(), "outbound: allow") {
		t.Errorf("%+v", o)
	}
	if _, err := New(Config{URL: far.URL()}, component.Env{Name: "hook", Outbound: policy}); err == nil {
		t.Error("an address inside may be set")
	}
}
