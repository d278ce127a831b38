package fcm

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// campaign makes messages for n devices.
func campaign(n int) []*message.Message {
	ms := make([]*message.Message, n)
	for i := range ms {
		ms[i] = to(device(i))
	}
	return ms
}

func TestAWrongProjectLosesNoDeviceAndNoMessage(t *testing.T) {
	f := newFar(t, nil)
	f.refuse(t, "SENDER_ID_MISMATCH", 0)
	s := newSink(t, f, nil)
	var clock pushtest.Clock
	s.clock = clock.Now
	for i, o := range pushtest.Deliver(t, s, campaign(5000)...) {
		if o.Verdict != component.Retry {
			t.Fatalf("message %d: %+v", i, o)
		}
	}
	if n := f.Counts().Requests; n > 400 {
		t.Errorf("%d requests were wasted", n)
	}
	if got := pushtest.Reports(t, s.store); s.dead.Len() != 0 || got != "" {
		t.Errorf("%d devices count as gone; reports: %s", s.dead.Len(), got)
	}
	if why := s.Waits(); why == nil || !strings.Contains(why.Error(), "account_file") {
		t.Errorf("it waits for %v", why)
	}

	f.behave(t, farend.Behaviour{}) // it was put right
	clock.Forward(time.Minute)
	if rejected := pushtest.Persist(t, s, campaign(500)); rejected != 0 || s.Waits() != nil {
		t.Errorf("%d are rejected after the mend, it waits for %v", rejected, s.Waits())
	}
}

func TestATokenOfAnotherProjectAmongGoodOnesIsGone(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{device(7)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "SENDER_ID_MISMATCH"}}}}})
	s := newSink(t, f, nil)
	got := pushtest.Among(t, s, to(device(7)), func() []*message.Message { return campaign(100)[10:] })
	pushtest.Want(t, got, component.Rejected, "SENDER_ID_MISMATCH")
	if got := pushtest.Reports(t, s.store); s.dead.Len() != 1 ||
		!strings.Contains(got, `"state":"gone","reason":"SENDER_ID_MISMATCH"`) {
		t.Errorf("%d devices count as gone; reports: %s", s.dead.Len(), got)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(7))), component.Rejected, "gone since")
}

func TestAnInstallationIsADevice(t *testing.T) {
	const installation = "cx0mHBlDR4-y_ZEWDqvXb1"
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to("", "fid", installation)), component.Delivered, "")
	if n := f.CountDevice(installation); n != 1 {
		t.Errorf("it got %d messages", n)
	}
	f.refuse(t, "UNREGISTERED", 0)
	pushtest.Want(t, pushtest.Deliver1(t, s, to("", "fid", installation)), component.Rejected, "UNREGISTERED")
	pushtest.Want(t, pushtest.Deliver1(t, s, to("", "fid", installation)), component.Rejected, "gone since")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "fid", installation)), component.Rejected, "more than one")
}

// Messages that are all wrong, and credentials for Apple that are, cost a campaign no message.
func TestWhatIsWrongWithAllMessagesMakesNoDeadLetters(t *testing.T) {
	for reason, says := range map[string]string{
		"INVALID_ARGUMENT": "what the sink's message makes", "THIRD_PARTY_AUTH_ERROR": "Firebase's console",
	} {
		t.Run(reason, func(t *testing.T) {
			f := newFar(t, nil)
			f.refuse(t, reason, 0)
			s := newSink(t, f, nil)
			var clock pushtest.Clock
			s.clock = clock.Now
			counted := 0
			for i, o := range pushtest.Deliver(t, s, campaign(2000)...) {
				if o.Verdict != component.Retry {
					t.Fatalf("message %d: %+v", i, o)
				}
				if !o.Held {
					counted++
				}
			}
			if n := f.Counts().Requests; n > 500 || counted >= manyAlike {
				t.Errorf("%d requests were wasted, and %d tries counted", n, counted)
			}
			if why := s.Waits(); why == nil || !strings.Contains(why.Error(), says) ||
				!strings.Contains(why.Error(), reason) || !s.Figures().Apps["news"].Paused {
				t.Errorf("it waits for %v", why)
			}
			if got := pushtest.Reports(t, s.store); s.dead.Len() != 0 || got != "" {
				t.Errorf("%d devices count as gone; reports: %s", s.dead.Len(), got)
			}

			f.behave(t, farend.Behaviour{}) // it was put right
			clock.Forward(time.Minute)
			if rejected := pushtest.Persist(t, s, campaign(500)); rejected != 0 || s.Waits() != nil {
				t.Errorf("%d are rejected after the mend, it waits for %v", rejected, s.Waits())
			}
		})
	}
}

func TestAWrongMessageAmongGoodOnesIsADeadLetter(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{device(7)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "INVALID_ARGUMENT"}}}}})
	s := newSink(t, f, nil)
	got := pushtest.Among(t, s, to(device(7)), func() []*message.Message { return campaign(100)[10:] })
	pushtest.Want(t, got, component.Rejected, "INVALID_ARGUMENT")
	// Alone, too, where nothing else is sent.
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(7))), component.Rejected, "INVALID_ARGUMENT")
	if s.dead.Len() != 0 || s.Waits() != nil {
		t.Errorf("%d devices count as gone, it waits for %v", s.dead.Len(), s.Waits())
	}
}

// A third of a project's devices are Apple's: the others go on, and what waits for the credentials loses no try.
func TestWrongCredentialsForAppleHoldUpNoOtherDevice(t *testing.T) {
	var apple []string
	for i := range 300 {
		if i%3 == 0 {
			apple = append(apple, device(i))
		}
	}
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: apple,
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "THIRD_PARTY_AUTH_ERROR"}}}}})
	s := newSink(t, f, nil)
	counted := 0
	for i, o := range pushtest.Deliver(t, s, campaign(300)...) {
		switch {
		case i%3 != 0:
			pushtest.Want(t, o, component.Delivered, "")
		default:
			pushtest.Want(t, o, component.Retry, "THIRD_PARTY_AUTH_ERROR")
			if !o.Held {
				counted++
			}
		}
	}
	if counted >= manyAlike || s.Waits() != nil {
		t.Errorf("%d tries counted, it waits for %v", counted, s.Waits())
	}
}

func TestAnswersAreAlikeWhenSeveralDevicesHaveThemInAFewMinutes(t *testing.T) {
	var a alike
	now := time.Now()
	for range 100 {
		if a.came(now, 7) {
			t.Fatal("one device is many")
		}
	}
	for i := range uint64(manyAlike - 1) {
		if many := a.came(now.Add(time.Minute), 8+i); many != (i == manyAlike-2) {
			t.Errorf("with %d devices: %v", i+2, many)
		}
	}
	if a.came(now.Add(time.Hour), 8) {
		t.Error("an hour later they are many yet")
	}
}
