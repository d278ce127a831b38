package apns

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// TestSuspectSettingsSayWhenAnAppRests: how many of the last answers have to be in doubt, and of how many.
func TestSuspectSettingsSayWhenAnAppRests(t *testing.T) {
	for says, c := range map[string]Config{
		"10 of the last 10 answers": {},
		"20 of the last 20 answers": {SuspectPercent: 50, SuspectAnswers: 40},
		"40 of the last 40 answers": {SuspectPercent: 100, SuspectAnswers: 40},
		"2 of the last 2 answers":   {SuspectPercent: 1},
	} {
		t.Run(says, func(t *testing.T) {
			f := newFar(t, nil)
			f.behave(t, refusing("BadDeviceToken", 0))
			s := newSink(t, f, func(to *Config) {
				to.SuspectPercent, to.SuspectAnswers = c.SuspectPercent, c.SuspectAnswers
			})
			for i, o := range pushtest.Deliver(t, s, campaign(1000)...) {
				if o.Verdict != component.Retry {
					t.Fatalf("message %d: %+v", i, o)
				}
			}
			if why := s.Waits(); why == nil || !strings.Contains(why.Error(), says) {
				t.Errorf("it waits for %v", why)
			}
			if n := f.Counts().Requests; n > 400 {
				t.Errorf("%d requests were wasted", n)
			}
		})
	}
}

// TestManyStaleTokensAreGoneWherePercentAllowsThem: a third of the tokens is stale, and nobody is wrong.
func TestManyStaleTokensAreGoneWherePercentAllowsThem(t *testing.T) {
	for percent, rests := range map[int]bool{0: true, 90: false} {
		f := newFar(t, nil)
		f.behave(t, farend.Behaviour{Devices: []farend.Device{{OneIn: 3,
			Faults: []farend.Fault{{Do: farend.Refuse, Reason: "BadDeviceToken"}}}}})
		s := newSink(t, f, func(c *Config) { c.SuspectPercent = percent })
		outcomes := verdictsOf(pushtest.Deliver(t, s, campaign(600)...))
		why := s.Waits()
		if (why != nil) != rests || (outcomes[component.Rejected] == 0) != rests {
			t.Errorf("at %d %% the outcomes are %v, and it waits for %v", percent, outcomes, why)
		}
		if rests != (s.dead.Len() == 0) {
			t.Errorf("at %d %% %d devices count as gone", percent, s.dead.Len())
		}
	}
}
