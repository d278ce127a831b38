package apns

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// FuzzServe answers any request: with a status, and a refusal with a reason that Apple has. headers are lines of a name
// and a value.
func FuzzServe(f *testing.F) {
	const alert = "apns-topic: com.example.app\napns-push-type: alert\napns-id: " + id
	for _, seed := range [][4]string{
		{"POST", devicePath + device, alert, `{"aps":{"alert":"hello"}}`},
		{"POST", devicePath + "abc", alert + "\napns-priority: 10\napns-expiration: -1", `{}`},
		{"GET", devicePath, "authorization: bearer a.b.c", ""},
		{"POST", broadcastPath + "com.example.app", "apns-push-type: liveactivity\napns-expiration: 0\n" +
			"apns-channel-id: dGVzdA==\napns-request-id: " + id, `{"aps":{}}`},
		{"POST", channelPath + "com.example.app/channels", "",
			`{"message-storage-policy":1,"push-type":"LiveActivity"}`},
		{"GET", channelPath + "com.example.app/all-channels", "", ""},
		{"DELETE", channelPath + "com.example.app/channels", "apns-channel-id: x", ""},
		{"POST", "/", "", "null"},
	} {
		f.Add(seed[0], seed[1], seed[2], []byte(seed[3]), true)
		f.Add(seed[0], seed[1], seed[2], []byte(seed[3]), false)
	}
	f.Fuzz(func(t *testing.T, method, path, headers string, body []byte, anybody bool) {
		c := Config{Anybody: anybody, TokenAge: time.Hour, Now: time.Now, Topics: []string{"com.example.app"}}
		p := newProvider(c)
		r := &farend.Request{Method: method, Path: path, Body: body, Memory: new(farend.Memory)}
		for line := range strings.Lines(headers) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			r.Fields = append(r.Fields, hpack.HeaderField{Name: name, Value: value})
		}
		for range 2 { // what was remembered, or made, is looked at the second time
			var a farend.Answer
			p.Serve(r, &a)
			if a.Status < 200 || a.Status > 599 {
				t.Fatalf("%s %s was answered with %d", method, path, a.Status)
			}
			if a.Status >= 300 && p.Knows(a.Reason) != nil {
				t.Fatalf("%s %s was refused for %q", method, path, a.Reason)
			}
			if a.Status < 300 && !anybody {
				t.Fatalf("%s %s was taken from anybody", method, path)
			}
		}
	})
}

// FuzzProviderToken checks any provider token: without the key's signature none is good.
func FuzzProviderToken(f *testing.F) {
	key, err := NewKey("TEAM123456", "KEY1234567")
	if err != nil {
		f.Fatal(err)
	}
	part := base64.RawURLEncoding.EncodeToString
	head, claims := part([]byte(`{"alg":"ES256","kid":"KEY1234567"}`)), part([]byte(`{"iss":"TEAM123456","iat":1}`))
	f.Add("bearer " + head + "." + claims + "." + part(make([]byte, 64)))
	f.Add("bearer " + head + "." + claims + "." + part([]byte{0x30, 6, 2, 1, 1, 2, 1, 1}))
	f.Add("Bearer " + part([]byte(`{"alg":"none"}`)) + "." + claims + ".")
	f.Add("bearer ..")
	f.Fuzz(func(t *testing.T, authorization string) {
		g := newGatekeeper(Config{Keys: []*Key{key}, TokenAge: time.Hour, Now: time.Now})
		if reason, _ := g.check(authorization, nil); reason == "" {
			t.Errorf("%q is good", authorization)
		}
	})
}

// FuzzReadKey takes up any text as a key.
func FuzzReadKey(f *testing.F) {
	key, err := NewKey("TEAM123456", "KEY1234567")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(key.PEM)
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if k, err := ReadKey("TEAM123456", "KEY1234567", text); err == nil && k.Public == nil {
			t.Errorf("%q has no key", text)
		}
	})
}
