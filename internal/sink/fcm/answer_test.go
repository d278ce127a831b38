package fcm

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/outcome"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/fcm"
)

func TestADeviceThatIsGoneIsRememberedReportedAndLeftAlone(t *testing.T) {
	for _, word := range []string{"UNREGISTERED"} {
		t.Run(word, func(t *testing.T) {
			f := newFar(t, nil)
			store := pushtest.Store(t)
			c := Config{Projects: map[string]Project{"news": f.project}, Feedback: "gone"}
			s := started(t, c, store)
			f.refuse(t, word, 0)
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Rejected, word)
			if got := pushtest.Reports(t, s.store); strings.Count(got, "\n") != 1 ||
				!strings.Contains(got, device(1)) || !strings.Contains(got, word) ||
				!strings.Contains(got, `"platform":"fcm"`) {
				t.Errorf("reports:\n%s", got)
			}
			f.behave(t, farend.Behaviour{})
			before := f.Counts().Requests
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Rejected, "gone since")
			if f.Counts().Requests != before {
				t.Error("a request was made for a device that is gone")
			}
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Delivered, "")
			pushtest.Want(t, pushtest.Deliver1(t, s,
				to(device(1), "registered_at", time.Now().Add(time.Hour).Format(time.RFC3339))), component.Delivered,
				"")
			// After a restart it is still known.
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := started(t, c, store)
			pushtest.Want(t, pushtest.Deliver1(t, again, to(device(1))), component.Rejected, "gone since")
		})
	}
}

func TestATopicIsNeverTakenForADeviceThatIsGone(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.refuse(t, "UNREGISTERED", 0)
	pushtest.Want(t, pushtest.Deliver1(t, s, to("", "topic", "weather")), component.Rejected, "UNREGISTERED")
	if got := pushtest.Reports(t, s.store); got != "" {
		t.Errorf("reports:\n%s", got)
	}
}

func TestAQuotaOfOneDeviceHoldsUpNoOther(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{device(1)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "QUOTA_EXCEEDED", RetryAfter: 7}}}}})
	o := pushtest.Deliver1(t, s, to(device(1)))
	pushtest.Want(t, o, component.Retry, "QUOTA_EXCEEDED")
	if o.After != 7*time.Second {
		t.Errorf("after %v", o.After)
	}
	before := f.Counts().Requests
	o = pushtest.Deliver1(t, s, to(device(1)))
	pushtest.Want(t, o, component.Retry, "the device rests")
	if o.After <= 0 || o.After > 7*time.Second || f.Counts().Requests != before {
		t.Errorf("after %v", o.After)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Delivered, "")
}

func TestAQuotaOfTheProjectLetsAllOfItWait(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.refuse(t, "QUOTA_EXCEEDED", 30)
	pushtest.Outage(t, s, "QUOTA_EXCEEDED", func(n int) *message.Message { return to(device(n)) })
	before := f.Counts().Requests
	for i := range 50 {
		o := pushtest.Deliver1(t, s, to(device(1000+i)))
		pushtest.Want(t, o, component.Retry, "QUOTA_EXCEEDED")
		if o.After <= 25*time.Second || o.After > 30*time.Second {
			t.Fatalf("after %v", o.After)
		}
	}
	if n := f.Counts().Requests - before; n != 0 {
		t.Errorf("%d requests were made while the project rests", n)
	}
}

func TestServerErrorsAreTriedAgain(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	for word, after := range map[string]time.Duration{"UNAVAILABLE": 3 * time.Second, "INTERNAL": 0,
		"UNSPECIFIED_ERROR": 0} {
		f.refuse(t, word, int(after/time.Second))
		o := pushtest.Deliver1(t, s, to(device(1)))
		pushtest.Want(t, o, component.Retry, word)
		if o.After != after || !o.Slow {
			t.Errorf("%s: after %v, slow %v", word, o.After, o.Slow)
		}
	}
}

func TestWrongCredentialsForAppleHoldUpOnlyThatMessage(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{device(1)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "THIRD_PARTY_AUTH_ERROR"}}}}})
	o := pushtest.Deliver1(t, s, to(device(1)))
	pushtest.Want(t, o, component.Retry, "THIRD_PARTY_AUTH_ERROR")
	if o.After != partyRest {
		t.Errorf("after %v", o.After)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Delivered, "")
	if f.Issued() != 1 {
		t.Errorf("%d access tokens were fetched", f.Issued())
	}
}

func TestARevokedAccessTokenIsFetchedAnewAndNothingIsLost(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
	f.Revoke()
	var ms []*message.Message
	for i := range 200 {
		ms = append(ms, to(device(i)))
	}
	for _, o := range pushtest.Deliver(t, s, ms...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	if n := f.Issued(); n != 2 {
		t.Errorf("%d access tokens were fetched", n)
	}
}

func TestAnAccountThatIsRefusedHoldsTheProjectWithoutAStorm(t *testing.T) {
	f := newFar(t, nil)
	f.RefuseGrants(true)
	s := newSink(t, f, nil)
	for i := range 100 {
		o := pushtest.Deliver1(t, s, to(device(i)))
		pushtest.Want(t, o, component.Retry, "the token endpoint answered 400")
		if o.After <= 0 {
			t.Errorf("after %v", o.After)
		}
	}
	if n := f.Counts().Requests; n > 2 {
		t.Errorf("%d requests", n)
	}
}

func TestAnAccountWithoutThePermissionHoldsTheProject(t *testing.T) {
	f := newFar(t, nil)
	f.project.ID = "somebody-elses"
	s := newSink(t, f, nil)
	o := pushtest.Deliver1(t, s, to(device(1)))
	pushtest.Want(t, o, component.Retry, "PERMISSION_DENIED")
	before := f.Counts().Requests
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Retry, "PERMISSION_DENIED")
	if o.After != refusedRest || !o.Held || f.Counts().Requests != before {
		t.Errorf("after %v: %+v", o.After, o)
	}
}

func TestALostAnswerIsTriedAgainAndCounted(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.ResetConnection, Processed: true, Times: 1}}})
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Retry, "may double it")
	if n := s.Counts()[outcome.Doubled]; n != 1 {
		t.Errorf("%d are counted", n)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
}

func TestAnswersThatNeverComeEndWithTheDeadline(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	// there is a token, and a connection
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(0))), component.Delivered, "")
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Silence}}})
	begin, got := time.Now(), make(chan component.Outcome, 1)
	s.Deliver(to(device(1)), begin.Add(300*time.Millisecond), func(o component.Outcome) { got <- o })
	pushtest.Want(t, <-got, component.Retry, push.ErrDeadline.Error())
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

func TestCloseAnswersForWhatIsInFlight(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Silence}}})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Add(1)
		s.Deliver(to(device(i)), time.Now().Add(time.Minute), func(o component.Outcome) {
			defer wg.Done()
			pushtest.Want(t, o, component.Retry, "")
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}

func TestUnderEveryMisbehaviourAtOnceEachMessageEndsOnce(t *testing.T) {
	f := newFar(t, func(c *sandbox.Config) { c.Keep = 0 })
	s := newSink(t, f, func(c *Config) { c.Message = `{data: {id: $id}}` })
	f.behave(t, farend.Behaviour{
		Latency: farend.Latency{Median: farend.Duration(5 * time.Millisecond), Sigma: 0.8},
		Faults: []farend.Fault{
			{Do: farend.GoAway, Every: 300, Unprocessed: 0.5}, {Do: farend.ResetStream, Probability: 0.01},
			{Do: farend.ResetConnection, Every: 700, Processed: true},
			{Do: farend.Refuse, Reason: "UNAVAILABLE", Probability: 0.02},
			{Do: farend.Refuse, Reason: "INVALID_ARGUMENT", Probability: 0.02},
			{Do: farend.Half, Every: 900},
		},
	})
	const n = 3000
	ms := make([]*message.Message, n)
	for i := range ms {
		ms[i] = to(device(i))
	}
	rejected := pushtest.Persist(t, s, ms)
	c := f.Counts()
	if c.Messages < n-rejected || int64(c.Doubles) > c.Lost || int64(rejected) > c.Refused["INVALID_ARGUMENT"] {
		t.Errorf("%d rejected; %+v", rejected, c)
	}
}

func FuzzReadError(f *testing.F) {
	f.Add([]byte(`{"error":{"code":404,"message":"x","status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}`))
	f.Add([]byte(`<html>`))
	f.Add([]byte(`{"error":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := readError(&push.Response{Status: 500, Body: body})
		if text := e.Error(); strings.ContainsAny(text, "\r\n") || len(text) > 500 {
			t.Fatalf("%q", text)
		}
	})
}

func TestWhatFCMSaidSteersNoTerminal(t *testing.T) {
	e := readError(&push.Response{Status: 400, Body: []byte(`{"error":{"message":"red: \u001b[31m"}}`)})
	if e.Message != "red: \uFFFD[31m" {
		t.Errorf("the message is %q", e.Message)
	}
}
