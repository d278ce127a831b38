package webpush

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/webpush"
)

func refusing(reason string, times int) farend.Behaviour {
	return farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason, Times: times}}}
}

func TestWhatTheFarEndFailedIsTriedAgainOnAnotherConnection(t *testing.T) {
	for _, reason := range []string{"InternalServerError", "ServiceUnavailable"} {
		t.Run(reason, func(t *testing.T) {
			f := newFar(t, nil)
			s := newSink(t, f, func(c *Config) { c.Connections = 2 })
			pushtest.Want(t, pushtest.Deliver1(t, s, to(f.subscribe(t))), component.Delivered, "")
			f.behave(t, refusing(reason, 1))
			before, m := f.Counts().Connections, to(f.subscribe(t))
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Retry, reason)
			if n := f.Counts().Connections; n != before {
				t.Fatalf("%d connections before anything is tried again, there were %d", n, before)
			}
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
			if n := f.Counts().Connections; n != before+1 {
				t.Errorf("%d connections, want another than the %d that there were", n, before)
			}
			f.behave(t, refusing(reason, 1))
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Retry, reason)
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
			if n := f.Counts().Connections; n != before+1 {
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
	m := to(f.subscribe(t))
	for range 3 {
		pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Retry, "InternalServerError")
	}
	connections := f.Counts().Connections
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
	if n := f.Counts().Connections; n != connections {
		t.Errorf("%d connections, there were %d", n, connections)
	}
}

func TestAPushServiceOfHTTP1GetsEveryMessageOnce(t *testing.T) {
	f := newFar(t, func(c *sandbox.Config) { c.OnlyHTTP1 = true })
	s := newSink(t, f, nil)
	var ms []*message.Message
	for range 100 {
		ms = append(ms, to(f.subscribe(t)))
	}
	for _, o := range pushtest.Deliver(t, s, ms...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	if n := f.Counts(); n.Accepted != 100 || n.Devices != 100 || n.MostOpen > defaultConnections {
		t.Errorf("%+v", n)
	}
}
