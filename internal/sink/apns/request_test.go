package apns

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
)

func TestAMessageSaysEveryHeader(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	at := time.Now().Add(time.Hour).Truncate(time.Second)
	m := to(device(1), "push_type", "background", "priority", "5", "expiration", at.Format(time.RFC3339), "collapse_id",
		"score")
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
	seen := f.last(t)
	for name, value := range map[string]string{
		"apns-topic": bundle, "apns-push-type": "background", "apns-id": m.ID.String(), "apns-priority": "5",
		"apns-expiration": message.Int(at.Unix()).Text(), "apns-collapse-id": "score",
	} {
		if got := seen.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if seen.Path != "/3/device/"+device(1) || string(seen.Body) != string(m.Body) {
		t.Errorf("%s with %s", seen.Path, seen.Body)
	}
	if !strings.HasPrefix(seen.Get("authorization"), "bearer ") {
		t.Errorf("authorization %q", seen.Get("authorization"))
	}
}

func TestTheConfigurationSaysWhatMessagesDoNot(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) {
		c.PushType, c.Priority, c.TTL, c.CollapseID = "voip", 10, time.Hour, "call"
		c.Payload = `{aps: {}, caller: .from, vip: $attributes.vip}`
	})
	m := to(device(1), "vip", "yes")
	m.Body = []byte(`{"from": "Aki"}`)
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
	seen := f.last(t)
	for name, value := range map[string]string{
		"apns-topic": bundle + ".voip", "apns-push-type": "voip", "apns-priority": "10",
		"apns-expiration": message.Int(m.Time.Add(time.Hour).Unix()).Text(), "apns-collapse-id": "call",
	} {
		if got := seen.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if string(seen.Body) != `{"aps":{},"caller":"Aki","vip":"yes"}` {
		t.Errorf("body %s", seen.Body)
	}
}

func TestEveryPushTypeHasTheTopicThatAppleWants(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	for kind := range pushTypes {
		pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "push_type", kind)), component.Delivered, "")
	}
}

func TestSeveralAppsTeamsAndEnvironmentsAtOnce(t *testing.T) {
	news := newFar(t, nil)
	weather := newFar(t, func(c *sandbox.Config) { c.Topics = []string{"com.example.weather", "com.example.rain"} })
	mine := weather.app
	mine.Topic, mine.Environment = "com.example.weather", "development"
	rain := mine
	rain.Topic = "com.example.rain"
	s := started(t, Config{Apps: map[string]App{bundle: news.app, "weather": mine, "rain": rain}}, pushtest.Store(t))
	if len(s.lines) != 2 || s.apps["weather"].client != s.apps["rain"].client {
		t.Errorf("%d clients for two keys", len(s.lines))
	}
	os := pushtest.Deliver(t, s, to(device(1), "app", bundle), to(device(1), "app", "weather"),
		to(device(2), "app", "rain"), to(device(1)), to(device(1), "app", "snow"))
	for _, o := range os[:3] {
		pushtest.Want(t, o, component.Delivered, "")
	}
	pushtest.Want(t, os[3], component.Rejected, "no attribute app")
	pushtest.Want(t, os[4], component.Rejected, `"snow" is not configured`)
	if n, w := news.Counts().Accepted, weather.Counts().Accepted; n != 1 || w != 2 {
		t.Errorf("%d and %d were accepted", n, w)
	}
}

func TestACertificateProvesWhoSends(t *testing.T) {
	f := newFar(t, nil)
	_, cert, key, err := f.Authority.Client(bundle)
	if err != nil {
		t.Fatal(err)
	}
	pushtest.Write(t, f.dir+"/cert.pem", cert)
	pushtest.Write(t, f.dir+"/cert.key", key)
	f.app = App{Endpoint: "https://" + f.Addr().String(), CAFile: f.ca, CertFile: f.dir + "/cert.pem",
		CertKeyFile: f.dir + "/cert.key"}
	s := newSink(t, f, nil)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
	seen := f.last(t)
	if got := seen.Get("authorization"); got != "" {
		t.Errorf("authorization %q beside a certificate", got)
	}
}

func TestAChannelIsABroadcastForLiveActivities(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	id := f.newChannel(t)
	m := to("", "channel", id, "priority", "10")
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
	seen := f.last(t)
	for name, value := range map[string]string{
		"apns-channel-id": id, "apns-push-type": "liveactivity", "apns-expiration": "0",
		"apns-request-id": m.ID.String(), "apns-topic": "", "apns-id": "",
	} {
		if got := seen.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	if seen.Path != "/4/broadcasts/apps/"+bundle {
		t.Errorf("path %s", seen.Path)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to("", "channel", "bm9uZQ==")), component.Rejected, "ChannelNotRegistered")
}

func TestSizesAreCheckedBeforeSending(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	for _, c := range []struct {
		size    int
		kind    string
		verdict component.Verdict
	}{
		{4096, "alert", component.Delivered}, {4097, "alert", component.Rejected},
		{5120, "voip", component.Delivered}, {5121, "voip", component.Rejected}, {0, "alert", component.Rejected},
	} {
		m := to(device(1), "push_type", c.kind)
		m.Body = []byte(`{"x":"` + strings.Repeat("x", max(0, c.size-8)) + `"}`)[:c.size]
		o := pushtest.Deliver1(t, s, m)
		reason := map[bool]string{true: "PayloadEmpty", false: "PayloadTooLarge"}[c.size == 0]
		if c.verdict == component.Delivered {
			reason = ""
		}
		pushtest.Want(t, o, c.verdict, reason)
	}
	if n := f.Counts().Requests; n != 2 {
		t.Errorf("%d requests were made, want the 2 that fit", n)
	}
}

func TestWhatAMessageSaysWronglyRejectsItAlone(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Payload = `if .bad then error("no title") else . end` })
	bad := to(device(1))
	bad.Body = []byte(`{"bad": true}`)
	for _, c := range []struct {
		m      *message.Message
		reason string
	}{
		{to(""), "neither an attribute token nor a channel"},
		{to(device(1), "push_type", "loud"), `"loud" is no push type`},
		{to(device(1), "priority", "7"), "none of 10, 5 and 1"},
		{to(device(1), "expiration", "tomorrow"), "attribute expiration"},
		{to(device(1), "registered_at", "-3"), "attribute registered_at"},
		{to(device(1), "collapse_id", strings.Repeat("x", 65)), "65 bytes"},
		{to(device(1), "topic", "a topic"), "is no topic"},
		{to(device(1), "collapse_id", "a\r\nb: c"), "no header may have"},
		{to("", "channel", "a b\n"), "no header may have"},
		{to(device(1), "topic", "com.example.other"), "TopicDisallowed"},
		{bad, "no title"},
	} {
		pushtest.Want(t, pushtest.Deliver1(t, s, c.m), component.Rejected, c.reason)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
}

func TestTokensWithRubbishAreRejectedAndReportedWithoutARequest(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	for _, token := range []string{"zz", "../../secret", "0011 2233", "00\r\nx: y", strings.Repeat("0", 100_000),
		"\xff\xfe", "?", "トークン"} {
		pushtest.Want(t, pushtest.Deliver1(t, s, to(token)), component.Rejected, "BadDeviceToken")
	}
	if n := f.Counts().Requests; n != 0 {
		t.Errorf("%d requests were made", n)
	}
	if got := pushtest.Reports(t, s.store); strings.Count(got, `"state":"suspect","reason":"BadDeviceToken"`) != 8 ||
		len(got) > 8*1000 {
		t.Errorf("reports:\n%.2000s", got)
	}
	if n := s.dead.Len(); n != 0 {
		t.Errorf("%d devices count as gone", n)
	}
}

func FuzzWish(f *testing.F) {
	f.Add(device(1), bundle, "alert", "10", "0", "score")
	f.Add("../", "a b", "x", "-1", "tomorrow", "a\nb")
	f.Fuzz(func(t *testing.T, token, topic, kind, priority, expiration, collapse string) {
		m := to(token, "topic", topic, "push_type", kind, "priority", priority, "expiration", expiration, "collapse_id",
			collapse)
		var w wish
		if w.read(m) != nil {
			return
		}
		if isToken(w.token) && strings.ContainsAny(w.token, "/?#. %\r\n") {
			t.Errorf("token %q", w.token)
		}
		if strings.ContainsAny(w.topic+w.collapse+w.pushType, "\r\n\x00") || len(w.collapse) > maxCollapse {
			t.Errorf("%+v", w)
		}
	})
}
