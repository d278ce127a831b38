package apns

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// TestTheFirstFourAfterARestGoToDevicesThatTookAPush: what the far end says of them is about the settings, for their
// tokens were good.
func TestTheFirstFourAfterARestGoToDevicesThatTookAPush(t *testing.T) {
	const known, strangers = 10, 100
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	var now atomic.Int64 // stands still: who goes first depends on how long ago the rest ended
	now.Store(time.Now().UnixNano())
	s.clock = func() time.Time { return time.Unix(0, now.Load()) }
	if n := verdictsOf(pushtest.Deliver(t, s, campaign(known)...)); n[component.Delivered] != known {
		t.Fatalf("before: %v", n)
	}
	f.behave(t, refusing("BadDeviceToken", 0))
	pushtest.Deliver(t, s, campaign(1000)...)
	if s.Waits() == nil {
		t.Fatal("the app does not rest")
	}
	before := f.Counts().Requests
	now.Add(int64(31 * time.Second))
	var ms []*message.Message // those of strangers are asked for first
	for i := range strangers {
		ms = append(ms, to(device(1000+i)))
	}
	for i, o := range pushtest.Deliver(t, s, append(ms, campaign(known)...)...) {
		if o.Verdict != component.Retry || !o.Held {
			t.Errorf("message %d: %+v", i, o)
		}
	}
	probes := f.Seen()[before:]
	if len(probes) != 4 {
		t.Fatalf("%d requests after the rest", len(probes))
	}
	for _, p := range probes {
		if token := strings.TrimPrefix(p.Path, "/3/device/"); token >= device(known) {
			t.Errorf("%s never took a push", token)
		}
	}
}
