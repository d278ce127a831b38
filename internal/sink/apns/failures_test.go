package apns

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

func TestWhatTheFarEndFailedIsTriedAgainOnAnotherConnection(t *testing.T) {
	for _, reason := range []string{"InternalServerError", "ServiceUnavailable", "Shutdown"} {
		t.Run(reason, func(t *testing.T) {
			f := newFar(t, nil)
			s := newSink(t, f, func(c *Config) { c.Connections = 2 })
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(0))), component.Delivered, "")
			f.behave(t, refusing(reason, 2))
			m, collapsing := to(device(1)), to(device(1), "collapse_id", "score")
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Retry, reason)
			pushtest.Want(t, pushtest.Deliver1(t, s, collapsing), component.Retry, reason)
			if n := f.Counts().Connections; n != 1 {
				t.Fatalf("%d connections before anything is tried again", n)
			}
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
			if n := f.Counts().Connections; n != 2 {
				t.Errorf("%d connections, want another than the one that failed it", n)
			}
			pushtest.Want(t, pushtest.Deliver1(t, s, collapsing), component.Delivered, "")
			f.behave(t, refusing(reason, 1))
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Retry, reason)
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
			if n := f.Counts().Connections; n != 2 {
				t.Errorf("%d connections, more than are allowed", n)
			}
			if n := s.failed.Len(); n != 0 {
				t.Errorf("%d are still remembered", n)
			}
		})
	}
}

func TestWhereThereMayBeNoOtherConnectionItIsTriedAgainOnTheSame(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, refusing("InternalServerError", 3))
	s := newSink(t, f, func(c *Config) { c.Connections = 1 })
	m := to(device(1))
	for range 3 {
		pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Retry, "InternalServerError")
	}
	began := time.Now()
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
	if took := time.Since(began); took > pushtest.Patience/2 {
		t.Errorf("it waited for %v", took)
	}
	if n := f.Counts().Connections; n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestWhileAPNsTakesNothingMessagesWait: what it answers to everybody is no try of a message, so that an outage that
// outlasts all tries makes no dead letters.
func TestWhileAPNsTakesNothingMessagesWait(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	var clock pushtest.Clock
	s.clock = clock.Now
	f.behave(t, refusing("ServiceUnavailable", 1000))
	pushtest.Outage(t, s, "ServiceUnavailable", func(n int) *message.Message { return to(device(n)) })
	if why := s.Waits(); why == nil || !strings.Contains(why.Error(), "ServiceUnavailable") {
		t.Errorf("the sink waits: %v", why)
	}
	before := f.Counts().Requests
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(30))), component.Retry, "ServiceUnavailable")
	if n := f.Counts().Requests; n != before {
		t.Errorf("%d requests during a rest", n-before)
	}
	f.behave(t, farend.Behaviour{})
	clock.Forward(time.Minute)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(0))), component.Delivered, "")
	f.behave(t, refusing("ServiceUnavailable", 1))
	if o := pushtest.Deliver1(t, s, to(device(1))); o.Verdict != component.Retry || o.Held {
		t.Errorf("one failure after it has worked: %+v", o)
	}
}

// TestABurstAtTheStartMakesNoCrowdOfConnections: the first one is awaited. Where a write takes long, as it may on a
// busy machine, there is another.
func TestABurstAtTheStartMakesNoCrowdOfConnections(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{OneUntilTrusted: true,
		Latency: farend.Latency{Fixed: farend.Duration(30 * time.Millisecond)}})
	s := newSink(t, f, func(c *Config) { c.Connections = 40 })
	var ms []*message.Message
	for i := range 500 {
		ms = append(ms, to(device(i)))
	}
	for _, o := range pushtest.Deliver(t, s, ms...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	if c := f.Counts(); c.Connections > 4 || c.OverLimit != 0 {
		t.Errorf("%+v", c)
	}
}
