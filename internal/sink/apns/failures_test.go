package apns

import (
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
			if n := len(s.failed.young) + len(s.failed.old); n != 0 {
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

func TestABurstAtTheStartIsOneConnection(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{OneUntilTrusted: true, Latency: farend.Latency{Fixed: farend.Duration(30 * time.Millisecond)}})
	s := newSink(t, f, nil)
	var ms []*message.Message
	for i := range 500 {
		ms = append(ms, to(device(i)))
	}
	for _, o := range pushtest.Deliver(t, s, ms...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	if c := f.Counts(); c.Connections != 1 || c.OverLimit != 0 {
		t.Errorf("%+v", c)
	}
}

func TestFailuresAreRememberedForAWhileAndNotTooMany(t *testing.T) {
	var f failures
	now := time.Now()
	id := message.NewID()
	if n := f.take(id); n != 0 {
		t.Errorf("nothing happened, avoids %d", n)
	}
	f.add(id, 3, now)
	f.add(id, 4, now.Add(failedFor)) // the latest one counts
	if a, b := f.take(id), f.take(id); a != 4 || b != 0 {
		t.Errorf("avoids %d, then %d", a, b)
	}
	first := message.NewID()
	f.add(first, 1, now.Add(failedFor))
	for range 5 * mostFailed {
		f.add(message.NewID(), 2, now.Add(failedFor))
	}
	if n := len(f.young) + len(f.old); n > 2*mostFailed {
		t.Errorf("%d are remembered", n)
	}
	if n := f.take(first); n != 0 {
		t.Errorf("the first of many is remembered: %d", n)
	}
	f.add(id, 5, now.Add(2*failedFor))
	f.add(message.NewID(), 6, now.Add(4*failedFor))
	if n := f.take(id); n != 0 || len(f.old) != 0 {
		t.Errorf("after a long while it avoids %d", n)
	}
}
