package apns

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// TestADeviceIsGoneForItsEnvironmentAlone: the app's settings change, which takes a start of the sink, and what it
// remembers stays.
func TestADeviceIsGoneForItsEnvironmentAlone(t *testing.T) {
	f, store := newFar(t, nil), pushtest.Store(t)
	deliver := func(environment string, device string, want component.Verdict, reason string) {
		t.Run(environment, func(t *testing.T) { // whose end closes the sink
			app := f.app
			app.Environment = environment
			s := started(t, Config{Apps: map[string]App{bundle: app}, Feedback: pushtest.Feedback}, store)
			pushtest.Want(t, pushtest.Deliver1(t, s, to(device)), want, reason)
		})
	}
	const development = "development"
	f.behave(t, refusing("Unregistered", 2))
	deliver(development, device(1), component.Rejected, "Unregistered")
	deliver("", device(2), component.Rejected, "Unregistered")
	for range 2 {
		deliver("", device(1), component.Delivered, "")
		deliver(development, device(1), component.Rejected, "gone since")
		deliver(development, device(2), component.Delivered, "")
		deliver("production", device(2), component.Rejected, "gone since")
	}
	reports := pushtest.Reports(t, store)
	if n := strings.Count(reports, `"of":"development `+bundle+`"`); n != 1 || strings.Count(reports, `"of"`) != 1 {
		t.Errorf("%d of the reports name the environment: %s", n, reports)
	}
}
