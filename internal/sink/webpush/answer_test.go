package webpush

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/webpush"
)

func (f *far) refuse(t testing.TB, reason string, after int, subs ...sandbox.Subscription) {
	t.Helper()
	fault := []farend.Fault{{Do: farend.Refuse, Reason: reason, RetryAfter: after}}
	if len(subs) == 0 {
		f.behave(t, farend.Behaviour{Faults: fault})
		return
	}
	var d farend.Device
	for _, sub := range subs {
		d.Tokens = append(d.Tokens, sandbox.Device(sub.Endpoint))
	}
	d.Faults = fault
	f.behave(t, farend.Behaviour{Devices: []farend.Device{d}})
}

func TestASubscriptionThatIsGoneIsRememberedReportedAndLeftAlone(t *testing.T) {
	f := newFar(t, nil)
	store := pushtest.Store(t)
	c := Config{KeyFile: f.key, Subject: "mailto:push@example.com", CAFile: f.ca, Services: []string{"*"},
		Feedback: "gone"}
	s := started(t, c, store)
	ended, alive := f.subscribe(t), f.subscribe(t)
	unknown := alive
	unknown.Endpoint = f.URL() + "/push/nobody"
	f.Unsubscribe(ended.Endpoint)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(ended)), component.Rejected, "answered 410")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(unknown)), component.Rejected, "answered 404")
	if got := pushtest.Reports(t, s.store); strings.Count(got, "\n") != 2 || !strings.Contains(got, ended.Endpoint) ||
		!strings.Contains(got, `"platform":"webpush"`) || !strings.Contains(got, `"reason":"410"`) {
		t.Errorf("reports:\n%s", got)
	}
	before := f.Counts().Requests
	pushtest.Want(t, pushtest.Deliver1(t, s, to(ended)), component.Rejected, "gone since")
	if f.Counts().Requests != before {
		t.Error("a request was made for a subscription that is gone")
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(alive)), component.Delivered, "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := started(t, c, store)
	pushtest.Want(t, pushtest.Deliver1(t, again, to(ended)), component.Rejected, "gone since")
}

func TestTooManyRequestsOfOneSubscriptionHoldUpNoOther(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	one, other := f.subscribe(t), f.subscribe(t)
	f.refuse(t, "TooManyRequests", 9, one)
	if o := pushtest.Deliver1(t, s, to(one)); o.Verdict != component.Retry || o.After != 9*time.Second {
		t.Errorf("%+v", o)
	}
	before := f.Counts().Requests
	pushtest.Want(t, pushtest.Deliver1(t, s, to(one)), component.Retry, "the subscription rests")
	if f.Counts().Requests != before {
		t.Error("a request was made for a subscription that rests")
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(other)), component.Delivered, "")
}

func TestAPushServiceThatAsksManyForLessRestsAsAWhole(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.subscribe(t))), component.Delivered, "") // it is a push service
	f.refuse(t, "TooManyRequests", 20)
	pushtest.Outage(t, s, "429", func(int) *message.Message { return to(f.subscribe(t)) })
	before := f.Counts().Requests
	for range 5 {
		o := pushtest.Deliver1(t, s, to(f.subscribe(t)))
		pushtest.Want(t, o, component.Retry, "429")
		if o.After < 15*time.Second || f.Counts().Requests != before {
			t.Errorf("%+v", o)
		}
	}
}

func TestOtherAnswersAreActedUpon(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	for reason, verdict := range map[string]component.Verdict{
		"PayloadTooLarge": component.Rejected, "BadRequest": component.Rejected,
		"UnsupportedEncoding": component.Rejected,
		"InternalServerError": component.Retry, "BadGateway": component.Retry, "ServiceUnavailable": component.Retry,
	} {
		sub := f.subscribe(t)
		f.refuse(t, reason, 0)
		pushtest.Want(t, pushtest.Deliver1(t, s, to(sub)), verdict, "answered")
	}
}

func TestAReplacedKeyIsUsedWithoutARestart(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	sub := f.subscribe(t)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(sub)), component.Delivered, "")
	first := f.last(t).Get("authorization")
	newKey(t, f.key)
	end := time.Now().Add(pushtest.Patience)
	for f.last(t).Get("authorization") == first { // the file is looked at once a second
		pushtest.Want(t, pushtest.Deliver1(t, s, to(sub)), component.Delivered, "")
		if time.Now().After(end) {
			t.Fatal("the new key is not used")
		}
	}
	pushtest.Write(t, f.key, []byte("rubbish"))
	pushtest.Want(t, pushtest.Deliver1(t, s, to(sub)), component.Delivered, "")
}

func TestNoMorePushServicesAreConnectedThanTheBound(t *testing.T) {
	authority, err := farend.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	another := func(c *sandbox.Config) { c.Authority = authority }
	s := newSink(t, newFar(t, another), func(c *Config) {
		c.MaxServices, c.Services, c.Connections = 2, []string{"*"}, 1
	})
	for range 4 {
		f := newFar(t, another)
		for range 3 {
			pushtest.Want(t, pushtest.Deliver1(t, s, to(f.subscribe(t))), component.Delivered, "")
		}
		if n := f.Counts().Connections; n != 1 {
			t.Errorf("%d connections to one push service", n)
		}
	}
	if n := s.pool.Len(); n > 2 {
		t.Errorf("%d push services are connected", n)
	}
}

func TestWhenAllPushServicesAreBusyAMessageWaits(t *testing.T) {
	busy, other := newFar(t, nil), newFar(t, nil)
	s := newSink(t, busy, func(c *Config) { c.MaxServices, c.Services = 1, []string{"*"} })
	busy.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Silence}}})
	done := make(chan component.Outcome, 1)
	s.Deliver(to(busy.subscribe(t)), time.Now().Add(time.Hour), func(o component.Outcome) { done <- o })
	o := pushtest.Deliver1(t, s, to(other.subscribe(t)))
	pushtest.Want(t, o, component.Retry, "max_services")
	if o.After != poolRest {
		t.Errorf("after %v", o.After)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	pushtest.Want(t, <-done, component.Retry, "")
}

func TestCloseAnswersForWhatIsInFlight(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Silence}}})
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		s.Deliver(to(f.subscribe(t)), time.Now().Add(time.Minute), func(o component.Outcome) {
			defer wg.Done()
			pushtest.Want(t, o, component.Retry, "")
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.subscribe(t))), component.Retry, "closed")
}

func TestUnderEveryMisbehaviourAtOnceEachMessageEndsOnce(t *testing.T) {
	f := newFar(t, func(c *sandbox.Config) { c.Keep = 0 })
	s := newSink(t, f, func(c *Config) { c.Payload = `{id: $id}` })
	f.behave(t, farend.Behaviour{
		Latency: farend.Latency{Median: farend.Duration(5 * time.Millisecond), Sigma: 0.8},
		Faults: []farend.Fault{
			{Do: farend.GoAway, Every: 200, Unprocessed: 0.5}, {Do: farend.ResetStream, Probability: 0.01},
			{Do: farend.ResetConnection, Every: 300, Processed: true},
			{Do: farend.Refuse, Reason: "ServiceUnavailable", Probability: 0.02},
			{Do: farend.Refuse, Reason: "BadRequest", Probability: 0.02}, {Do: farend.Half, Every: 350},
		},
	})
	const n = 800
	ms := make([]*message.Message, n)
	for i := range ms {
		ms[i] = to(f.subscribe(t))
	}
	rejected := pushtest.Persist(t, s, ms)
	c := f.Counts()
	if c.Messages < n-rejected || int64(c.Doubles) > c.Lost || int64(rejected) > c.Refused["BadRequest"] {
		t.Errorf("%d rejected; %+v", rejected, c)
	}
}

// The log counts dead letters by the kinds of their reasons, and takes those for one kind that differ in digits only.
func TestRefusalsDifferInMoreThanDigits(t *testing.T) {
	seen := map[string]int{}
	for _, status := range []int{400, 403, 404, 410, 413, 429, 500, 503} {
		text := (&Refusal{Service: "https://push.example.com", Status: status}).Error()
		kind := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, text)
		if other := seen[kind]; other != 0 {
			t.Errorf("%d and %d are %q", other, status, text)
		}
		seen[kind] = status
	}
}
