package hms

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// TestWhilePushKitTakesNothingMessagesWait: what it answers to everybody is no try of a message, so that an outage that
// outlasts all tries makes no dead letters.
func TestWhilePushKitTakesNothingMessagesWait(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "81000001", Times: 1000}}})
	var ms []*message.Message
	for i := range 20 {
		ms = append(ms, to(device(i)))
	}
	tried := 0
	for _, o := range pushtest.Deliver(t, s, ms...) {
		pushtest.Want(t, o, component.Retry, "81000001")
		if !o.Held {
			tried++
		}
	}
	if tried > 4 {
		t.Errorf("%d of %d messages were tried", tried, len(ms))
	}
	before := f.Counts().Requests
	if o := pushtest.Deliver1(t, s, to(device(30))); !o.Held || o.After <= 0 || f.Counts().Requests != before {
		t.Errorf("while the account rests: %+v", o)
	}
}
