package wns

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/push/receipt"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/wns"
)

// Each answer has what becomes of one message among good answers, and what its channel counts as.
func TestEveryDocumentedAnswerHasItsConsequence(t *testing.T) {
	all := map[string]struct {
		verdict component.Verdict
		word    string
		state   string // of the channel; "": it is none of its business
		rests   bool   // the app
	}{
		"NotFound":            {component.Rejected, "answer 404", "gone", false},
		"Gone":                {component.Rejected, "answer 410", "gone", false},
		"Forbidden":           {component.Rejected, "answer 403", "gone", false},
		"BadRequest":          {component.Rejected, "answer 400", "", false},
		"MethodNotAllowed":    {component.Rejected, "answer 405", "", false},
		"dropped":             {component.Rejected, "dropped", "", false},
		"Unauthorized":        {component.Retry, "answer 401", "", true},
		"NotAcceptable":       {component.Retry, "answer 406", "", false},
		"TooManyRequests":     {component.Retry, "answer 429", "", false},
		"channelthrottled":    {component.Retry, "channelthrottled", "", false},
		"InternalServerError": {component.Retry, "answer 500", "", false},
		"ServiceUnavailable":  {component.Retry, "answer 503", "", false},

		"RequestEntityTooLarge": {component.Rejected, "answer 413", "", false},
	}
	for _, reason := range sandbox.Reasons() {
		t.Run(reason, func(t *testing.T) {
			want, known := all[reason]
			if !known {
				t.Fatal("what follows from it?")
			}
			f := newFar(t, nil)
			f.refuseOne(t, 7, reason)
			s := newSink(t, f, nil)
			var o component.Outcome
			if want.verdict == component.Retry {
				o = pushtest.Deliver1(t, s, to(f.channel(7)))
			} else {
				o = pushtest.Among(t, s, to(f.channel(7)), func() []*message.Message { return f.campaign(60)[10:] })
			}
			pushtest.Want(t, o, want.verdict, "WNS answered")
			if o.Held != want.rests {
				t.Errorf("held: %v", o.Held)
			}
			reports, rests := pushtest.Reports(t, s.store), s.Waits() != nil
			if want.state == "" && reports != "" || !strings.Contains(reports, want.state) || rests != want.rests ||
				s.Counts()[want.word] < 1 {
				t.Errorf("it rests: %v; counted %v; reports: %s", rests, s.Counts(), reports)
			}
			if want.rests || want.state == "gone" {
				return
			}
			f.behave(t, farend.Behaviour{})
			pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(8))), component.Delivered, "")
		})
	}
}

func TestAChannelThatIsGoneIsRememberedReportedAndLeftAlone(t *testing.T) {
	f, store := newFar(t, nil), pushtest.Store(t)
	s := started(t, f.config(), store)
	f.refuseOne(t, 1, "Gone")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(1))), component.Rejected, "410 Gone (dropped): The channel")
	if got := pushtest.Reports(t, s.store); strings.Count(got, "\n") != 1 || !strings.Contains(got, f.channel(1)) ||
		!strings.Contains(got, `"platform":"wns"`) || !strings.Contains(got, `"state":"gone"`) {
		t.Errorf("reports:\n%s", got)
	}
	f.behave(t, farend.Behaviour{})
	before := f.Counts().Requests
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(1))), component.Rejected, "gone since")
	if f.Counts().Requests != before {
		t.Error("a request was made for a channel that is gone")
	}
	later := time.Now().Add(time.Hour).Format(time.RFC3339)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(1), "registered_at", later)), component.Delivered, "")
	// After a restart it is still known.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := started(t, f.config(), store)
	pushtest.Want(t, pushtest.Deliver1(t, again, to(f.channel(1))), component.Rejected, "gone since")
}

func TestWhatIsWrongWithAllLosesNoChannelAndNoMessage(t *testing.T) {
	for reason, says := range map[string]string{"Forbidden": "client_id", "BadRequest": "push_type"} {
		t.Run(reason, func(t *testing.T) {
			f := newFar(t, nil)
			f.refuse(t, reason, 0)
			s := newSink(t, f, nil)
			var clock pushtest.Clock
			s.clock = clock.Now
			for i, o := range pushtest.Deliver(t, s, f.campaign(2000)...) {
				if o.Verdict != component.Retry {
					t.Fatalf("message %d: %+v", i, o)
				}
			}
			if n := f.Counts().Requests; n > 500 {
				t.Errorf("%d requests were wasted", n)
			}
			if got := pushtest.Reports(t, s.store); s.dead.Len() != 0 || got != "" {
				t.Errorf("%d channels count as gone; reports: %s", s.dead.Len(), got)
			}
			if why := s.Waits(); why == nil || !strings.Contains(why.Error(), says) ||
				!s.Figures().Apps["news"].Paused {
				t.Errorf("it waits for %v", why)
			}
			f.behave(t, farend.Behaviour{}) // it was put right
			clock.Forward(time.Minute)
			if rejected := pushtest.Persist(t, s, f.campaign(300)); rejected != 0 || s.Waits() != nil {
				t.Errorf("%d are rejected after the mend, it waits for %v", rejected, s.Waits())
			}
		})
	}
}

func TestWhatWasDoneIsReadFromEitherHeader(t *testing.T) {
	for _, seen := range []bool{false, true} {
		f := newFar(t, func(c *sandbox.Config) { c.NotificationStatus = seen })
		s := newSink(t, f, nil)
		pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(1))), component.Delivered, "")
		if got := field(t, f, "x-wns-requestforstatus"); got != "true" {
			t.Errorf("what was done is asked for by %q", got)
		}
		f.refuse(t, "dropped", 0)
		pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(2))), component.Rejected, "200 OK (dropped)")
		f.refuse(t, "channelthrottled", 0)
		pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(3))), component.Retry, "200 OK (channelthrottled)")
		if n := s.Counts(); n["dropped"] != 1 || n["channelthrottled"] != 1 {
			t.Errorf("%v", n)
		}
	}
}

func TestAThrottledChannelRestsAloneAndManyLetTheAppRest(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.refuseOne(t, 1, "channelthrottled")
	if o := pushtest.Deliver1(t, s, to(f.channel(1))); o.After != 7*time.Second { // X-WNS-Continue-After
		t.Errorf("after %v", o.After)
	}
	before := f.Counts().Requests
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(1))), component.Retry, "the channel rests")
	if f.Counts().Requests != before {
		t.Error("a request was made for a channel that rests")
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(2))), component.Delivered, "")
	f.refuse(t, "NotAcceptable", 30)
	pushtest.Outage(t, s, "406", func(n int) *message.Message { return to(f.channel(10 + n)) })
	before = f.Counts().Requests
	o := pushtest.Deliver1(t, s, to(f.channel(100)))
	pushtest.Want(t, o, component.Retry, "406")
	if o.After <= 25*time.Second || f.Counts().Requests != before || !s.Figures().Apps["news"].Paused {
		t.Errorf("after %v", o.After)
	}
}

func TestARevokedAccessTokenIsFetchedAnewAndNothingIsLost(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(1))), component.Delivered, "")
	f.Revoke()
	for _, o := range pushtest.Deliver(t, s, f.campaign(100)...) {
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
		o := pushtest.Deliver1(t, s, to(f.channel(i)))
		pushtest.Want(t, o, component.Retry, "the token endpoint answered 400 invalid_client")
		if o.After <= 0 || !o.Held || strings.Contains(o.Reason.Error(), secret) {
			t.Errorf("%+v", o)
		}
	}
	if n := f.Counts().Requests; n > 2 {
		t.Errorf("%d requests", n)
	}
}

func TestCloseAnswersForWhatIsInFlight(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Silence}}})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Add(1)
		s.Deliver(to(f.channel(i)), time.Now().Add(time.Minute), func(o component.Outcome) {
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
	for _, http2 := range []bool{false, true} {
		f := newFar(t, func(c *sandbox.Config) { c.Keep, c.HTTP2 = 0, http2 })
		s := newSink(t, f, func(c *Config) { c.Payload, c.PushType = `{id: $id}`, "raw" })
		faults := []farend.Fault{
			{Do: farend.Refuse, Reason: "InternalServerError", Probability: 0.02},
			{Do: farend.Refuse, Reason: "BadRequest", Probability: 0.02},
		}
		if http2 {
			faults = append(faults, farend.Fault{Do: farend.GoAway, Every: 300, Unprocessed: 0.5},
				farend.Fault{Do: farend.ResetConnection, Every: 700, Processed: true})
		}
		f.behave(t, farend.Behaviour{Latency: farend.Latency{Median: farend.Duration(2 * time.Millisecond)},
			Faults: faults})
		const n = 1000
		ms := f.campaign(n)
		for _, m := range ms {
			m.Body = []byte(`{}`)
		}
		rejected := pushtest.Persist(t, s, ms)
		c := f.Counts()
		if c.Messages < n-rejected || int64(c.Doubles) > c.Lost || int64(rejected) > c.Refused["BadRequest"] {
			t.Errorf("%d rejected; %+v", rejected, c)
		}
	}
}

func TestOutcomesSayWhatReceiptsTell(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Receipts = "receipts" })
	if s.Receipts().Short() != "receipts" {
		t.Errorf("to %v", s.Receipts())
	}
	o := pushtest.Deliver1(t, s, to(f.channel(0)))
	if r := o.Receipt; r == nil || r.App != "news" || r.Device != receipt.Device(f.channel(0)) || r.PushID == "" ||
		r.Reason != "" {
		t.Errorf("%+v", o.Receipt)
	}
	f.refuse(t, "dropped", 0)
	o = pushtest.Deliver1(t, s, to(f.channel(1)))
	if r := o.Receipt; r == nil || r.PushID != "" || r.Reason != "dropped" {
		t.Errorf("%+v", o.Receipt)
	}
}

func TestTheMetricsTellWhatTheSinkDoes(t *testing.T) {
	f := newFar(t, nil)
	s := pushtest.StartWatched[*Sink](t, New, f.config(), component.Env{Name: "desktops", Store: pushtest.Store(t)})
	pushtest.Deliver1(t, s, to(f.channel(0)))
	f.refuse(t, "Gone", 0)
	for range 2 {
		pushtest.Deliver1(t, s, to(f.channel(1)))
	}
	got := s.Figures()
	if p := got.Apps["news"]; p.Paused || p.TokenAge <= 0 || p.TokenAge > time.Hour || len(got.Apps) != 1 {
		t.Errorf("%+v", got.Apps)
	}
	if got.Refused["answer 410"] != 1 || got.Refused[countDead] != 1 || got.Dead != 1 || got.Client.Responses != 2 {
		t.Errorf("%+v", got)
	}
}

func FuzzLocate(f *testing.F) {
	for _, text := range []string{"https://db5p.notify.windows.com/?token=AQE%bU%2f", "https://a@b/",
		"HTTPS://X:443/#f", "https://[::1]:8/\r\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, channel string) {
		w := wish{channel: channel}
		if w.locate() == nil && (w.name == "" || !strings.HasPrefix(w.path, "/") && !strings.HasPrefix(w.path, "?") ||
			strings.ContainsAny(w.host, "/@")) {
			t.Errorf("%+v", w)
		}
	})
}

func FuzzReadRefusal(f *testing.F) {
	f.Add("dropped", "The channel expired", "1A")
	f.Add("x\r\ny", "\x00", strings.Repeat("é", 300))
	f.Fuzz(func(t *testing.T, state, text, id string) {
		e := readRefusal(&push.Response{Status: 200, Header: []push.Field{{Name: "x-wns-status", Value: state},
			{Name: "x-wns-error-description", Value: text}, {Name: "x-wns-msg-id", Value: id}}})
		if said := e.Error(); strings.ContainsAny(said, "\r\n\x00") || len(said) > 600 {
			t.Fatalf("%q", said)
		}
	})
}
