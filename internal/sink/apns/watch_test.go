package apns

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/push/suspect"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// campaign makes messages for n devices.
func campaign(n int, attributes ...string) []*message.Message {
	ms := make([]*message.Message, n)
	for i := range ms {
		ms[i] = to(device(i), attributes...)
	}
	return ms
}

// verdictsOf counts outcomes.
func verdictsOf(outcomes []component.Outcome) map[component.Verdict]int {
	n := map[component.Verdict]int{}
	for _, o := range outcomes {
		n[o.Verdict]++
	}
	return n
}

func TestAWrongTopicOrEnvironmentLosesNoDeviceAndNoMessage(t *testing.T) {
	for _, reason := range []string{"BadDeviceToken", "DeviceTokenNotForTopic", "TopicDisallowed", "BadTopic",
		"TopicMismatch", "MissingTopic"} {
		t.Run(reason, func(t *testing.T) {
			f := newFar(t, nil)
			f.behave(t, refusing(reason, 0))
			s := newSink(t, f, nil)
			var clock pushtest.Clock
			s.clock = clock.Now
			const n = 5000
			if got := verdictsOf(pushtest.Deliver(t, s, campaign(n)...)); got[component.Retry] != n {
				t.Errorf("the outcomes are %v", got)
			}
			if n := f.Counts().Requests; n > 400 {
				t.Errorf("%d requests were wasted", n)
			}
			if got := pushtest.Reports(t, s.store); s.dead.Len() != 0 || got != "" {
				t.Errorf("%d devices count as gone; reports: %s", s.dead.Len(), got)
			}
			why := s.Waits()
			for _, part := range []string{"rests", "check environment (production) and topic of apps." + bundle + ",",
				"suspect_percent (5)", "the tokens are probably of another app or environment, or the topic is wrong"} {
				if why == nil || !strings.Contains(why.Error(), part) {
					t.Errorf("it waits for %v, which does not say %q", why, part)
				}
			}

			f.behave(t, farend.Behaviour{}) // it was put right
			clock.Forward(time.Minute)
			if rejected := pushtest.Persist(t, s, campaign(1000)); rejected != 0 || s.Waits() != nil {
				t.Errorf("%d are rejected after the mend, it waits for %v", rejected, s.Waits())
			}
		})
	}
}

func TestWhatIsToBeDoneAboutAMistakeIsNotCutOffInTheLog(t *testing.T) {
	const shown = 500                // bytes of a reason that the log has
	name := strings.Repeat("n", 155) // the longest that Apple's identifiers are
	a := &app{name: name, topic: name, config: App{Environment: "development"}}
	for topic, wants := range map[string][]string{
		name:    {"environment (development)", "topic", "suspect_percent (5)"},
		"other": {"campaign cancel", "suspect_percent (5)"},
	} {
		said := a.mistake(topic, 5, suspect.Seen{Doubts: 200, Answers: 200}).Error()
		for _, part := range wants {
			if at := strings.Index(said, part); at < 0 || at+len(part) > shown {
				t.Errorf("%q is not in the first %d bytes of %s", part, shown, said)
			}
		}
	}
}

func TestADoubtfulTokenAmongGoodOnesIsGone(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{device(7)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "BadDeviceToken"}}}}})
	s := newSink(t, f, nil)
	got := pushtest.Among(t, s, to(device(7)), func() []*message.Message { return campaign(100)[10:] })
	pushtest.Want(t, got, component.Rejected, "BadDeviceToken")
	if got := pushtest.Reports(t, s.store); s.dead.Len() != 1 ||
		!strings.Contains(got, `"state":"gone","reason":"BadDeviceToken","status":400`) {
		t.Errorf("%d devices count as gone; reports: %s", s.dead.Len(), got)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(7))), component.Rejected, "gone since")
}

func TestATopicThatIsNotTheAppsBuriesNobody(t *testing.T) {
	const other = "com.example.other"
	f := newFar(t, func(c *sandbox.Config) { c.Topics = append(c.Topics, other) })
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{device(7)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "DeviceTokenNotForTopic"}}}}})
	s := newSink(t, f, nil)
	got := pushtest.Deliver(t, s, campaign(100, "topic", other)...)
	pushtest.Want(t, got[7], component.Rejected, "may be wrong")
	if s.dead.Len() != 0 {
		t.Errorf("%d devices count as gone", s.dead.Len())
	}
}

func TestADeviceIsGoneForItsTopicAlone(t *testing.T) {
	f := newFar(t, nil)
	f.behave(t, refusing("Unregistered", 1))
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Rejected, "Unregistered")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Rejected, "gone since")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "push_type", "voip")), component.Delivered, "")
}
