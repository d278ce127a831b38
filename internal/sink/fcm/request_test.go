package fcm

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/fcm"
)

func TestAMessageArrivesWithWhatItsAttributesSay(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) {
		c.Message = `{notification: {title: .title}, data: {id: $id, user: $attributes.user}, android: {notification: {sound: "bell"}}}`
		c.Priority, c.CollapseKey, c.TTL = "normal", "all", time.Hour
	})
	m := to(device(1), "user", "7", "priority", "high", "collapse_key", "score")
	m.Body = []byte(`{"title":"goal"}`)
	o := pushtest.Deliver1(t, s, m)
	pushtest.Want(t, o, component.Delivered, "")
	if o.Sent.IsZero() {
		t.Error("nobody knows when it was sent")
	}
	got := f.last(t)
	expect := map[string]any{
		"token": device(1), "notification": map[string]any{"title": "goal"},
		"data": map[string]any{"id": m.ID.String(), "user": "7"},
		"android": map[string]any{"notification": map[string]any{"sound": "bell"}, "priority": "HIGH",
			"collapse_key": "score", "ttl": "3600s"},
	}
	if !reflect.DeepEqual(got, expect) {
		t.Errorf("%v", got)
	}
	if f.Count(m.ID.String()) != 1 {
		t.Error("it was not counted by its id")
	}
}

func TestWhatTheProgramSaysGoesFirst(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) {
		c.Message, c.Priority, c.TTL = `{android: {priority: "NORMAL", ttl: "5s"}}`, "high", time.Hour
	})
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
	if got := fmt.Sprint(f.last(t)["android"]); got != "map[priority:NORMAL ttl:5s]" {
		t.Errorf("%s", got)
	}
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
	var ms []*message.Message
	for i := range 500 {
		ms = append(ms, to(device(i)))
	}
	for _, o := range pushtest.Deliver(t, s, ms...) {
		pushtest.Want(t, o, component.Delivered, "")
	}
	if n := f.Counts(); f.Issued() != 1 || n.Accepted != 500 || n.Devices != 500 {
		t.Errorf("%d tokens, %+v", f.Issued(), n)
	}
}

func TestSeveralProjectsAtOnce(t *testing.T) {
	one, two := newFar(t, nil), newFar(t, func(c *sandbox.Config) { c.Accounts[0].Project = "second" })
	s := started(t, Config{Projects: map[string]Project{"one": one.project, "two": two.project}}, pushtest.Store(t))
	os := pushtest.Deliver(t, s, to(device(1), "project", "one"), to(device(1), "project", "two"), to(device(1)),
		to(device(1), "project", "three"))
	pushtest.Want(t, os[0], component.Delivered, "")
	pushtest.Want(t, os[1], component.Delivered, "")
	pushtest.Want(t, os[2], component.Rejected, "no attribute project")
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
		{to(device(1), "priority", "loud"), "neither high nor normal"},
		{to(device(1), "expiration", "soon"), "attribute expiration"},
		{to(device(1), "registered_at", "-1"), "attribute registered_at"},
		{to(strings.Repeat("x", 5000)), "5000 bytes"},
		{body(`{"bad":true}`), "no title"},
		{body(`[1]`), "object"},
		{body(`{"token":"x"}`), "a member token of its own"},
		{body(`not JSON`), "no JSON"},
		{body(`{"colour":"red"}`), "INVALID_ARGUMENT"},
		{to("ずいぶん長いけれどこれはトークンではありません"), "INVALID_ARGUMENT"},
	} {
		pushtest.Want(t, pushtest.Deliver1(t, s, c.m), component.Rejected, c.reason)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1))), component.Delivered, "")
}

func TestExpiredMessagesAreDropped(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.TTL = time.Minute })
	old := to(device(1))
	old.Time = time.Now().Add(-2 * time.Minute)
	expired := to(device(1))
	expired.Expires = time.Now().Add(-time.Second)
	for _, m := range []*message.Message{old, expired, to(device(1), "expiration", "1000000000")} {
		o := pushtest.Deliver1(t, s, m)
		pushtest.Want(t, o, component.Dropped, "expired")
		if !errors.Is(o.Reason, component.ErrExpired) {
			t.Errorf("%v", o.Reason)
		}
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(device(1), "expiration", "0")), component.Delivered, "")
	if got := fmt.Sprint(f.last(t)["android"]); got != "map[ttl:0s]" {
		t.Errorf("now or never is %s", got)
	}
	if n := f.Counts().Requests; n != 2 { // with the one for an access token
		t.Errorf("%d requests", n)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	good := map[string]Project{"news": {AccountFile: "a.json"}}
	for setting, c := range map[string]Config{
		"projects":                   {},
		"projects.news.account_file": {Projects: map[string]Project{"news": {}}},
		"projects.news.id":           {Projects: map[string]Project{"news": {AccountFile: "a", ID: "a/b"}}},
		"projects.news.endpoint":     {Projects: map[string]Project{"news": {AccountFile: "a", Endpoint: "nowhere"}}},
		"message":                    {Projects: good, Message: "{"},
		"priority":                   {Projects: good, Priority: "loud"},
		"ttl":                        {Projects: good, TTL: 1000 * time.Hour},
		"dead_for":                   {Projects: good, DeadFor: -1},
		"feedback":                   {Projects: good, Feedback: "a b/c/d"},
		"connections":                {Projects: good, Connections: -1},
	} {
		_, err := New(c, component.Env{})
		var wrong *component.SettingError
		if !errors.As(err, &wrong) || wrong.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

func TestABrokenAccountStopsTheStart(t *testing.T) {
	f := newFar(t, nil)
	path := filepath.Join(t.TempDir(), "missing.json")
	f.project.AccountFile = path
	made, err := New(Config{Projects: map[string]Project{"news": f.project}},
		component.Env{Name: "phones", Store: pushtest.Store(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(*Sink).Start(t.Context()); err == nil || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "news") {
		t.Errorf("%v", err)
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzCompose(f *testing.F) {
	f.Add([]byte(`{"notification":{"title":"x"}}`), "token", "high", "key")
	f.Add([]byte(`{"android":null}`), "\xff", "", "")
	f.Add([]byte(`{"android":[]}`), "x", "normal", "\x00")
	f.Add([]byte(`{"AndroId":[]}`), "0", "0", "0")
	f.Fuzz(func(t *testing.T, body []byte, token, priority, key string) {
		d := &delivery{sink: &Sink{}, message: &message.Message{Body: body},
			wish: wish{target: "token", name: token, priority: priority, collapseKey: key}}
		text, err := d.compose(time.Unix(0, 0))
		if err != nil {
			return
		}
		var back struct { // of maps, which tell AndroId from android, as the far end does
			Message map[string]json.RawMessage `json:"message"`
		}
		var name string
		android := map[string]json.RawMessage{}
		if err = json.Unmarshal(text, &back); err == nil {
			err = json.Unmarshal(back.Message["token"], &name)
		}
		if of, ok := back.Message["android"]; ok {
			err = errors.Join(err, json.Unmarshal(of, &android))
		}
		if err != nil || name != strings.ToValidUTF8(token, "\ufffd") &&
			len(token) == len(strings.ToValidUTF8(token, "")) {
			t.Fatalf("%s: %v", text, err)
		}
	})
}
