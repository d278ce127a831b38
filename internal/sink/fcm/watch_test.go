package fcm

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// campaign makes messages for n devices.
func campaign(n int) []*message.Message {
	ms := make([]*message.Message, n)
	for i := range ms {
		ms[i] = to(device(i))
	}
	return ms
}

func TestAWrongProjectLosesNoDeviceAndNoMessage(t *testing.T) {
	f := newFar(t, nil)
	f.refuse(t, "SENDER_ID_MISMATCH", 0)
	s := newSink(t, f, nil)
	var clock pushtest.Clock
	s.clock = clock.Now
	for i, o := range pushtest.Deliver(t, s, campaign(5000)...) {
		if o.Verdict != component.Retry {
			t.Fatalf("message %d: %+v", i, o)
		}
	}
	if n := f.Counts().Requests; n > 400 {
		t.Errorf("%d requests were wasted", n)
	}
	if got := pushtest.Reports(t, s.store); s.dead.Len() != 0 || got != "" {
		t.Errorf("%d devices count as gone; reports: %s", s.dead.Len(), got)
	}
	if why := s.Waits(); why == nil || !strings.Contains(why.Error(), "account_file") {
		t.Errorf("it waits for %v", why)
	}

	f.behave(t, farend.Behaviour{}) // it was put right
	clock.Forward(time.Minute)
	if rejected := pushtest.Persist(t, s, campaign(500)); rejected != 0 || s.Waits() != nil {
		t.Errorf("%d are rejected after the mend, it waits for %v", rejected, s.Waits())
	}
}

func TestATokenOfAnotherProjectAmongGoodOnesIsGone(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{device(7)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "SENDER_ID_MISMATCH"}}}}})
	s := newSink(t, f, nil)
	got := pushtest.Among(t, s, to(device(7)), func() []*message.Message { return campaign(100)[10:] })
	pushtest.Want(t, got, component.Rejected, "SENDER_ID_MISMATCH")
	if got := pushtest.Reports(t, s.store); s.dead.Len() != 1 ||
		!strings.Contains(got, `"state":"gone","reason":"SENDER_ID_MISMATCH"`) {
		t.Errorf("%d devices count as gone; reports: %s", s.dead.Len(), got)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(7))), component.Rejected, "gone since")
}

func TestAnInstallationIsADevice(t *testing.T) {
	const installation = "cx0mHBlDR4-y_ZEWDqvXb1"
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to("", "fid", installation)), component.Delivered, "")
	if n := f.CountDevice(installation); n != 1 {
		t.Errorf("it got %d messages", n)
	}
	f.refuse(t, "UNREGISTERED", 0)
	pushtest.Want(t, pushtest.Deliver1(t, s, to("", "fid", installation)), component.Rejected, "UNREGISTERED")
	pushtest.Want(t, pushtest.Deliver1(t, s, to("", "fid", installation)), component.Rejected, "gone since")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "fid", installation)), component.Rejected, "more than one")
}
