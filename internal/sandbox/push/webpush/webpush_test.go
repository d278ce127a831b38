package webpush

import (
	"crypto/ecdh"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	library "github.com/SherClockHolmes/webpush-go"
	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func decode(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The example of RFC 8291, section 5 and appendix A.
const (
	rfcPrivate = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
	rfcAuth    = "BTBZMqHH6r4Tts7J_aSIgg"
	rfcBody    = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95b" +
		"Qpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	rfcText = "When I grow up, I want to be a watermelon"
)

func TestTheExampleOfTheRFCIsRead(t *testing.T) {
	private, err := ecdh.P256().NewPrivateKey(decode(t, rfcPrivate))
	if err != nil {
		t.Fatal(err)
	}
	body := decode(t, rfcBody)
	text, err := Open(private, decode(t, rfcAuth), body)
	if err != nil || string(text) != rfcText {
		t.Fatalf("%q %v", text, err)
	}
	for i := range body {
		changed := append([]byte(nil), body...)
		changed[i] ^= 1
		// the size of records is announced, not sealed
		if text, err := Open(private, decode(t, rfcAuth), changed); err == nil && (i < 16 || i > 19) {
			t.Errorf("with byte %d changed it reads %q", i, text)
		}
	}
}

func FuzzOpen(f *testing.F) {
	b, err := base64.RawURLEncoding.DecodeString(rfcBody)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:86])
	key, err := base64.RawURLEncoding.DecodeString(rfcPrivate)
	if err != nil {
		f.Fatal(err)
	}
	private, err := ecdh.P256().NewPrivateKey(key)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if text, err := Open(private, make([]byte, 16), body); err == nil {
			t.Fatalf("%q was encrypted for somebody else", text)
		}
	})
}

type rig struct {
	*Server
	client          *http.Client
	private, public string
}

func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	c.Keep = 100
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.Authority.Pool()}, ForceAttemptHTTP2: true}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	private, public, err := library.GenerateVAPIDKeys()
	if err != nil {
		t.Fatal(err)
	}
	return &rig{s, &http.Client{Transport: tr, Timeout: 20 * time.Second}, private, public}
}

// push sends with the library that Go programs use, changed last.
func (r *rig) push(t *testing.T, sub Subscription, text string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	client := changing{r.client, change}
	resp, err := library.SendNotification([]byte(text),
		&library.Subscription{Endpoint: sub.Endpoint, Keys: library.Keys{Auth: sub.Keys.Auth, P256dh: sub.Keys.P256dh}},
		&library.Options{
			HTTPClient: client, Subscriber: "push@example.com", TTL: 60, Urgency: library.UrgencyHigh, Topic: "news",
			VAPIDPublicKey: r.public, VAPIDPrivateKey: r.private,
		})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

type changing struct {
	client *http.Client
	change func(*http.Request)
}

func (c changing) Do(r *http.Request) (*http.Response, error) {
	if c.change != nil {
		c.change(r)
	}
	return c.client.Do(r)
}

func TestAMessageOfAnotherLibraryIsDecryptedAndCounted(t *testing.T) {
	r := newRig(t, Config{})
	sub, err := r.Subscribe(r.public)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{"id":"42","title":"news"}`, "plain words"} {
		resp, body := r.push(t, sub, text, nil)
		if resp.StatusCode != 201 || resp.Header.Get("Location") == "" || resp.Header.Get("TTL") != "60" {
			t.Fatalf("%d %s %v", resp.StatusCode, body, resp.Header)
		}
	}
	if got := fmt.Sprint(r.Opened()); got != `[{"id":"42","title":"news"} plain words]` {
		t.Errorf("opened %s", got)
	}
	if r.Count("42") != 1 || r.Count("plain words") != 1 || r.CountDevice(Device(sub.Endpoint)) != 2 {
		t.Errorf("%+v", r.Counts())
	}
}

func TestWhatThePushServiceRefuses(t *testing.T) {
	r := newRig(t, Config{})
	sub, err := r.Subscribe("")
	if err != nil {
		t.Fatal(err)
	}
	set := func(name, value string) func(*http.Request) {
		return func(q *http.Request) { q.Header.Set(name, value) }
	}
	other := newRig(t, Config{})
	elsewhere, err := other.Subscribe("")
	if err != nil {
		t.Fatal(err)
	}
	misdirected := elsewhere
	misdirected.Endpoint = sub.Endpoint
	for _, c := range []struct {
		name   string
		sub    Subscription
		change func(*http.Request)
		status int
	}{
		{"no TTL", sub, func(q *http.Request) { q.Header.Del("TTL") }, 400},
		{"a TTL that is none", sub, set("TTL", "soon"), 400},
		{"an unknown urgency", sub, set("Urgency", "now"), 400},
		{"a long topic", sub, set("Topic", strings.Repeat("x", 33)), 400},
		{"a topic with a space", sub, set("Topic", "a b"), 400},
		{"another encoding", sub, set("Content-Encoding", "aesgcm"), 415},
		{"no token", sub, func(q *http.Request) { q.Header.Del("Authorization") }, 401},
		{"a token of another scheme", sub, set("Authorization", "Bearer x"), 401},
		{"a token that is none", sub, set("Authorization", "vapid t=x, k="+r.public), 403},
		{"a method that is none", sub, func(q *http.Request) { q.Method = "PUT" }, 405},
		{"keys of another subscription", misdirected, nil, 400},
		{"an unknown subscription", Subscription{Endpoint: r.URL() + "/push/nobody", Keys: sub.Keys}, nil, 404},
		{"another resource", Subscription{Endpoint: r.URL() + "/other", Keys: sub.Keys}, nil, 404},
	} {
		if resp, body := r.push(t, c.sub, "x", c.change); resp.StatusCode != c.status || body == "" {
			t.Errorf("%s: %d %s", c.name, resp.StatusCode, body)
		}
	}
	if resp, body := r.push(t, sub, "x", func(q *http.Request) {
		q.Body, q.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", 4097))), 4097
	}); resp.StatusCode != 413 {
		t.Errorf("4097 bytes: %d %s", resp.StatusCode, body)
	}
	restricted, err := r.Subscribe(other.public)
	if err != nil {
		t.Fatal(err)
	}
	if resp, _ := r.push(t, restricted, "x", nil); resp.StatusCode != 403 {
		t.Errorf("another application server: %d", resp.StatusCode)
	}
	r.Unsubscribe(sub.Endpoint)
	if resp, _ := r.push(t, sub, "x", nil); resp.StatusCode != 410 {
		t.Errorf("an ended subscription: %d", resp.StatusCode)
	}
	if n := r.Counts(); n.Accepted != 0 {
		t.Errorf("%+v", n)
	}
}

func TestVAPIDTokensEnd(t *testing.T) {
	at := time.Now()
	r := newRig(t, Config{Now: func() time.Time { return at }})
	sub, err := r.Subscribe("")
	if err != nil {
		t.Fatal(err)
	}
	var kept string
	keep := func(q *http.Request) {
		if kept == "" {
			kept = q.Header.Get("Authorization")
		}
		q.Header.Set("Authorization", kept)
	}
	for _, step := range []struct {
		pass   time.Duration
		status int
	}{{0, 201}, {11 * time.Hour, 201}, {2 * time.Hour, 403}, {-40 * time.Hour, 403}} {
		at = at.Add(step.pass)
		if resp, body := r.push(t, sub, "x", keep); resp.StatusCode != step.status {
			t.Errorf("after %v: %d %s", step.pass, resp.StatusCode, body)
		}
	}
}

func TestEveryReasonCanBeAskedFor(t *testing.T) {
	r := newRig(t, Config{})
	sub, err := r.Subscribe("")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range Reasons() {
		if err := r.Behave(farend.Behaviour{Devices: []farend.Device{{Tokens: []string{Device(sub.Endpoint)},
			Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason, RetryAfter: 5}}}}}); err != nil {
			t.Fatal(err)
		}
		if resp, _ := r.push(t, sub, "x", nil); resp.StatusCode != statuses[reason] ||
			resp.Header.Get("Retry-After") != "5" {
			t.Errorf("%s: %d", reason, resp.StatusCode)
		}
	}
}
