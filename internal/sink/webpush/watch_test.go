package webpush

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// campaign makes messages for n subscriptions.
func campaign(t testing.TB, f *far, n int) []*message.Message {
	t.Helper()
	ms := make([]*message.Message, n)
	for i := range ms {
		ms[i] = to(f.subscribe(t))
	}
	return ms
}

func TestAWrongKeyPausesThePushServiceAndLosesNothing(t *testing.T) {
	for _, reason := range []string{"Unauthorized", "Forbidden"} {
		t.Run(reason, func(t *testing.T) {
			f := newFar(t, nil)
			f.refuse(t, reason, 0)
			s := newSink(t, f, nil)
			var clock pushtest.Clock
			s.clock = clock.Now
			for i, o := range pushtest.Deliver(t, s, campaign(t, f, 2000)...) {
				if o.Verdict != component.Retry || !o.Held {
					t.Fatalf("message %d: %+v", i, o)
				}
			}
			if n := f.Counts().Requests; n > 800 { // each that was under way, and once more with a new token
				t.Errorf("%d requests were wasted", n)
			}
			why := s.Waits()
			if why == nil || !strings.Contains(why.Error(), "key_file") || !s.Figures().Apps[f.URL()].Paused {
				t.Errorf("it waits for %v", why)
			}
			if got := pushtest.Reports(t, s.store); s.dead.Len() != 0 || got != "" {
				t.Errorf("%d subscriptions count as gone; reports: %s", s.dead.Len(), got)
			}

			f.behave(t, farend.Behaviour{}) // it was put right
			clock.Forward(time.Minute)
			rejected := pushtest.Persist(t, s, campaign(t, f, 500))
			if rejected != 0 || s.Waits() != nil || s.Figures().Apps[f.URL()].Paused {
				t.Errorf("%d are rejected after the mend, it waits for %v", rejected, s.Waits())
			}
		})
	}
}

// TestAWrongKeyIsNoTryWhereNobodyIsServed: a message an hour is too few to tell, and is lost no more than many are.
func TestAWrongKeyIsNoTryWhereNobodyIsServed(t *testing.T) {
	f := newFar(t, nil)
	f.refuse(t, "Forbidden", 0)
	s := newSink(t, f, nil)
	var clock pushtest.Clock
	s.clock = clock.Now
	one, other := f.subscribe(t), f.subscribe(t)
	o := pushtest.Deliver1(t, s, to(one))
	if pushtest.Want(t, o, component.Retry, "answered 403"); !o.Held || o.After < tokenRest {
		t.Errorf("%+v", o)
	}
	before := f.Counts().Requests
	if o = pushtest.Deliver1(t, s, to(other)); !o.Held || f.Counts().Requests != before {
		t.Errorf("another meanwhile: %+v", o)
	}
	if s.Waits() == nil && !s.Figures().Apps[f.URL()].Paused {
		t.Error("nothing tells that it waits")
	}
	f.behave(t, farend.Behaviour{})
	clock.Forward(tokenRest + time.Second)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(one)), component.Delivered, "")
}

// TestASubscriptionOfAnotherKeyHoldsUpNoOther: it is a dead letter, and reported as one that may be gone.
func TestASubscriptionOfAnotherKeyHoldsUpNoOther(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	foreign := f.subscribe(t)
	f.refuse(t, "Forbidden", 0, foreign)
	got := pushtest.Among(t, s, to(foreign), func() []*message.Message { return campaign(t, f, 50) })
	pushtest.Want(t, got, component.Rejected, "answered 403")
	if got := pushtest.Reports(t, s.store); s.dead.Len() != 0 || !strings.Contains(got, `"state":"suspect"`) ||
		!strings.Contains(got, foreign.Endpoint) {
		t.Errorf("%d count as gone; reports: %s", s.dead.Len(), got)
	}
	if why := s.Waits(); why != nil {
		t.Errorf("it waits for %v", why)
	}
	// A while later nobody else is pushed to: it is a try, and holds up nobody.
	o := pushtest.Deliver1(t, s, to(foreign))
	if pushtest.Want(t, o, component.Retry, "answered 403"); o.Held {
		t.Errorf("%+v", o)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.subscribe(t))), component.Delivered, "")
}
