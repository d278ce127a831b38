package webhook

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheTimeThatIsLeftIsTheSettingAsItWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for given, want := range map[time.Duration]string{
			time.Second: "1 s", 1500 * time.Millisecond: "1.5 s", time.Minute: "60 s", 50 * time.Millisecond: "0.05 s",
			20 * time.Minute: "1200 s",
		} {
			ctx, cancel := context.WithTimeout(t.Context(), given)
			time.Sleep(40 * time.Microsecond) // on its way here
			if got := (&noAnswerError{"http://far", timeLeft(ctx)}).Error(); got != "http://far: no answer within "+
				want+" (request.timeout_secs)" {
				t.Errorf("%v: %s", given, got)
			}
			cancel()
		}
		if left := timeLeft(t.Context()); left != 0 {
			t.Errorf("without an end: %v", left)
		}
	})
}
