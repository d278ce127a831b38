package pushtest

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Outage hands messages to a sink whose far end refuses all of them, for a reason, and makes sure that it takes few of
// the refusals for tries.
func Outage(t testing.TB, s component.AsyncSink, reason string, to func(device int) *message.Message) {
	t.Helper()
	ms := make([]*message.Message, 20)
	for i := range ms {
		ms[i] = to(i)
	}
	tried := 0
	for _, o := range Deliver(t, s, ms...) {
		Want(t, o, component.Retry, reason)
		if !o.Held {
			tried++
		} else if o.After <= 0 {
			t.Errorf("%+v", o)
		}
	}
	if tried > 4 {
		t.Errorf("%d of %d messages were tried", tried, len(ms))
	}
}
