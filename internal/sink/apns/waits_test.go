package apns

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
)

func TestEveryAppThatRestsIsNamed(t *testing.T) {
	f := newFar(t, func(c *sandbox.Config) { c.Topics = []string{bundle, "com.example.rain", "com.example.snow"} })
	f.behave(t, refusing("BadDeviceToken", 0))
	s := started(t, Config{Apps: map[string]App{bundle: f.app, "com.example.rain": f.app, "com.example.snow": f.app}},
		pushtest.Store(t))
	pushtest.Deliver(t, s, campaign(300, "app", "com.example.snow")...)
	if why := s.Waits(); why == nil || !strings.HasPrefix(why.Error(), "app com.example.snow rests: ") {
		t.Errorf("it waits for %v", why)
	}
	pushtest.Deliver(t, s, campaign(300, "app", bundle)...)
	says := "2 apps wait: " + bundle + " and com.example.snow; the first: app " + bundle + " rests: "
	if why := s.Waits(); why == nil || !strings.HasPrefix(why.Error(), says) {
		t.Errorf("it waits for %v, want %s", why, says)
	}
}
