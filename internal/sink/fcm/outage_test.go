package fcm

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// TestWhileFCMTakesNothingMessagesWait: what it answers to everybody is no try of a message, so that an outage that
// outlasts all tries makes no dead letters.
func TestWhileFCMTakesNothingMessagesWait(t *testing.T) {
	for _, reason := range []string{"INTERNAL", "UNAVAILABLE"} {
		f := newFar(t, nil)
		s := newSink(t, f, nil)
		f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason, Times: 1000}}})
		pushtest.Outage(t, s, reason, func(n int) *message.Message { return to(device(n)) })
		before := f.Counts().Requests
		if o := pushtest.Deliver1(t, s, to(device(30))); !o.Held || o.After <= 0 || f.Counts().Requests != before {
			t.Errorf("%s: while the account rests: %+v", reason, o)
		}
	}
}
