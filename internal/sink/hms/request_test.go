package hms

import (
	"errors"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/outbound/proxytest"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/hms"
)

func TestAMessageArrivesWithWhatItsAttributesSay(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) {
		c.Message = `{data: ({id: $id, user: $attributes.user} | tojson), android: {notification: ` +
			`{title: .title, body: "b", click_action: {type: 3}}}}`
		c.Urgency, c.CollapseKey, c.TTL = "normal", "0", time.Hour
	})
	m := to(device(1), "user", "7", "urgency", "high", "collapse_key", "42")
	m.Body = []byte(`{"title":"goal"}`)
	o := pushtest.Deliver1(t, s, m)
	pushtest.Want(t, o, component.Delivered, "")
	if o.Sent.IsZero() {
		t.Error("nobody knows when it was sent")
	}
	expect := map[string]any{
		"token": []any{device(1)}, "data": `{"id":"` + m.ID.String() + `","user":"7"}`,
		"android": map[string]any{"notification": map[string]any{"title": "goal", "body": "b",
			"click_action": map[string]any{"type": 3.}}, "urgency": "HIGH", "collapse_key": 42., "ttl": "3600s"},
	}
	if got := f.last(t); !reflect.DeepEqual(got, expect) {
		t.Errorf("%v", got)
	}
	seen := pushtest.Last(t, f.Seen())
	if f.Count(m.ID.String()) != 1 || seen.Path != "/v1/"+appID+"/messages:send" {
		t.Errorf("at %s, counted %d times", seen.Path, f.Count(m.ID.String()))
	}
}

func TestNowOrNeverIsKeptForASecond(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.TTL = time.Hour })
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "expiration", "0")), component.Delivered, "")
	if got := f.last(t)["android"]; !reflect.DeepEqual(got, map[string]any{"ttl": "1s"}) {
		t.Errorf("%v", got)
	}
	o := pushtest.Deliver1(t, s, to(device(1), "expiration", "1000"))
	pushtest.Want(t, o, component.Dropped, "expired")
}

func TestTopicsAndConditionsAreTargetsToo(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	for name, value := range map[string]string{"topic": "weather", "condition": "'a' in topics || 'b' in topics"} {
		pushtest.Want(t, pushtest.Deliver1(t, s, to("", name, value)), component.Delivered, "")
		if got := f.last(t)[name]; got != value {
			t.Errorf("%s is %v", name, got)
		}
	}
}

func TestOneTokenServesAllMessages(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	for _, o := range pushtest.Deliver(t, s, campaign(500)...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	if n := f.Counts(); f.Issued() != 1 || n.Accepted != 500 || n.Devices != 500 {
		t.Errorf("%d tokens, %+v", f.Issued(), n)
	}
}

func TestAFarEndOfHTTP1GetsEveryMessageOnce(t *testing.T) {
	f := newFar(t, func(c *sandbox.Config) { c.OnlyHTTP1 = true })
	s := newSink(t, f, func(c *Config) { c.Connections = 3 })
	for _, o := range pushtest.Deliver(t, s, campaign(300)...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	if n := f.Counts(); n.Messages != 0 || n.Accepted != 300 || n.Devices != 300 || n.MostOpen > 4 { // one for tokens
		t.Errorf("%+v", n)
	}
}

func TestSeveralAppsAtOnce(t *testing.T) {
	one, two := newFar(t, nil), newFar(t, func(c *sandbox.Config) { c.Apps[0].ID = "second" })
	s := started(t, Config{Apps: map[string]App{"one": one.app, "two": two.app}}, pushtest.Store(t))
	os := pushtest.Deliver(t, s, to(device(1), "app", "one"), to(device(1), "app", "two"), to(device(1)),
		to(device(1), "app", "three"))
	pushtest.Want(t, os[0], component.Delivered, "")
	pushtest.Want(t, os[1], component.Delivered, "")
	pushtest.Want(t, os[2], component.Rejected, "no attribute app")
	pushtest.Want(t, os[3], component.Rejected, `"three" is not configured`)
	if a, b := one.Counts().Accepted, two.Counts().Accepted; a != 1 || b != 1 {
		t.Errorf("%d and %d", a, b)
	}
}

func TestWhatAMessageSaysWronglyRejectsItAlone(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Message = `if .bad then error("no title") else . end` })
	body := func(text string) *message.Message {
		m := to(device(1))
		m.Body = []byte(text)
		return m
	}
	for _, c := range []struct {
		m      *message.Message
		reason string
	}{
		{to(""), "none of the attributes token"},
		{to(device(1), "topic", "x"), "more than one"},
		{to(device(1), "urgency", "loud"), "neither high nor normal"},
		{to(device(1), "collapse_key", "score"), "no number from -1 to 100"},
		{to(device(1), "expiration", "soon"), "attribute expiration"},
		{to(device(1), "registered_at", "-1"), "attribute registered_at"},
		{to(strings.Repeat("x", 5000)), "5000 bytes"},
		{body(`{"bad":true}`), "no title"},
		{body(`[1]`), "object"},
		{body(`{"token":["x"]}`), "a member token of its own"},
		{body(`{"android":1}`), "member android is no JSON object"},
		{body(`not JSON`), "no JSON"},
		{body(`{"data":1}`), "80100003"},
		{body(`{"data":"` + strings.Repeat("x", 5000) + `"}`), "80300008 (the message is too long)"},
	} {
		if len(c.m.Attributes) > 0 && strings.Contains(c.reason, "android") {
			c.m.Attributes.Set("urgency", message.String("high"))
		}
		pushtest.Want(t, pushtest.Deliver1(t, s, c.m), component.Rejected, c.reason)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(2))), component.Delivered, "")
	if s.dead.Len() != 0 {
		t.Errorf("%d devices count as gone", s.dead.Len())
	}
}

func TestAWrongSettingIsNamed(t *testing.T) {
	good := App{ClientID: "1", SecretFile: "s"}
	with := func(change func(*App)) Config {
		a := good
		change(&a)
		return Config{Apps: map[string]App{"news": a}}
	}
	for setting, c := range map[string]Config{
		"apps":                  {},
		"apps.news.client_id":   with(func(a *App) { a.ClientID = "a/b" }),
		"apps.news.secret_file": with(func(a *App) { a.SecretFile = "" }),
		"apps.news.endpoint":    with(func(a *App) { a.Endpoint = "nowhere" }),
		"apps.news.token_url":   with(func(a *App) { a.TokenURL = "http://plain" }),
		"urgency":               {Apps: map[string]App{"news": good}, Urgency: "loud"},
		"collapse_key":          {Apps: map[string]App{"news": good}, CollapseKey: "101"},
		"ttl":                   {Apps: map[string]App{"news": good}, TTL: 16 * 24 * time.Hour},
		"message":               {Apps: map[string]App{"news": good}, Message: "{"},
		"connections":           {Apps: map[string]App{"news": good}, Connections: -1},
		"backlog":               {Apps: map[string]App{"news": good}, Backlog: "a/b/c"},
		"proxy":                 {Apps: map[string]App{"news": good}, Proxy: "ftp://x"},
	} {
		var wrong *component.SettingError
		if _, err := New(c, component.Env{}); !errors.As(err, &wrong) || wrong.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

func TestASecretThatIsNotThereStopsTheStart(t *testing.T) {
	sink, err := New(Config{Apps: map[string]App{"news": {ClientID: "1",
		SecretFile: filepath.Join(t.TempDir(), "none")}}}, component.Env{Name: "phones", Store: pushtest.Store(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.(*Sink).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "app news: key file") {
		t.Errorf("%v", err)
	}
}

func TestPushesGoThroughTheProxy(t *testing.T) {
	p := proxytest.Start(t, url.UserPassword("me", "word"), nil)
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Proxy = p.URL.String() })
	if o := pushtest.Deliver1(t, s, to(device(0))); o.Verdict != component.Delivered {
		t.Error(o)
	}
	if asked := p.Asked(); len(asked) != 2 || asked[0] != f.Addr().String() {
		t.Errorf("the proxy was asked for %v", asked)
	}
}

func TestAMessageThatIsTooLongForARequestIsADeadLetter(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	m := to(device(1))
	m.Body = []byte(`{"data":"` + strings.Repeat("x", 1<<20) + `"}`)
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Rejected, "is longer than 1048576")
}

func TestAPushWaitsWhileNobodyKnowsWhetherANewerOneWaits(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	pushtest.WhileAway(t, s, &s.sender.Backlog, to(device(1), "collapse_key", "42"), "token")
}
