package apns

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/push/receipt"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

func TestOutcomesSayWhatReceiptsTell(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Receipts = "receipts" })
	if s.Receipts().Short() != "receipts" {
		t.Errorf("to %v", s.Receipts())
	}
	want := func(what string, o component.Outcome, token, id, reason string) {
		t.Helper()
		r := component.Receipt{App: bundle, Environment: "production", Device: receipt.Device(token), PushID: id,
			Reason: reason}
		if got := o.Receipt; got == nil || got.App != r.App || got.Environment != r.Environment ||
			got.Device != r.Device ||
			got.PushID != r.PushID || got.Reason != r.Reason {
			t.Errorf("%s: %+v, want %+v", what, got, r)
		}
	}
	o := pushtest.Deliver1(t, s, to(device(0)))
	want("delivered", o, device(0), f.last(t).Get("apns-id"), "")
	late := to(device(0))
	late.Expires = time.Now().Add(-time.Second)
	want("expired", pushtest.Deliver1(t, s, late), device(0), "", "expired")
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "Unregistered"}}})
	want("gone", pushtest.Deliver1(t, s, to(device(1))), device(1), "", "Unregistered")
	want("known to be gone", pushtest.Deliver1(t, s, to(device(1))), device(1), "", "device gone")
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "InternalServerError"}}})
	o = pushtest.Deliver1(t, s, to(device(2)))
	want("to be tried again", o, device(2), "", "InternalServerError")
	if o := pushtest.Deliver1(t, s, to("")); o.Receipt == nil || o.Receipt.Device != "" {
		t.Errorf("for nobody: %+v", o.Receipt)
	}
	none := newSink(t, f, nil)
	if o := pushtest.Deliver1(t, none, to(device(0))); o.Receipt != nil || none.Receipts().Name != "" {
		t.Errorf("nobody asked: %+v", o.Receipt)
	}
}
