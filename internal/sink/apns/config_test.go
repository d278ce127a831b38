package apns

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

func TestWrongSettingsAreNamed(t *testing.T) {
	key := App{Team: "T", KeyID: "K", KeyFile: "f"}
	app := func(change func(*App)) map[string]App {
		a := key
		change(&a)
		return map[string]App{bundle: a}
	}
	for setting, c := range map[string]Config{
		"apps":                              {},
		"apps." + bundle:                    {Apps: app(func(a *App) { *a = App{} })},
		"apps." + bundle + ".team":          {Apps: app(func(a *App) { a.Team = "" })},
		"apps." + bundle + ".key_id":        {Apps: app(func(a *App) { a.KeyID = "" })},
		"apps." + bundle + ".key_file":      {Apps: app(func(a *App) { a.KeyFile = "" })},
		"apps." + bundle + ".cert_file":     {Apps: app(func(a *App) { a.CertFile = "c" })},
		"apps." + bundle + ".cert_key_file": {Apps: app(func(a *App) { *a = App{CertKeyFile: "c"} })},
		"apps." + bundle + ".environment":   {Apps: app(func(a *App) { a.Environment = "test" })},
		"apps." + bundle + ".endpoint":      {Apps: app(func(a *App) { a.Endpoint = "https://host" })},
		"apps." + bundle + ".topic":         {Apps: app(func(a *App) { a.Topic = "a b" })},
		"push_type":                         {Apps: app(func(*App) {}), PushType: "loud"},
		"priority":                          {Apps: app(func(*App) {}), Priority: 7},
		"collapse_id":                       {Apps: app(func(*App) {}), CollapseID: strings.Repeat("x", 65)},
		"ttl":                               {Apps: app(func(*App) {}), TTL: -time.Second},
		"dead_for":                          {Apps: app(func(*App) {}), DeadFor: -time.Second},
		"connections":                       {Apps: app(func(*App) {}), Connections: -1},
		"payload":                           {Apps: app(func(*App) {}), Payload: "{"},
		"feedback":                          {Apps: app(func(*App) {}), Feedback: "a/b/c"},
	} {
		_, err := New(c, component.Env{Name: "phones"})
		var wrong *component.SettingError
		if !errors.As(err, &wrong) || wrong.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
	_, err := New(Config{Apps: app(func(*App) {}), PushType: "background", Priority: 10}, component.Env{})
	if err == nil || !strings.Contains(err.Error(), "background") {
		t.Errorf("a background push of priority 10: %v", err)
	}
}

func TestNothingConfiguredMeansApple(t *testing.T) {
	for environment, want := range map[string]string{"": "api.push.apple.com:443",
		"production": "api.push.apple.com:443", "development": "api.sandbox.push.apple.com:443"} {
		made, err := New(Config{Apps: map[string]App{bundle: {Team: "T", KeyID: "K", KeyFile: "f",
			Environment: environment}}}, component.Env{Name: "phones"})
		if err != nil {
			t.Fatal(err)
		}
		s, ok := made.(*Sink)
		if !ok || s.only.address != want || s.only.topic != bundle {
			t.Errorf("%q: %+v", environment, s.only)
		}
		if got := s.Limits().InFlight; got != streamsEach*defaultConnections {
			t.Errorf("%d in flight", got)
		}
	}
}
