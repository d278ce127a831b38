package fcm

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/push/receipt"
)

func TestOutcomesSayWhatReceiptsTell(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Receipts = "receipts" })
	if s.Receipts().Short() != "receipts" {
		t.Errorf("to %v", s.Receipts())
	}
	want := func(what string, o component.Outcome, device, id, reason string) {
		t.Helper()
		r := o.Receipt
		if r == nil || r.App != "news" || r.Environment != "" || r.Device != device || r.Reason != reason ||
			!strings.HasPrefix(r.PushID, id) || (id == "") != (r.PushID == "") {
			t.Errorf("%s: %+v", what, r)
		}
	}
	const ids = "projects/campaign/messages/"
	o := pushtest.Deliver1(t, s, to(device(0)))
	want("delivered", o, receipt.Device(device(0)), ids, "")
	topic := pushtest.Deliver1(t, s, to("", "topic", "news"))
	want("to a topic", topic, "", ids, "")
	if topic.Receipt.PushID == o.Receipt.PushID {
		t.Errorf("two messages are %s", o.Receipt.PushID)
	}
	f.refuse(t, "UNREGISTERED", 0)
	want("gone", pushtest.Deliver1(t, s, to(device(1))), receipt.Device(device(1)), "", "UNREGISTERED")
	want("known to be gone", pushtest.Deliver1(t, s, to(device(1))), receipt.Device(device(1)), "", "device gone")
}
