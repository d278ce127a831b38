package wns

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/outbound/proxytest"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/push/setting"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/wns"
)

// field is a field of what the sandbox saw last.
func field(t *testing.T, f *far, name string) string {
	t.Helper()
	seen := pushtest.Last(t, f.Seen())
	return (&farend.Request{Fields: seen.Fields}).Get(name)
}

func TestAMessageArrivesWithWhatItsAttributesSay(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) {
		c.Payload, c.TTL = `"<toast><text>\(.title | @html)</text></toast>"`, time.Hour
	})
	m := to(f.Channel(appID), "push_type", "tile", "tag", "news42", "group", "sport", "cache", "false")
	m.Body = []byte(`{"title":"1 < 2"}`)
	o := pushtest.Deliver1(t, s, m)
	pushtest.Want(t, o, component.Delivered, "")
	if o.Sent.IsZero() {
		t.Error("nobody knows when it was sent")
	}
	for name, want := range map[string]string{
		"content-type": "text/xml", "x-wns-type": "wns/tile", "x-wns-tag": "news42", "x-wns-group": "sport",
		"x-wns-cache-policy": "no-cache", "x-wns-ttl": "3600",
	} {
		if got := field(t, f, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := string(pushtest.Last(t, f.Seen()).Body); got != "<toast><text>1 &lt; 2</text></toast>" {
		t.Errorf("%s", got)
	}
}

func TestRawIsAnythingAndIsCountedByItsID(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Payload, c.PushType = `{id: $id, sync: .}`, "raw" })
	m := to(f.channel(1), "expiration", "0")
	m.Body = []byte(`[1]`)
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
	if field(t, f, "content-type") != "application/octet-stream" || field(t, f, "x-wns-ttl") != "1" ||
		f.Count(m.ID.String()) != 1 {
		t.Errorf("%+v", pushtest.Last(t, f.Seen()))
	}
}

// TestOneTokenServesAllMessages: in both offices, and by both kinds of HTTP.
func TestOneTokenServesAllMessages(t *testing.T) {
	for name, change := range map[string]func(*sandbox.Config){
		"store":  nil,
		"entra":  func(c *sandbox.Config) { c.Apps[0] = sandbox.App{ID: "8f1a", Tenant: "t1", Secret: "s"} },
		"HTTP/2": func(c *sandbox.Config) { c.HTTP2 = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFar(t, change)
			s := newSink(t, f, nil)
			for _, o := range pushtest.Deliver(t, s, f.campaign(300)...) {
				pushtest.Want(t, o, component.Delivered, "")
			}
			n := f.Counts()
			if f.Issued() != 1 || n.Accepted != 300 || n.Devices != 300 || n.MostOpen > defaultConnections+1 {
				t.Errorf("%d tokens, %+v", f.Issued(), n)
			}
		})
	}
}

func TestSeveralAppsAtOnce(t *testing.T) {
	f := newFar(t, func(c *sandbox.Config) { c.Apps = append(c.Apps, sandbox.App{ID: "second", Secret: secret}) })
	second := f.app
	second.ClientID = "second"
	s := newSink(t, f, func(c *Config) { c.Apps["two"] = second })
	os := pushtest.Deliver(t, s, to(f.Channel(appID), "app", "news"), to(f.Channel("second"), "app", "two"),
		to(f.channel(1)), to(f.channel(1), "app", "three"))
	pushtest.Want(t, os[0], component.Delivered, "")
	pushtest.Want(t, os[1], component.Delivered, "")
	pushtest.Want(t, os[2], component.Rejected, "no attribute app")
	pushtest.Want(t, os[3], component.Rejected, `"three" is not configured`)
	if f.Issued() != 2 {
		t.Errorf("%d tokens", f.Issued())
	}
}

func TestOnlyMicrosoftsHostsArePostedTo(t *testing.T) {
	for host, ok := range map[string]bool{
		"notify.windows.com": true, "db5p.notify.windows.com": true, "wns2-by3p.notify.windows.com": true,
		"notify.windows.com.evil.example": false, "evilnotify.windows.com": false, "windows.com": false,
		"notify.windows.com:8443": false, "127.0.0.1": false,
	} {
		if setting.MayPost(usual, host) != ok {
			t.Errorf("%s: %v", host, !ok)
		}
	}
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Hosts = nil })
	o := pushtest.Deliver1(t, s, to(f.channel(1)))
	pushtest.Want(t, o, component.Rejected, "none of the hosts that may be posted to")
	if n := f.Counts(); n.Connections != 0 {
		t.Errorf("%+v", n)
	}
}

func TestAChannelAtAnAddressThatMayNotBeReachedIsRejected(t *testing.T) {
	f := newFar(t, nil)
	policy, err := outbound.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := pushtest.Start[*Sink](t, New, f.config(), component.Env{Name: "desktops", Store: pushtest.Store(t),
		Outbound: policy})
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(1))), component.Rejected, "its channel")
	if n := f.Counts(); n.Connections != 0 {
		t.Errorf("%+v", n)
	}
}

func TestWhatAMessageSaysWronglyRejectsItAlone(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	big := to(f.channel(1))
	big.Body = []byte(strings.Repeat("x", 5001))
	for reason, m := range map[string]*message.Message{
		"no attribute channel":                      pushtest.Message(toast),
		"is no https URI":                           to("http://" + f.Addr().String() + "/?token=x"),
		"5000 bytes: it is none of WNS's":           to(f.URL() + strings.Repeat("x", 5000-len(f.URL()))),
		"attribute push_type":                       to(f.channel(1), "push_type", "banner"),
		"attribute tag":                             to(f.channel(1), "tag", "a b"),
		"attribute group":                           to(f.channel(1), "group", "12345678901234567"),
		"neither true nor false":                    to(f.channel(1), "push_type", "raw", "cache", "yes"),
		"WNS keeps no toasts":                       to(f.channel(1), "cache", "true"),
		"attribute expiration":                      to(f.channel(1), "expiration", "soon"),
		"attribute registered_at":                   to(f.channel(1), "registered_at", "-1"),
		"5001 bytes, the most that WNS takes are 5": big,
	} {
		pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Rejected, reason)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(2))), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(2), "expiration", "1000")), component.Dropped, "expired")
}

func TestAPushIsNotSentAfterANewerOneOfItsTypeTagAndGroup(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	first, second := to(f.channel(1), "tag", "score"), to(f.channel(1), "tag", "score")
	second.Time = first.Time.Add(time.Second)
	group, kind := to(f.channel(1), "tag", "score", "group", "g"), to(f.channel(1), "tag", "score", "push_type", "tile")
	group.Time, kind.Time = first.Time, first.Time
	pushtest.Want(t, pushtest.Deliver1(t, s, second), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, first), component.Dropped, "replaced")
	pushtest.Want(t, pushtest.Deliver1(t, s, group), component.Delivered, "")
	pushtest.Want(t, pushtest.Deliver1(t, s, kind), component.Delivered, "")

	store, outbox := pushtest.StoreOf(t, s.store), queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"}
	waits := to(f.channel(2), "tag", "score")
	waits.Time = first.Time.Add(time.Second)
	if _, err := store.Put(t.Context(), outbox, []message.Message{*waits}); err != nil {
		t.Fatal(err)
	}
	old := to(f.channel(2), "tag", "score")
	old.Time = first.Time
	pushtest.Want(t, pushtest.Deliver1(t, s, old), component.Dropped, "replaced")
	old.Attributes.Set("tag", message.String("other"))
	pushtest.Want(t, pushtest.Deliver1(t, s, old), component.Delivered, "")
}

func TestAWrongSettingIsNamed(t *testing.T) {
	good := map[string]App{"news": {ClientID: "1", SecretFile: "s"}}
	with := func(change func(*App)) Config {
		a := good["news"]
		change(&a)
		return Config{Apps: map[string]App{"news": a}}
	}
	for setting, c := range map[string]Config{
		"apps": {}, "apps.news.client_id": with(func(a *App) { a.ClientID = "" }),
		"apps.news.secret_file": with(func(a *App) { a.SecretFile = "" }),
		"apps.news.token_url":   with(func(a *App) { a.TokenURL = "http://plain" }),
		"push_type":             {Apps: good, PushType: "banner"}, "payload": {Apps: good, Payload: "{"},
		"ttl": {Apps: good, TTL: -1}, "hosts[0]": {Apps: good, Hosts: []string{"https://x"}},
		"connections": {Apps: good, Connections: -1}, "max_hosts": {Apps: good, MaxHosts: -1},
		"backlog": {Apps: good, Backlog: "a/b/c"}, "proxy": {Apps: good, Proxy: "ftp://x"},
	} {
		var wrong *component.SettingError
		if _, err := New(c, component.Env{}); !errors.As(err, &wrong) || wrong.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
	sink, err := New(Config{Apps: map[string]App{"news": {ClientID: "1",
		SecretFile: filepath.Join(t.TempDir(), "none")}}}, component.Env{Name: "x", Store: pushtest.Store(t)})
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
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(1))), component.Delivered, "")
	if asked := p.Asked(); len(asked) != 2 || asked[0] != f.Addr().String() {
		t.Errorf("the proxy was asked for %v", asked)
	}
}

func TestAChannelThatCannotBeARequestIsADeadLetter(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.channel(1))), component.Delivered, "") // its host is known to be one
	o := pushtest.Deliver1(t, s, to(f.URL()+"/?token=a b"))
	pushtest.Want(t, o, component.Rejected, "the request cannot be sent")
}

func TestAPushWaitsWhileNobodyKnowsWhetherANewerOneWaits(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Backlog = "outbox" })
	pushtest.WhileAway(t, s, &s.sender.Backlog, to(f.channel(1), "tag", "score"), "channel")
}
