package apns

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const payloadText = `{"aps":{"alert":"news 42"}}`

func TestARightPushIsTakenAndCounted(t *testing.T) {
	r := newRig(t, Config{Topics: []string{"com.example.news"}})
	got := r.push(t, "POST", "/3/device/"+device, payloadText, r.headers(t))
	if got.status != 200 || got.header.Get("apns-id") != id || len(got.body) != 0 ||
		got.header.Get("apns-unique-id") == "" {
		t.Fatalf("%+v", got)
	}
	if r.Count(id) != 1 || r.CountDevice(device) != 1 {
		t.Errorf("counted %d and %d times", r.Count(id), r.CountDevice(device))
	}
	seen := r.Seen()
	if len(seen) != 1 || seen[0].Get("apns-collapse-id") != "news" || string(seen[0].Body) != payloadText ||
		seen[0].Status != 200 {
		t.Errorf("seen: %+v", seen)
	}
}

func TestAPushWithoutAnIDGetsOne(t *testing.T) {
	r := newRig(t, Config{})
	got := r.push(t, "POST", "/3/device/"+device, payloadText, with(r.headers(t), "apns-id", ""))
	if given := got.header.Get("apns-id"); got.status != 200 || !isID(given) || r.Count(given) != 1 {
		t.Fatalf("%+v", got)
	}
}

func TestWhatAppleRefusesIsRefusedWithItsReason(t *testing.T) {
	r := newRig(t, Config{Topics: []string{"com.example.news"}})
	at := "/3/device/" + device
	for _, c := range []struct {
		name   string
		method string
		path   string
		body   string
		header string
		value  string
		status int
		reason string
	}{
		{"another method", "PUT", at, payloadText, "", "", 405, "MethodNotAllowed"},
		{"another path", "POST", "/2/device/" + device, payloadText, "", "", 404, "BadPath"},
		{"no token", "POST", "/3/device/", payloadText, "", "", 400, "MissingDeviceToken"},
		{"a short token", "POST", "/3/device/abcd", payloadText, "", "", 400, "BadDeviceToken"},
		{"a token with rubbish", "POST", at[:len(at)-2] + "zz", payloadText, "", "", 400, "BadDeviceToken"},
		{"no provider token", "POST", at, payloadText, "authorization", "", 403, "MissingProviderToken"},
		{"no bearer", "POST", at, payloadText, "authorization", "basic abc", 403, "InvalidProviderToken"},
		{"no topic", "POST", at, payloadText, "apns-topic", "", 400, "MissingTopic"},
		{"another app", "POST", at, payloadText, "apns-topic", "com.example.other", 400, "TopicDisallowed"},
		{"a topic that is none", "POST", at, payloadText, "apns-topic", "com example", 400, "BadTopic"},
		{"an unknown type", "POST", at, payloadText, "apns-push-type", "shout", 400, "InvalidPushType"},
		{"a call to the app's topic", "POST", at, payloadText, "apns-push-type", "voip", 400, "TopicDisallowed"},
		{"a priority of 7", "POST", at, payloadText, "apns-priority", "7", 400, "BadPriority"},
		{"in the background at once", "POST", at, payloadText, "apns-push-type", "background", 400, "BadPriority"},
		{"an expiration that is none", "POST", at, payloadText, "apns-expiration", "soon", 400, "BadExpirationDate"},
		{"a long collapse id", "POST", at, payloadText, "apns-collapse-id", strings.Repeat("x", 65), 400,
			"BadCollapseId"},
		{"an id that is none", "POST", at, payloadText, "apns-id", "42", 400, "BadMessageId"},
		{"no payload", "POST", at, "", "", "", 400, "PayloadEmpty"},
		{"no JSON", "POST", at, "news", "", "", 400, "BadMessage"},
		{"4097 bytes", "POST", at, `{"a":"` + strings.Repeat("x", 4097-8) + `"}`, "", "", 413, "PayloadTooLarge"},
		{"very much", "POST", at, strings.Repeat("x", 60_000), "", "", 413, "PayloadTooLarge"},
	} {
		h := r.headers(t)
		if c.header != "" {
			h[c.header] = c.value
		}
		got := r.push(t, c.method, c.path, c.body, h)
		if got.status != c.status || got.Reason != c.reason {
			t.Errorf("%s: %d %s, want %d %s", c.name, got.status, got.Reason, c.status, c.reason)
		}
		if got.header.Get("apns-id") == "" && c.reason != "BadPath" {
			t.Errorf("%s: the answer has no apns-id", c.name)
		}
	}
	if c := r.Counts(); c.Accepted != 0 || c.Refused["TopicDisallowed"] != 2 {
		t.Errorf("%+v", c)
	}
}

func TestTheLargestPayloadsAreTaken(t *testing.T) {
	r := newRig(t, Config{})
	text := func(n int) string { return `{"a":"` + strings.Repeat("x", n-8) + `"}` }
	if got := r.push(t, "POST", "/3/device/"+device, text(4096), r.headers(t)); got.status != 200 {
		t.Errorf("4096 bytes: %+v", got)
	}
	h := with(with(r.headers(t), "apns-push-type", "voip"), "apns-topic", "com.example.news.voip")
	if got := r.push(t, "POST", "/3/device/"+device, text(5120), h); got.status != 200 {
		t.Errorf("a call of 5120 bytes: %+v", got)
	}
	if got := r.push(t, "POST", "/3/device/"+device, text(5121), h); got.Reason != "PayloadTooLarge" {
		t.Errorf("a call of 5121 bytes: %+v", got)
	}
}

func TestEveryPushTypeHasItsTopic(t *testing.T) {
	r := newRig(t, Config{Topics: []string{"com.example.news"}})
	for kind, end := range kinds {
		h := with(with(with(r.headers(t), "apns-push-type", kind), "apns-topic", "com.example.news"+end),
			"apns-priority", "5")
		if got := r.push(t, "POST", "/3/device/"+device, payloadText, h); got.status != 200 {
			t.Errorf("%s: %d %s", kind, got.status, got.Reason)
		}
	}
}

func TestProviderTokensAreChecked(t *testing.T) {
	r := newRig(t, Config{})
	other, err := NewKey("TEAM123456", "KEY1234567")
	if err != nil {
		t.Fatal(err)
	}
	forged := &rig{key: other}
	now := time.Now()
	for want, bearer := range map[string]string{
		"": r.token(t, nil),
		"ExpiredProviderToken": r.token(t,
			func(_ *jwt.Token, c jwt.MapClaims) { c["iat"] = now.Add(-61 * time.Minute).Unix() }),
		"InvalidProviderToken 1": r.token(t,
			func(_ *jwt.Token, c jwt.MapClaims) { c["iat"] = now.Add(time.Hour).Unix() }),
		"InvalidProviderToken 2": r.token(t, func(_ *jwt.Token, c jwt.MapClaims) { delete(c, "iat") }),
		"InvalidProviderToken 3": r.token(t, func(_ *jwt.Token, c jwt.MapClaims) { c["iss"] = "OTHERTEAM1" }),
		"InvalidProviderToken 4": r.token(t, func(k *jwt.Token, _ jwt.MapClaims) { k.Header["kid"] = "OTHERKEY12" }),
		"InvalidProviderToken 5": forged.token(t, nil),
	} {
		want, _, _ = strings.Cut(want, " ")
		got := r.push(t, "POST", "/3/device/"+device, payloadText, with(r.headers(t), "authorization", bearer))
		if got.Reason != want {
			t.Errorf("%s instead of %q", got.Reason, want)
		}
	}
}

func TestASignatureInASN1IsTakenToo(t *testing.T) {
	r := newRig(t, Config{})
	bearer := r.token(t, nil)
	text := strings.TrimPrefix(bearer, "bearer ")
	end := strings.LastIndexByte(text, '.')
	private, err := jwt.ParseECPrivateKeyFromPEM(r.key.PEM)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(text[:end]))
	der, err := ecdsa.SignASN1(rand.Reader, private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signature []byte
		want      string
	}{{der, ""}, {append(der, 0), "InvalidProviderToken"}, {der[:len(der)-1], "InvalidProviderToken"},
		{[]byte{0x30, 0}, "InvalidProviderToken"}} {
		bearer := "bearer " + text[:end+1] + base64.RawURLEncoding.EncodeToString(c.signature)
		if got := r.push(t, "POST", "/3/device/"+device, payloadText,
			with(r.headers(t), "authorization", bearer)); got.Reason != c.want {
			t.Errorf("%x: %s", c.signature, got.Reason)
		}
	}
}

func TestATokenExpiresWhileItIsInUse(t *testing.T) {
	at := time.Now()
	r := newRig(t, Config{Now: func() time.Time { return at }})
	h := r.headers(t)
	if got := r.push(t, "POST", "/3/device/"+device, payloadText, h); got.status != 200 {
		t.Fatalf("%+v", got)
	}
	at = at.Add(61 * time.Minute)
	if got := r.push(t, "POST", "/3/device/"+device, payloadText, h); got.Reason != "ExpiredProviderToken" ||
		got.status != 403 {
		t.Errorf("%+v", got)
	}
}

func TestTokensThatChangeTooOftenAreRefused(t *testing.T) {
	at := time.Now()
	r := newRig(t, Config{TokenUpdates: 20 * time.Minute, Now: func() time.Time { return at }})
	bearer := func(issued time.Time) string {
		return r.token(t, func(_ *jwt.Token, c jwt.MapClaims) { c["iat"] = issued.Unix() })
	}
	push := func(bearer string) string {
		return r.push(t, "POST", "/3/device/"+device, payloadText, with(r.headers(t), "authorization", bearer)).Reason
	}
	first := bearer(at)
	for _, step := range []struct{ bearer, want string }{
		{first, ""}, {bearer(at.Add(-time.Second)), "TooManyProviderTokenUpdates"},
		{bearer(at.Add(time.Second)), "TooManyProviderTokenUpdates"}, {first, ""},
	} {
		if got := push(step.bearer); got != step.want {
			t.Errorf("%q instead of %q", got, step.want)
		}
	}
	at = at.Add(21 * time.Minute)
	if got := push(bearer(at)); got != "" {
		t.Errorf("after 21 minutes: %s", got)
	}
}

func TestACertificateStandsForAToken(t *testing.T) {
	r := newRig(t, Config{})
	cert, _, _, err := r.Authority.Client("com.example.news")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: r.Authority.Pool(), Certificates: []tls.Certificate{cert}},
		ForceAttemptHTTP2: true,
	}
	defer transport.CloseIdleConnections()
	r.client.Transport = transport
	if got := r.push(t, "POST", "/3/device/"+device, payloadText, map[string]string{}); got.status != 200 {
		t.Errorf("%+v", got)
	}
	if got := r.push(t, "POST", "/3/device/"+device, payloadText,
		map[string]string{"apns-topic": "com.example.other"}); got.Reason != "TopicDisallowed" {
		t.Errorf("another app's topic: %+v", got)
	}
}

func TestEveryReasonCanBeAskedFor(t *testing.T) {
	r := newRig(t, Config{})
	for _, reason := range Reasons() {
		if err := r.Behave(farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason,
			RetryAfter: 7}}}); err != nil {
			t.Fatal(err)
		}
		got := r.push(t, "POST", "/3/device/"+device, payloadText, r.headers(t))
		if got.Reason != reason || got.status != reasons[reason] || got.header.Get("retry-after") != "7" ||
			got.header.Get("apns-id") != id {
			t.Errorf("%s: %+v", reason, got)
		}
		if got.status == 410 && (got.Timestamp < time.Now().Add(-time.Hour).UnixMilli() ||
			got.Timestamp > time.Now().UnixMilli()) {
			t.Errorf("%s: timestamp %d", reason, got.Timestamp)
		}
	}
	if err := r.Behave(farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "BadLuck"}}}); err == nil ||
		!strings.Contains(err.Error(), "BadDeviceToken") {
		t.Errorf("an unknown reason: %v", err)
	}
}

func TestChannelsAreMadeBroadcastToAndDeleted(t *testing.T) {
	r := newRig(t, Config{})
	const app = "com.example.news"
	bearer := map[string]string{"authorization": r.token(t, nil)}
	made := r.push(t, "POST", "/1/apps/"+app+"/channels", `{"message-storage-policy":1,"push-type":"LiveActivity"}`,
		bearer)
	channel := made.header.Get("apns-channel-id")
	if made.status != 201 || channel == "" {
		t.Fatalf("%+v", made)
	}
	var list struct {
		Channels []string `json:"channels"`
	}
	all := r.push(t, "GET", "/1/apps/"+app+"/all-channels", "", bearer)
	if err := json.Unmarshal(all.body, &list); err != nil || !slices.Equal(list.Channels, []string{channel}) {
		t.Errorf("%+v %v", all, err)
	}
	h := map[string]string{
		"authorization": bearer["authorization"], "apns-channel-id": channel, "apns-push-type": "liveactivity",
		"apns-expiration": strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10), "apns-request-id": id,
	}
	got := r.push(t, "POST", "/4/broadcasts/apps/"+app, `{"aps":{"event":"update"}}`, h)
	if got.status != 200 || got.header.Get("apns-request-id") != id || r.Count(id) != 1 {
		t.Errorf("%+v", got)
	}
	gone := r.push(t, "DELETE", "/1/apps/"+app+"/channels", "",
		map[string]string{"authorization": bearer["authorization"], "apns-channel-id": channel})
	if gone.status != 204 {
		t.Errorf("%+v", gone)
	}
	if got := r.push(t, "POST", "/4/broadcasts/apps/"+app, `{"aps":{}}`, h); got.Reason != "ChannelNotRegistered" {
		t.Errorf("%+v", got)
	}
}

func TestKeysAreTakenUpAgain(t *testing.T) {
	key, err := NewKey("T", "K")
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadKey("T", "K", key.PEM)
	if err != nil || !again.Public.Equal(key.Public) {
		t.Errorf("%v", err)
	}
	if _, err := ReadKey("T", "K", []byte("rubbish")); err == nil {
		t.Error("rubbish was taken for a key")
	}
}
