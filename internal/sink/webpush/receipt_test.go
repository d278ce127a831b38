package webpush

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
	sub := f.subscribe(t)
	origin, _, _ := strings.Cut(strings.TrimPrefix(sub.Endpoint, "https://"), "/")
	want := func(what string, o component.Outcome, id, reason string) {
		t.Helper()
		r := o.Receipt
		if r == nil || r.App != "https://"+origin || r.Device != receipt.Device(sub.Endpoint) || r.Reason != reason ||
			!strings.Contains(r.PushID, id) || (id == "") != (r.PushID == "") {
			t.Errorf("%s: %+v", what, r)
		}
	}
	want("delivered", pushtest.Deliver1(t, s, to(sub)), "/message/", "")
	f.Unsubscribe(sub.Endpoint)
	want("gone", pushtest.Deliver1(t, s, to(sub)), "", "answer 410")
	want("known to be gone", pushtest.Deliver1(t, s, to(sub)), "", "subscription gone")
}
