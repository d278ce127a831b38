package hms

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
	"github.com/hikyaku/hikyaku/internal/push/receipt"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/hms"
)

// Each code has what becomes of one message among good answers, and what its device counts as.
func TestEveryDocumentedCodeHasItsConsequence(t *testing.T) {
	for code, want := range map[string]struct {
		verdict component.Verdict
		state   string // of the device; "": it is none of its business
		rests   bool   // the app
	}{
		"80100000": {component.Rejected, "gone", false}, "80300007": {component.Rejected, "gone", false},
		"80300002": {component.Rejected, "suspect", false},
		"80100001": {component.Rejected, "", false}, "80100003": {component.Rejected, "", false},
		"80100004": {component.Rejected, "", false}, "80100013": {component.Rejected, "", false},
		"80100016": {component.Rejected, "", false}, "80100018": {component.Rejected, "", false},
		"80300008": {component.Rejected, "", false}, "80300010": {component.Rejected, "", false},
		"80300011": {component.Rejected, "", false}, "80300013": {component.Rejected, "", false},
		"80100017": {component.Retry, "", false}, "81000001": {component.Retry, "", false},
		"80200001": {component.Retry, "", true}, "80200003": {component.Retry, "", true},
		"80600003": {component.Retry, "", true}, "503": {component.Retry, "", true},
	} {
		t.Run(code, func(t *testing.T) {
			f := newFar(t, nil)
			f.refuseOne(t, device(7), code)
			s := newSink(t, f, nil)
			var o component.Outcome
			if want.rests || want.verdict == component.Retry {
				o = pushtest.Deliver1(t, s, to(device(7)))
			} else {
				o = pushtest.Among(t, s, to(device(7)), func() []*message.Message { return campaign(100)[10:] })
			}
			pushtest.Want(t, o, want.verdict, code)
			reports, rests := pushtest.Reports(t, s.store), s.Waits() != nil
			if want.state == "" && reports != "" || !strings.Contains(reports, want.state) || rests != want.rests {
				t.Errorf("it rests: %v; reports: %s", rests, reports)
			}
			if n := s.Counts()[(&Refusal{Status: 503, Code: strings.TrimPrefix(code, "503")}).Word()]; n < 1 {
				t.Errorf("counted: %v", s.Counts())
			}
			if known := len(sandbox.Reasons()); known != 19 {
				t.Errorf("the sandbox has %d codes: each has to stand here", known)
			}
		})
	}
}

func TestADeviceThatIsGoneIsRememberedReportedAndLeftAlone(t *testing.T) {
	f := newFar(t, nil)
	store := pushtest.Store(t)
	c := Config{Apps: map[string]App{"news": f.app}, Feedback: pushtest.Feedback}
	s := started(t, c, store)
	f.refuseOne(t, device(1), "80300007")
	o := pushtest.Among(t, s, to(device(1)), func() []*message.Message { return campaign(100)[10:] })
	pushtest.Want(t, o, component.Rejected, "80300007 (the token is none of this app's)")
	if got := pushtest.Reports(t, s.store); strings.Count(got, "\n") != 1 || !strings.Contains(got, device(1)) ||
		!strings.Contains(got, `"platform":"hms"`) || !strings.Contains(got, `"state":"gone"`) {
		t.Errorf("reports:\n%s", got)
	}
	f.behave(t, farend.Behaviour{})
	before := f.Counts().Requests
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Rejected, "gone since")
	if f.Counts().Requests != before {
		t.Error("a request was made for a device that is gone")
	}
	later := time.Now().Add(time.Hour).Format(time.RFC3339)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "registered_at", later)), component.Delivered, "")
	// After a restart it is still known.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	pushtest.Want(t, pushtest.Deliver1(t, started(t, c, store), to(device(1))), component.Rejected, "gone since")
}

// All tokens are wrong, the app may not push, and all messages are wrong.
func TestWhatIsWrongWithAllLosesNoDeviceAndNoMessage(t *testing.T) {
	for code, says := range map[string]string{
		"80300007": "client_id", "80300002": "client_id", "80100003": "what the sink's message makes",
	} {
		t.Run(code, func(t *testing.T) {
			f := newFar(t, nil)
			f.refuse(t, code, 0)
			s := newSink(t, f, nil)
			var clock pushtest.Clock
			s.clock = clock.Now
			for i, o := range pushtest.Deliver(t, s, campaign(3000)...) {
				if o.Verdict != component.Retry {
					t.Fatalf("message %d: %+v", i, o)
				}
			}
			if n := f.Counts().Requests; n > 500 {
				t.Errorf("%d requests were wasted", n)
			}
			if got := pushtest.Reports(t, s.store); s.dead.Len() != 0 || got != "" {
				t.Errorf("%d devices count as gone; reports: %s", s.dead.Len(), got)
			}
			if why := s.Waits(); why == nil || !strings.Contains(why.Error(), says) ||
				!s.Figures().Apps["news"].Paused {
				t.Errorf("it waits for %v", why)
			}
			f.behave(t, farend.Behaviour{}) // it was put right
			clock.Forward(time.Minute)
			if rejected := pushtest.Persist(t, s, campaign(500)); rejected != 0 || s.Waits() != nil {
				t.Errorf("%d are rejected after the mend, it waits for %v", rejected, s.Waits())
			}
		})
	}
}

func TestFlowControlLetsTheAppRestLongerEachTime(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	var clock pushtest.Clock
	s.clock = clock.Now
	f.refuse(t, "503", 0)
	for _, rest := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		o := pushtest.Deliver1(t, s, to(device(1)))
		pushtest.Want(t, o, component.Retry, "503")
		if o.After != rest || !o.Slow {
			t.Errorf("after %v, slow %v; want %v", o.After, o.Slow, rest)
		}
		before := f.Counts().Requests
		pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Retry, "503")
		if f.Counts().Requests != before {
			t.Error("a request was made while the app rests")
		}
		clock.Forward(rest + time.Millisecond)
	}
	f.behave(t, farend.Behaviour{})
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
	f.refuse(t, "503", 30)
	if o := pushtest.Deliver1(t, s, to(device(1))); o.After != 30*time.Second {
		t.Errorf("after %v", o.After)
	}
}

func TestARevokedAccessTokenIsFetchedAnewAndNothingIsLost(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
	f.Revoke()
	for _, o := range pushtest.Deliver(t, s, campaign(200)...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	if n := f.Issued(); n != 2 {
		t.Errorf("%d access tokens were fetched", n)
	}
}

func TestASecretThatIsRefusedHoldsTheAppWithoutAStorm(t *testing.T) {
	f := newFar(t, nil)
	f.RefuseGrants(true)
	s := newSink(t, f, nil)
	for i := range 100 {
		o := pushtest.Deliver1(t, s, to(device(i)))
		pushtest.Want(t, o, component.Retry, "the token endpoint answered 400")
		if o.After <= 0 || !o.Held || strings.Contains(o.Reason.Error(), secret) {
			t.Errorf("%+v", o)
		}
	}
	if n := f.Counts().Requests; n > 2 {
		t.Errorf("%d requests", n)
	}
}

func TestAnotherAppsSecretHoldsTheApp(t *testing.T) {
	f := newFar(t, func(c *sandbox.Config) { c.Apps = append(c.Apps, sandbox.App{ID: "another", Secret: secret}) })
	s := newSink(t, f, nil)
	s.only.path = "/v1/another/messages:send"
	o := pushtest.Deliver1(t, s, to(device(1)))
	pushtest.Want(t, o, component.Retry, "80200001 (the access token is wrong)")
	before := f.Counts().Requests
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Retry, "80200001")
	if o.After != refusedRest || !o.Held || f.Counts().Requests != before || f.Issued() != 2 {
		t.Errorf("%+v, %d tokens", o, f.Issued())
	}
}

func TestWhatTheFarEndFailedIsTriedAgainOnAnotherConnection(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Connections = 2 })
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(0))), component.Delivered, "")
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "81000001", Times: 1}}})
	before, m := f.Counts().Connections, to(device(1))
	o := pushtest.Deliver1(t, s, m)
	pushtest.Want(t, o, component.Retry, "81000001")
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
	if n := f.Counts().Connections; n != before+1 || !o.Slow {
		t.Errorf("%d connections, want another than the %d that there were; slow %v", n, before, o.Slow)
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

func TestCloseAnswersForWhatIsInFlight(t *testing.T) {
	for _, old := range []bool{false, true} {
		f := newFar(t, func(c *sandbox.Config) { c.OnlyHTTP1 = old })
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
}

func TestUnderEveryMisbehaviourAtOnceEachMessageEndsOnce(t *testing.T) {
	f := newFar(t, func(c *sandbox.Config) { c.Keep = 0 })
	s := newSink(t, f, func(c *Config) { c.Message = `{data: ({id: $id} | tojson)}` })
	f.behave(t, farend.Behaviour{
		Latency: farend.Latency{Median: farend.Duration(5 * time.Millisecond), Sigma: 0.8},
		Faults: []farend.Fault{
			{Do: farend.GoAway, Every: 300, Unprocessed: 0.5}, {Do: farend.ResetStream, Probability: 0.01},
			{Do: farend.ResetConnection, Every: 700, Processed: true},
			{Do: farend.Refuse, Reason: "81000001", Probability: 0.02},
			{Do: farend.Refuse, Reason: "80100003", Probability: 0.02},
			{Do: farend.Half, Every: 900},
		},
	})
	const n = 3000
	rejected := pushtest.Persist(t, s, campaign(n))
	c := f.Counts()
	if c.Messages < n-rejected || int64(c.Doubles) > c.Lost || int64(rejected) > c.Refused["80100003"] {
		t.Errorf("%d rejected; %+v", rejected, c)
	}
}

func TestAPushIsNotSentAfterANewerOneWithItsCollapseKey(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	for key, verdict := range map[string]component.Verdict{"7": component.Dropped, "-1": component.Delivered} {
		first, second := to(device(1), "collapse_key", key), to(device(1), "collapse_key", key)
		second.Time = first.Time.Add(time.Second)
		pushtest.Want(t, pushtest.Deliver1(t, s, second), component.Delivered, "")
		pushtest.Want(t, pushtest.Deliver1(t, s, first), verdict, "")
	}
}

func TestOutcomesSayWhatReceiptsTell(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Receipts = "receipts" })
	if s.Receipts().Short() != "receipts" {
		t.Errorf("to %v", s.Receipts())
	}
	o := pushtest.Deliver1(t, s, to(device(0)))
	if r := o.Receipt; r == nil || r.App != "news" || r.Device != receipt.Device(device(0)) || r.PushID == "" ||
		r.Reason != "" {
		t.Errorf("%+v", o.Receipt)
	}
	f.refuse(t, "80100016", 0)
	o = pushtest.Deliver1(t, s, to(device(1)))
	if r := o.Receipt; r == nil || r.PushID != "" || !strings.HasPrefix(r.Reason, "80100016") {
		t.Errorf("%+v", o.Receipt)
	}
}

func TestTheMetricsTellWhatTheSinkDoes(t *testing.T) {
	f := newFar(t, nil)
	c := Config{Apps: map[string]App{"news": f.app}}
	s := pushtest.StartWatched[*Sink](t, New, c, component.Env{Name: "phones", Store: pushtest.Store(t)})
	pushtest.Deliver1(t, s, to(device(0)))
	f.refuse(t, "503", 30)
	pushtest.Deliver1(t, s, to(device(1)))
	got := s.Figures()
	if p := got.Apps["news"]; !p.Paused || p.TokenAge <= 0 || p.TokenAge > time.Hour {
		t.Errorf("%+v", p)
	}
	if got.Refused["answer 503"] != 1 || got.Client.Responses != 2 || got.Client.Connections != 1 {
		t.Errorf("%+v", got)
	}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(`{"code":"80000000","msg":"Success","requestId":"157440955549500001002006"}`))
	f.Add([]byte(`{"code":"80100000","msg":"{\"success\":3,\"failure\":1,\"illegal_tokens\":[\"xxx\"]}","requestId":""}`))
	f.Add([]byte(`<html>`))
	f.Add([]byte(`{"code":80300007}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := readAnswer(&push.Response{Status: 500, Body: body})
		if text := e.Error() + e.Request; strings.ContainsAny(text, "\r\n") || len(text) > 600 {
			t.Fatalf("%q", text)
		}
	})
}
