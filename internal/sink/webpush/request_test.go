package webpush

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/push/setting"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/webpush"
)

func TestAMessageArrivesAndIsDecrypted(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) {
		c.Payload, c.Urgency, c.TTL = `{id: $id, title: .title, user: $attributes.user}`, "low", time.Hour
	})
	sub := f.subscribe(t)
	m := to(sub, "user", "7", "urgency", "high", "topic", "score")
	o := pushtest.Deliver1(t, s, m)
	pushtest.Want(t, o, component.Delivered, "")
	if o.Sent.IsZero() {
		t.Error("nobody knows when it was sent")
	}
	if got := f.Opened(); len(got) != 1 || got[0] != `{"id":"`+m.ID.String()+`","title":"news 42","user":"7"}` {
		t.Errorf("opened %q", got)
	}
	seen := f.last(t)
	for name, value := range map[string]string{"urgency": "high", "topic": "score", "ttl": "3600",
		"content-encoding": "aes128gcm"} {
		if got := seen.Get(name); got != value {
			t.Errorf("%s is %q, not %q", name, got, value)
		}
	}
	if f.Count(m.ID.String()) != 1 {
		t.Error("it was not counted by its id")
	}
}

func TestASubscriptionMayComeInParts(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	sub := f.subscribe(t)
	m := &message.Message{ID: message.NewID(), Body: []byte("plain words")}
	m.Attributes.Set("endpoint", message.String(sub.Endpoint))
	m.Attributes.Set("p256dh", message.String(sub.Keys.P256dh))
	m.Attributes.Set("auth", message.String(sub.Keys.Auth+"=="))
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
	if got := fmt.Sprint(f.Opened()); got != "[plain words]" {
		t.Errorf("opened %s", got)
	}
	if ttl := f.last(t).Get("ttl"); ttl != "2419200" {
		t.Errorf("ttl %s", ttl)
	}
}

func TestTextsOfEveryLengthFitOrAreRejected(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	sub := f.subscribe(t)
	for _, n := range []int{0, 1, 127, 128, 129, maxText - 1, maxText} {
		m := to(sub)
		m.Body = bytes.Repeat([]byte("x"), n)
		pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Delivered, "")
		if got := f.Opened(); len(got[len(got)-1]) != n {
			t.Errorf("%d bytes became %d", n, len(got[len(got)-1]))
		}
		if string(m.Body) != strings.Repeat("x", n) {
			t.Error("the message was changed")
		}
	}
	m := to(sub)
	m.Body = make([]byte, maxText+1)
	before := f.Counts().Requests
	pushtest.Want(t, pushtest.Deliver1(t, s, m), component.Rejected, "the most that fit")
	if f.Counts().Requests != before {
		t.Error("it was sent all the same")
	}
}

func TestWhatIsSealedOnlyItsSubscriptionOpens(t *testing.T) {
	s, err := newSealer()
	if err != nil {
		t.Fatal(err)
	}
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth := make([]byte, 16)
	rand.Read(auth)
	var sub subscription
	sub.Keys.P256dh, sub.Keys.Auth = base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes()),
		base64.RawURLEncoding.EncodeToString(auth)
	one, err := s.seal([]byte("secret"), &sub)
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.seal([]byte("secret"), &sub)
	if err != nil || bytes.Equal(one, two) {
		t.Errorf("twice the same: %v", err)
	}
	if text, err := sandbox.Open(private, auth, one); err != nil || string(text) != "secret" {
		t.Errorf("%q, %v", text, err)
	}
	if len(one) != overhead+lengthSteps {
		t.Errorf("%d bytes", len(one))
	}
	auth[0] ^= 1
	if _, err := sandbox.Open(private, auth, one); err == nil {
		t.Error("another secret opened it")
	}
}

func TestOnlyTheServicesThatAreNamedArePostedTo(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Services = nil })
	pushtest.Want(t, pushtest.Deliver1(t, s, to(f.subscribe(t))), component.Rejected, "services")
	if n := f.Counts().Connections; n != 0 {
		t.Errorf("%d connections were made", n)
	}
	for host, ok := range map[string]bool{
		"fcm.googleapis.com": true, "FCM.googleapis.com": true, "web.push.apple.com": true,
		"wns2-am3p.notify.windows.com": true, "updates.push.services.mozilla.com": true,
		"push.apple.com": false, "evilpush.apple.com": false, "localhost": false, "169.254.169.254": false,
		"fcm.googleapis.com:22": false, "fcm.googleapis.com.evil.example": false,
	} {
		if setting.MayPost(usual, host) != ok {
			t.Errorf("%s: %v", host, !ok)
		}
	}
	if !setting.MayPost([]string{"*"}, "anywhere") {
		t.Error("* is not any")
	}
}

func TestWhatAMessageSaysWronglyRejectsItAlone(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.Payload = `if .bad then error("no title") else . end` })
	good := f.subscribe(t)
	sub := func(change func(*sandbox.Subscription)) *message.Message {
		bad := good
		change(&bad)
		return to(bad)
	}
	bad := to(good)
	bad.Body = []byte(`{"bad":true}`)
	for _, c := range []struct {
		m      *message.Message
		reason string
	}{
		{&message.Message{ID: message.NewID()}, "neither an attribute subscription nor endpoint"},
		{to(good, "subscription", "{"), "no JSON of a subscription"},
		{to(good, "urgency", "now"), "attribute urgency"},
		{to(good, "expiration", "soon"), "attribute expiration"},
		{to(good, "registered_at", "-1"), "attribute registered_at"},
		{sub(func(s *sandbox.Subscription) { s.Endpoint = "http://127.0.0.1/x" }), "no https URL"},
		{sub(func(s *sandbox.Subscription) { s.Endpoint = "https://user@127.0.0.1/x" }), "no https URL"},
		{sub(func(s *sandbox.Subscription) { s.Endpoint = "https://" + strings.Repeat("x", 3000) }), "3008 bytes"},
		{sub(func(s *sandbox.Subscription) { s.Keys.Auth = "" }), "no key auth"},
		{sub(func(s *sandbox.Subscription) { s.Keys.Auth = "AAAA" }), "16 bytes in base64"},
		{sub(func(s *sandbox.Subscription) { s.Keys.P256dh = "ÄÖÜ" }), "65 bytes in base64"},
		{sub(func(s *sandbox.Subscription) {
			s.Keys.P256dh = base64.RawURLEncoding.EncodeToString(append([]byte{4}, make([]byte, 64)...))
		}), "encrypt for the subscription"},
		{bad, "no title"},
	} {
		pushtest.Want(t, pushtest.Deliver1(t, s, c.m), component.Rejected, c.reason)
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(good)), component.Delivered, "")
}

func TestExpiredMessagesAreDropped(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, func(c *Config) { c.TTL = time.Minute })
	sub := f.subscribe(t)
	old := to(sub)
	old.Time = time.Now().Add(-2 * time.Minute)
	for _, m := range []*message.Message{old, to(sub, "expiration", "1000000000")} {
		if o := pushtest.Deliver1(t, s, m); o.Verdict != component.Dropped ||
			!errors.Is(o.Reason, component.ErrExpired) {
			t.Errorf("%+v", o)
		}
	}
	pushtest.Want(t, pushtest.Deliver1(t, s, to(sub, "expiration", "0")), component.Delivered, "")
	if ttl := f.last(t).Get("ttl"); ttl != "0" {
		t.Errorf("now or never is %s", ttl)
	}
}

func TestTopicsOfAnyTextBecomeOnesThatAreTaken(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	sub := f.subscribe(t)
	seen := map[string]bool{}
	for _, topic := range []string{"score", "得点", strings.Repeat("long", 20), "a b", "a/b"} {
		pushtest.Want(t, pushtest.Deliver1(t, s, to(sub, "topic", topic)), component.Delivered, "")
		seen[f.last(t).Get("topic")] = true
	}
	if len(seen) != 5 || !seen["score"] {
		t.Errorf("%v", seen)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	good := Config{KeyFile: "key", Subject: "mailto:a@example.com"}
	for setting, change := range map[string]func(*Config){
		"key_file":     func(c *Config) { c.KeyFile = "" },
		"subject":      func(c *Config) { c.Subject = "a@example.com" },
		"payload":      func(c *Config) { c.Payload = "{" },
		"urgency":      func(c *Config) { c.Urgency = "now" },
		"ttl":          func(c *Config) { c.TTL = 1000 * time.Hour },
		"dead_for":     func(c *Config) { c.DeadFor = -1 },
		"services[1]":  func(c *Config) { c.Services = []string{"ok", "https://x/"} },
		"connections":  func(c *Config) { c.Connections = -1 },
		"max_services": func(c *Config) { c.MaxServices = -1 },
		"feedback":     func(c *Config) { c.Feedback = "a b/c/d" },
	} {
		c := good
		change(&c)
		_, err := New(c, component.Env{})
		var wrong *component.SettingError
		if !errors.As(err, &wrong) || wrong.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if _, err := New(good, component.Env{}); err != nil {
		t.Error(err)
	}
}

func TestAMissingKeyStopsTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing.pem")
	made, err := New(Config{KeyFile: path, Subject: "mailto:a@example.com"}, component.Env{Store: pushtest.Store(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(*Sink).Start(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzWish(f *testing.F) {
	f.Add(`{"endpoint":"https://push.example.com/a?b","keys":{"p256dh":"BA","auth":"AA"}}`, "https://[::1]:8443/x", "0")
	f.Add(`{}`, "https://%zz/", "-1")
	f.Add(`null`, "https://host:443#f", "x")
	f.Fuzz(func(t *testing.T, sub, endpoint, expiration string) {
		var m message.Message
		m.Attributes.Set("subscription", message.String(sub))
		m.Attributes.Set("endpoint", message.String(endpoint))
		m.Attributes.Set("expiration", message.String(expiration))
		var w wish
		if w.read(&m) == nil && (w.host == "" || !strings.HasPrefix(w.path, "/") || w.origin != "https://"+w.host) {
			t.Fatalf("%+v", w)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	s, err := newSealer()
	if err != nil {
		b.Fatal(err)
	}
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	var sub subscription
	sub.Keys.P256dh, sub.Keys.Auth = base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes()),
		base64.RawURLEncoding.EncodeToString(make([]byte, 16))
	text := make([]byte, 200)
	for b.Loop() {
		if _, err := s.seal(text, &sub); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAnEndpointThatCannotBeARequestIsADeadLetter(t *testing.T) {
	f := newFar(t, nil)
	s := newSink(t, f, nil)
	sub := f.subscribe(t)
	pushtest.Want(t, pushtest.Deliver1(t, s, to(sub)), component.Delivered, "") // its push service is known to be one
	sub.Endpoint += "?token=a b"
	pushtest.Want(t, pushtest.Deliver1(t, s, to(sub)), component.Rejected, "the request cannot be sent")
}
