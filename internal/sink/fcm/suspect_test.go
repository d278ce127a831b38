package fcm

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// TestSuspectSettingsSayWhenAProjectRests: how many of the last answers have to be in doubt, and of how many. Messages
// that may be wrong rest at half of them at least.
func TestSuspectSettingsSayWhenAProjectRests(t *testing.T) {
	for _, c := range []struct {
		reason, says string
		config       Config
	}{
		{"SENDER_ID_MISMATCH", "10 of the last 10 answers", Config{}},
		{"SENDER_ID_MISMATCH", "20 of the last 20 answers", Config{SuspectPercent: 50, SuspectAnswers: 40}},
		{"INVALID_ARGUMENT", "100 of the last 100 answers", Config{}},
		{"INVALID_ARGUMENT", "20 of the last 20 answers", Config{SuspectPercent: 5, SuspectAnswers: 40}},
		{"INVALID_ARGUMENT", "36 of the last 36 answers", Config{SuspectPercent: 90, SuspectAnswers: 40}},
	} {
		t.Run(c.reason+" "+c.says, func(t *testing.T) {
			f := newFar(t, nil)
			f.refuse(t, c.reason, 0)
			s := newSink(t, f, func(to *Config) {
				to.SuspectPercent, to.SuspectAnswers = c.config.SuspectPercent, c.config.SuspectAnswers
			})
			for i, o := range pushtest.Deliver(t, s, campaign(1000)...) {
				if o.Verdict != component.Retry {
					t.Fatalf("message %d: %+v", i, o)
				}
			}
			if why := s.Waits(); why == nil || !strings.Contains(why.Error(), c.says) {
				t.Errorf("it waits for %v", why)
			}
		})
	}
}
