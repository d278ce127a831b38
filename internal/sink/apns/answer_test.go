package apns

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/outcome"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// refusing lets the far end refuse the next n requests; 0: all.
func refusing(reason string, n int) farend.Behaviour {
	return farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason, Times: n}}}
}

func TestEachReasonHasItsVerdict(t *testing.T) {
	f := newFar(t, nil)
	for _, reason := range sandbox.Reasons() {
		t.Run(reason, func(t *testing.T) {
			f.behave(t, refusing(reason, 0))
			s := newSink(t, f, nil)
			o := pushtest.Deliver1(t, s, to(device(1)))
			if !strings.Contains(o.Reason.Error(), reason) {
				t.Errorf("the outcome says %v", o.Reason)
			}
			reports := pushtest.Reports(t, s.store)
			dead := strings.Contains(reports, `"reason":"`+reason+`"`)
			status := 400
			if said := (*Refusal)(nil); errors.As(o.Reason, &said) {
				status = said.Status
			}
			switch v := judge(status, reason); v {
			case rejects, dies, doubts, mistopic:
				pushtest.Want(t, o, component.Rejected, reason)
				if dead != (v == dies || v == doubts) || (s.dead.Len() == 1) != (v == dies) {
					t.Errorf("reported: %v, gone: %d", dead, s.dead.Len())
				}
				// a doubt about which too few answers come to tell
				if suspected := strings.Contains(reports, `"state":"suspect"`); suspected != (v == doubts) {
					t.Errorf("reported: %s", reports)
				}
			default:
				pushtest.Want(t, o, component.Retry, reason)
				if dead {
					t.Error("the device was reported")
				}
			}
			if n := s.Counts()[reason]; n == 0 {
				t.Error("it was not counted")
			}
		})
	}
}

func TestADeadDeviceIsNeverTriedAgainUnlessItRegistersAgain(t *testing.T) {
	for _, reason := range []string{"Unregistered", "ExpiredToken"} {
		t.Run(reason, func(t *testing.T) {
			f := newFar(t, nil)
			f.behave(t, refusing(reason, 1))
			s := newSink(t, f, nil)
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Rejected, reason)
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Rejected, "gone since")
			before := time.Now().Add(-time.Hour).Format(time.RFC3339)
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "registered_at", before)), component.Rejected,
				"gone since")
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Delivered, "")
			if n := f.Counts().Requests; n != 2 {
				t.Errorf("%d requests were made, want 2", n)
			}
			after := time.Now().Add(time.Second).Format(time.RFC3339)
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "registered_at", after)), component.Delivered, "")

			again := started(t, Config{Apps: map[string]App{bundle: f.app}}, pushtest.StoreOf(t, s.store))
			pushtest.Want(t, pushtest.Deliver1(t, again, to(device(1))), component.Rejected, "gone since")
		})
	}
}

func TestTooManyRequestsLetsThatDeviceRestAndNoOther(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{device(1)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "TooManyRequests", RetryAfter: 7, Times: 2}}}}})
	s := newSink(t, f, nil)
	now := time.Now()
	s.clock = func() time.Time { return now }
	o := pushtest.Deliver1(t, s, to(device(1)))
	pushtest.Want(t, o, component.Retry, "TooManyRequests")
	if o.After != 7*time.Second || o.Slow {
		t.Errorf("after %v, slow %v", o.After, o.Slow)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Delivered, "")
	now = now.Add(3 * time.Second)
	if o := pushtest.Deliver1(t, s, to(device(1))); o.Verdict != component.Retry || o.After != 4*time.Second {
		t.Errorf("another message for it: %+v", o)
	}
	if n := f.Counts().Requests; n != 2 {
		t.Errorf("%d requests were made", n)
	}
	now = now.Add(4 * time.Second)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Retry, "TooManyRequests")
	now = now.Add(time.Minute)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
}

func TestAnExpiredProviderTokenIsRenewedOnce(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, refusing("ExpiredProviderToken", 1))
	s := newSink(t, f, nil)
	m := to(device(1))
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
	seen := f.Seen()
	if len(seen) != 2 || seen[0].Get("authorization") == seen[1].Get("authorization") ||
		seen[1].Get("apns-id") != m.ID.String() {
		t.Errorf("%d requests", len(seen))
	}
}

func TestAClockThatIsWrongHoldsTheAppAndLosesNothing(t *testing.T) {
	f := newFar(t, func(c *sandbox.Config) { c.Now = func() time.Time { return time.Now().Add(3 * time.Hour) } })
	s := newSink(t, f, nil)
	o := pushtest.Deliver1(t, s, to(device(1)))
	pushtest.Want(t, o, component.Retry, "clock")
	if o.After < time.Second || !o.Slow {
		t.Errorf("%+v", o)
	}
	made := f.Counts().Requests
	for i := range 100 {
		pushtest.Want(t, pushtest.Deliver1(t, s, to(device(i))), component.Retry, "clock")
	}
	if n := f.Counts().Requests; n != made || made > 2 {
		t.Errorf("%d requests, then %d", made, n)
	}
}

func TestTooManyTokenUpdatesKeepTheTokenAndRest(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, refusing("TooManyProviderTokenUpdates", 1))
	s := newSink(t, f, nil)
	before, err := s.only.key.Authorization()
	if err != nil {
		t.Fatal(err)
	}
	o := pushtest.Deliver1(t, s, to(device(1)))
	pushtest.Want(t, o, component.Retry, "TooManyProviderTokenUpdates")
	if o.After < time.Minute {
		t.Errorf("the rest is %v", o.After)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Retry, "TooManyProviderTokenUpdates")
	if after, err := s.only.key.Authorization(); err != nil || after != before {
		t.Error("the token was renewed")
	}
	if n := f.Counts().Requests; n != 1 {
		t.Errorf("%d requests", n)
	}
	s.clock = func() time.Time { return time.Now().Add(time.Hour) }
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
}

func TestAfterAPauseOneMessageGoesFirst(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	now := time.Now()
	s.clock = func() time.Time { return now }
	f.behave(t, refusing("InvalidProviderToken", 0))
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(0))), component.Retry, "InvalidProviderToken")
	now = now.Add(time.Hour)
	var ms []*message.Message
	for i := range 50 {
		ms = append(ms, to(device(i)))
	}
	for _, o := range pushtest.Deliver(t, s, ms...) {
		if pushtest.Want(t, o, component.Retry, "InvalidProviderToken"); !o.Held {
			t.Error("what is said of the key is a try of a message")
		}
	}
	if n := f.Counts().Requests; n != 2 {
		t.Errorf("%d requests were made, want one a pause", n)
	}
	f.behave(t, farend.Behaviour{})
	now = now.Add(time.Hour)
	pushtest.Want(t, pushtest.Deliver1(t, s, ms[0]), component.Delivered, "")
	for _, o := range pushtest.Deliver(t, s, ms[1:]...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	if why := s.Waits(); why != nil {
		t.Errorf("it still waits: %v", why)
	}
}

// TestAMessageThatIsForbiddenAmongOthersIsTried: else it would hold up its app again and again, and never end.
func TestAMessageThatIsForbiddenAmongOthersIsTried(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{device(7)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "Forbidden"}}}}})
	s := newSink(t, f, nil)
	var clock pushtest.Clock
	s.clock = clock.Now
	for range 10 {
		pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
		o := pushtest.Deliver1(t, s, to(device(7)))
		if pushtest.Want(t, o, component.Retry, "Forbidden"); o.Held {
			t.Fatal("it waits without being tried")
		}
		clock.Forward(time.Minute)
	}
}

func TestAKeyThatIsNotTrustedHoldsItsAppUntilTheFileIsReplaced(t *testing.T) {
	f := newFar(t, nil)
	good, err := os.ReadFile(f.key)
	if err != nil {
		t.Fatal(err)
	}
	other, err := sandbox.NewKey(team, keyID)
	if err != nil {
		t.Fatal(err)
	}
	pushtest.Write(t, f.key, other.PEM)
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Retry, "InvalidProviderToken")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Retry, "InvalidProviderToken")
	if n := f.Counts().Requests; n != 1 {
		t.Errorf("%d requests", n)
	}
	pushtest.Write(t, f.key, good)
	pushtest.Eventually(t, func() bool { return pushtest.Deliver1(t, s, to(device(1))).Verdict == component.Delivered })
	for _, bad := range []string{"", "no key at all"} {
		pushtest.Write(t, f.key, []byte(bad))
		pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "") // by the key that was good
	}
	if err := os.Remove(f.key); err != nil {
		t.Fatal(err)
	}
	pushtest.Eventually(t, func() bool {
		return s.only.key.Trouble() != nil || pushtest.Deliver1(t, s, to(device(3))).Verdict != component.Delivered
	})
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
	if err := s.only.key.Trouble(); err == nil || !strings.Contains(err.Error(), f.key) {
		t.Errorf("what is wrong with the key: %v", err)
	}
}

func TestAStartWithABadKeyNamesTheFile(t *testing.T) {
	f := newFar(t, nil)
	for what, text := range map[string]string{"empty": "",
		"malformed": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "missing": "-"} {
		pushtest.Write(t, f.key, []byte(text))
		if what == "missing" {
			if err := os.Remove(f.key); err != nil {
				t.Fatal(err)
			}
		}
		made, err := New(Config{Apps: map[string]App{bundle: f.app}},
			component.Env{Name: "phones", Store: pushtest.Store(t)})
		if err != nil {
			t.Fatal(err)
		}
		err = made.(*Sink).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), f.key) || !strings.Contains(err.Error(), bundle) {
			t.Errorf("%s: %v", what, err)
		}
		if err := made.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestALostAnswerIsTriedAgainWithTheSameIdAndCounted(t *testing.T) {
	for name, fault := range map[string]farend.Fault{
		"stream reset":     {Do: farend.ResetStream, Processed: true, Times: 1},
		"connection reset": {Do: farend.ResetConnection, Processed: true, Times: 1},
		"half an answer":   {Do: farend.Half, Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFar(t, nil)
			f.behave(t, farend.Behaviour{Faults: []farend.Fault{fault}})
			s := newSink(t, f, nil)
			m := to(device(1))
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Retry, "the answer was lost")
			if n := s.Counts()[outcome.Doubled]; n != 1 {
				t.Errorf("%d are counted as possibly doubled", n)
			}
			pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
			if n := f.Count(m.ID.String()); n != 2 {
				t.Errorf("the far end has it %d times, under one id", n)
			}
		})
	}
}

func TestAnAnswerThatNeverComesIsARetryAtTheDeadline(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Silence, Times: 1}}})
	s := newSink(t, f, nil)
	answered := make(chan component.Outcome, 1)
	m := to(device(1))
	s.Deliver(m, time.Now().Add(300*time.Millisecond), func(o component.Outcome) { answered <- o })
	pushtest.Want(t, <-answered, component.Retry, "deadline")
	f.behave(t, farend.Behaviour{}) // it may have taken so long to connect that nobody was silent
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
}

func TestGoodbyesLoseAndDoubleNothing(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{
		Latency: farend.Latency{Fixed: farend.Duration(5 * time.Millisecond)},
		Faults:  []farend.Fault{{Do: farend.GoAway, Every: 200, Unprocessed: 0.5}},
	})
	s := newSink(t, f, nil)
	var ms []*message.Message
	for i := range 1000 {
		ms = append(ms, to(device(i)))
	}
	for len(ms) > 0 { // what was turned away too often is the pipeline's to try again
		var left []*message.Message
		for i, o := range pushtest.Deliver(t, s, ms...) {
			if o.Verdict != component.Delivered {
				pushtest.Want(t, o, component.Retry, "")
				left = append(left, ms[i])
			}
		}
		ms = left
	}
	if c := f.Counts(); c.Messages != 1000 || c.Doubles != 0 || c.GoAways == 0 {
		t.Errorf("%+v", c)
	}
}

func TestOneStreamAndThenNoneHoldsMessagesAndLosesNone(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Streams: farend.Limit(1)})
	s := newSink(t, f, func(c *Config) { c.Connections = 1 })
	var ms []*message.Message
	for i := range 50 {
		ms = append(ms, to(device(i)))
	}
	for _, o := range pushtest.Deliver(t, s, ms...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	f.behave(t, farend.Behaviour{Streams: farend.Limit(0)})
	pushtest.Eventually(t, func() bool {
		st := s.only.client.Stats()
		return st.StreamsLimit == 0
	})
	var wg sync.WaitGroup
	wg.Add(len(ms))
	for i := range ms {
		s.Deliver(to(device(i)), time.Now().Add(pushtest.Patience), func(o component.Outcome) {
			defer wg.Done()
			pushtest.Want(t, o, component.Delivered, "")
		})
	}
	if n := s.only.client.Stats().Waiting; n != 50 {
		t.Errorf("%d wait for a stream", n)
	}
	f.behave(t, farend.Behaviour{})
	wg.Wait()
	if c := f.Counts(); c.Messages != 100 || c.Doubles != 0 || c.OverLimit != 0 {
		t.Errorf("%+v", c)
	}
}

func TestWhatHasExpiredOrIsReplacedIsDroppedWithoutARequest(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.TTL = time.Hour })
	past := message.Int(time.Now().Add(-time.Minute).Unix()).Text()
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "expiration", past)), component.Dropped, "expired")
	stale := to(device(1))
	stale.Expires = time.Now().Add(-time.Second)
	pushtest.Want(t, pushtest.Deliver1(t, s, stale), component.Dropped, "expired")
	old := to(device(1))
	old.Time = old.Time.Add(-2 * time.Hour)
	pushtest.Want(t, pushtest.Deliver1(t, s, old), component.Dropped, "expired")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "expiration", "0")), component.Delivered, "")

	first, second := to(device(1), "collapse_id", "score"), to(device(1), "collapse_id", "score")
	second.Time = first.Time.Add(time.Second)
	pushtest.Want(t, pushtest.Deliver1(t, s, second), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, first), component.Dropped, "replaced")
	first.Attributes.Set("collapse_id", message.String("other"))
	pushtest.Want(t, pushtest.Deliver1(t, s, first), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, second), component.Delivered, "") // the same again is no older one
	if n := f.Counts().Requests; n != 4 {
		t.Errorf("%d requests", n)
	}
}

func TestWhatIsInFlightAtTheEndIsAnsweredAsARetry(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Silence}}})
	made, err := New(Config{Apps: map[string]App{bundle: f.app}},
		component.Env{Name: "phones", Store: pushtest.Store(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*Sink)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	answered := make(chan component.Outcome, 20)
	for i := range 20 {
		s.Deliver(to(device(i)), time.Now().Add(time.Hour), func(o component.Outcome) { answered <- o })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(answered) != 20 {
		t.Fatalf("%d are answered when Close returns", len(answered))
	}
	for range 20 {
		pushtest.Want(t, <-answered, component.Retry, "closed")
	}
}

func FuzzReadReason(f *testing.F) {
	for _, text := range []string{`{"reason":"Unregistered","timestamp":1700000000000}`, `{"reason":3}`, `{}`, ``, `[`,
		`{"reason":"a b"}`, `{"reason":"x\n"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s := readReason(body)
		if len(s.Reason) > maxReason || strings.ContainsAny(s.Reason, " \r\n\x00") {
			t.Errorf("%q became %q", body, s.Reason)
		}
		if at := s.since(time.Unix(1_800_000_000, 0)); at.Unix() > 1_800_000_000 {
			t.Errorf("died at %v", at)
		}
		_ = fmt.Sprint((&Refusal{400, s.Reason}).Error())
	})
}

func TestItIsKnownWhyNothingIsSent(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	f.behave(t, refusing("InvalidProviderToken", 0))
	for i := range 5 {
		pushtest.Want(t, pushtest.Deliver1(t, s, to(device(i))), component.Retry, "InvalidProviderToken")
	}
	if why := s.Waits(); why == nil || !strings.Contains(why.Error(), bundle) ||
		!strings.Contains(why.Error(), "InvalidProviderToken") {
		t.Errorf("%v", why)
	}

	f.app.CAFile = "" // the sandbox's certificate is signed by nobody that the system trusts
	s = newSink(t, f, nil)
	answered := make(chan component.Outcome, 1)
	s.Deliver(to(device(1)), time.Now().Add(time.Hour), func(o component.Outcome) { answered <- o })
	pushtest.Eventually(t, func() bool { return s.Waits() != nil })
	if why := s.Waits(); why == nil || !strings.Contains(why.Error(), f.Addr().String()) ||
		!strings.Contains(why.Error(), "certificate") {
		t.Errorf("%v", why)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	pushtest.Want(t, <-answered, component.Retry, "")
}

func TestAMessageThatIsReplacedWhileItWaitsIsGivenUp(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Connections = 1 })
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(0))), component.Delivered, "")
	f.behave(t, farend.Behaviour{Streams: farend.Limit(0)})
	pushtest.Eventually(t, func() bool { return s.only.client.Stats().StreamsLimit == 0 })
	first, second := to(device(1), "collapse_id", "score"), to(device(1), "collapse_id", "score")
	second.Time = first.Time.Add(time.Second)
	old, newer := make(chan component.Outcome, 1), make(chan component.Outcome, 1)
	s.Deliver(first, time.Now().Add(pushtest.Patience), func(o component.Outcome) { old <- o })
	s.Deliver(second, time.Now().Add(pushtest.Patience), func(o component.Outcome) { newer <- o })
	pushtest.Want(t, <-old, component.Dropped, "replaced")
	f.behave(t, farend.Behaviour{})
	pushtest.Want(t, <-newer, component.Delivered, "")
	if n := f.CountDevice(device(1)); n != 1 || s.newest.UnderWay() != 0 {
		t.Errorf("the device got %d, %d are under way", n, s.newest.UnderWay())
	}
}

func TestAMessageThatExpiresWhileItWaitsIsDropped(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Connections = 1 })
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(0))), component.Delivered, "")
	f.behave(t, farend.Behaviour{Streams: farend.Limit(0)})
	pushtest.Eventually(t, func() bool { return s.only.client.Stats().StreamsLimit == 0 })
	m := to(device(1))
	m.Expires = time.Now().Add(100 * time.Millisecond)
	answered := make(chan component.Outcome, 1)
	s.Deliver(m, time.Now().Add(time.Hour), func(o component.Outcome) { answered <- o })
	pushtest.Want(t, <-answered, component.Dropped, "expired")
	if n := f.CountDevice(device(1)); n != 0 {
		t.Errorf("the device got %d", n)
	}
}
