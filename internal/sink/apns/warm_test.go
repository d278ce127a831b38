package apns

import (
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// TestAWrongCampaignWastesFewRequestsAlsoWhereOthersWereRight: a sink knows its topic well, and then comes a campaign
// that is wrong from its first to its last message.
func TestAWrongCampaignWastesFewRequestsAlsoWhereOthersWereRight(t *testing.T) {
	const many = 20_000
	late := farend.Latency{Median: farend.Duration(20 * time.Millisecond)}
	wrong := refusing("DeviceTokenNotForTopic", 0)
	wrong.Latency = late
	for name, c := range map[string]struct {
		before func(t *testing.T, s *Sink)
		then   farend.Behaviour
		of     []string // attributes of the messages that are wrong
	}{
		"another campaign": {func(t *testing.T, s *Sink) {
			pushtest.Deliver(t, s, campaign(6000, "campaign", "right")...)
		}, wrong, []string{"campaign", "wrong"}},
		"a topic that the messages name": {func(t *testing.T, s *Sink) {
			pushtest.Deliver(t, s, campaign(6000)...)
		}, farend.Behaviour{Latency: late}, []string{"topic", "com.example.nwes"}},
		"after some now and then": {func(t *testing.T, s *Sink) {
			for some := range slices.Chunk(campaign(6000), 100) {
				pushtest.Deliver(t, s, some...)
			}
		}, wrong, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFar(t, nil)
			f.behave(t, farend.Behaviour{Latency: late})
			s := newSink(t, f, nil)
			c.before(t, s)
			if n := f.Counts().Accepted; n != 6000 {
				t.Fatalf("%d were pushed before", n)
			}
			f.behave(t, c.then)
			for i, o := range pushtest.Deliver(t, s, campaign(many, c.of...)...) {
				if o.Verdict != component.Retry || !o.Held {
					t.Fatalf("message %d: %+v", i, o)
				}
			}
			if n := f.Counts().Requests - 6000; n > 400 {
				t.Errorf("%d requests were wasted", n)
			}
			if s.Waits() == nil || !s.Figures().Apps[bundle].Paused || s.dead.Len() != 0 ||
				pushtest.Reports(t, s.store) != "" {
				t.Errorf("it waits for %v, and %d devices count as gone", s.Waits(), s.dead.Len())
			}
			if len(c.then.Faults) > 0 {
				return
			}
			if n := verdictsOf(pushtest.Deliver(t, s, campaign(100)...)); n[component.Delivered] != 100 {
				t.Errorf("of another topic: %v", n)
			}
		})
	}
}
