package setting_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/setting"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// names tells which setting an error is about; "" for none.
func names(err error) string {
	var wrong *component.SettingError
	if !errors.As(err, &wrong) {
		return ""
	}
	return wrong.Setting
}

func TestNegativeDurationsAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		ttl, deadFor time.Duration
		want         string
	}{{0, 0, ""}, {time.Hour, time.Hour, ""}, {-1, 0, "ttl"}, {0, -1, "dead_for"}, {-1, -1, "ttl"}} {
		if err := setting.Durations(c.ttl, c.deadFor); names(err) != c.want || (err == nil) != (c.want == "") {
			t.Errorf("ttl %v, dead_for %v: %v", c.ttl, c.deadFor, err)
		}
	}
}

func TestAQueueThatIsNamedIsParsed(t *testing.T) {
	n, err := setting.Queue("feedback", "shop/gone")
	if want := (queue.Name{Namespace: "shop", Name: "gone"}); err != nil || n != want {
		t.Errorf("got %v, %v", n, err)
	}
	if n, err := setting.Queue("feedback", ""); err != nil || n != (queue.Name{}) {
		t.Errorf("without a setting: %v, %v", n, err)
	}
	if _, err := setting.Queue("feedback", "a/b/c"); names(err) != "feedback" {
		t.Errorf("a wrong name: %v", err)
	}
}

func TestABacklogWantsItsSettingAndAStore(t *testing.T) {
	store := new(queue.Store) // nothing is asked of it yet
	if b, err := setting.Backlog("outbox", store, "token", "collapse_id"); b == nil || err != nil {
		t.Errorf("with both: %v, %v", b, err)
	}
	if b, err := setting.Backlog("", store, "token", "collapse_id"); b != nil || err != nil {
		t.Errorf("without the setting: %v, %v", b, err)
	}
	if b, err := setting.Backlog("outbox", nil, "token", "collapse_id"); b != nil || err != nil {
		t.Errorf("without a store: %v, %v", b, err)
	}
	if _, err := setting.Backlog("a/b/c", nil, "token", "collapse_id"); names(err) != "backlog" {
		t.Errorf("a wrong name, where only the settings are checked: %v", err)
	}
}

func TestAnAddressIsAHostAndAPort(t *testing.T) {
	for text, want := range map[string]string{"": "usual:443", "a.example:8443": "a.example:8443",
		"https://a.example:1/": "a.example:1", "[::1]:443": "[::1]:443"} {
		if got, err := setting.Address("endpoint", text, "usual:443"); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"a.example", "http://a.example", "https://"} {
		if got, err := setting.Address("apps.a.endpoint", text, "usual:443"); names(err) != "apps.a.endpoint" {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
