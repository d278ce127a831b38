package wns

import (
	"context"
	"crypto/tls"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	storeApp, entraApp = "ms-app://s-1-15-2-297", "8f1a5b4c-0000-1111-2222-333344445555"
	toast              = `<toast><visual><binding template="ToastGeneric"><text>news</text></binding></visual></toast>`
)

type rig struct {
	*Server
	client *http.Client
}

func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	c.Apps = append(c.Apps, App{ID: storeApp, Secret: "secret/+="}, App{entraApp, "tenant", "its own"})
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
	return &rig{s, &http.Client{Transport: tr, Timeout: 20 * time.Second}}
}

// token fetches an access token with a library.
func (r *rig) token(id, tenant, secret, scope string) (string, error) {
	c := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: r.TokenURL(tenant),
		Scopes: []string{scope}, AuthStyle: oauth2.AuthStyleInParams}
	t, err := c.Token(context.WithValue(context.Background(), oauth2.HTTPClient, r.client))
	if err != nil {
		return "", err
	}
	return t.AccessToken, nil
}

// send posts a notification; what follows are names and values of headers.
func (r *rig) send(t *testing.T, channel, token, body string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequest("POST", channel, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "text/xml")
	req.Header.Set("X-WNS-Type", "wns/toast")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

func TestANotificationIsTakenWithATokenOfEitherOffice(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		r := newRig(t, Config{HTTP2: http2})
		for _, c := range []App{{storeApp, "", "secret/+="}, {entraApp, "tenant", "its own"}} {
			scope := storeScope
			if c.Tenant != "" {
				scope = entraScope
			}
			token, err := r.token(c.ID, c.Tenant, c.Secret, scope)
			if err != nil {
				t.Fatal(err)
			}
			got := r.send(t, r.Channel(c.ID), token, toast, "X-WNS-RequestForStatus", "true", "X-WNS-TTL", "60")
			if got.StatusCode != 200 || got.Header.Get("X-WNS-Status") != "received" ||
				got.Header.Get("X-WNS-Msg-ID") == "" || got.Header.Get("X-WNS-DeviceConnectionStatus") != "connected" ||
				(got.ProtoMajor == 2) != http2 {
				t.Errorf("%s: %s %v", c.ID, got.Proto, got.Header)
			}
			if got := r.send(t, r.Channel("another"), token, toast); got.StatusCode != 403 {
				t.Errorf("another app's channel: %d", got.StatusCode)
			}
		}
		if n := r.Counts(); n.Accepted != 2 || r.Issued() != 2 {
			t.Errorf("%+v, %d tokens", n, r.Issued())
		}
	}
}

func TestTokensAreCheckedAsDocumented(t *testing.T) {
	now := time.Now()
	r := newRig(t, Config{Now: func() time.Time { return now }})
	for what, c := range map[string][4]string{
		"a wrong secret": {storeApp, "", "wrong", storeScope}, "a wrong scope": {storeApp, "", "secret/+=", "x"},
		"a wrong tenant": {entraApp, "another", "its own", entraScope}, "the other office": {entraApp, "", "its own",
			storeScope},
	} {
		if _, err := r.token(c[0], c[1], c[2], c[3]); err == nil {
			t.Errorf("%s got a token", what)
		}
	}
	token, err := r.token(storeApp, "", "secret/+=", storeScope)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(24 * time.Hour)
	for what, token := range map[string]string{"none": "", "unknown": "x", "expired": token} {
		if got := r.send(t, r.Channel(storeApp), token, toast); got.StatusCode != 401 {
			t.Errorf("%s: %d", what, got.StatusCode)
		}
	}
}

func TestNotificationsAreCheckedAsDocumented(t *testing.T) {
	r := newRig(t, Config{Anybody: true})
	raw := []string{"X-WNS-Type", "wns/raw", "Content-Type", "application/octet-stream"}
	for what, c := range map[string]struct {
		status int
		body   string
		header []string
	}{
		"a toast": {200, toast, nil},
		"a tile": {200, toast, []string{"X-WNS-Type", "wns/tile", "X-WNS-Tag", "news42", "X-WNS-Cache-Policy",
			"cache"}},
		"a badge":            {200, `<badge value="3"/>`, []string{"X-WNS-Type", "wns/badge"}},
		"anything raw":       {200, `{"id":"42"}`, raw},
		"5000 bytes":         {200, strings.Repeat("x", 5000), raw},
		"more":               {413, strings.Repeat("x", 5001), raw},
		"no type":            {400, toast, []string{"X-WNS-Type", ""}},
		"another content":    {400, toast, []string{"Content-Type", "application/json"}},
		"a long tag":         {400, toast, []string{"X-WNS-Tag", "12345678901234567"}},
		"a tag with a space": {400, toast, []string{"X-WNS-Tag", "a b"}},
		"a toast to cache":   {400, toast, []string{"X-WNS-Cache-Policy", "cache"}},
		"a wrong cache":      {400, `1`, append([]string{"X-WNS-Cache-Policy", "yes"}, raw...)},
		"a wrong ttl":        {400, toast, []string{"X-WNS-TTL", "1.5"}},
		"for phones":         {400, toast, []string{"X-WNS-SuppressPopup", "true"}},
	} {
		got := r.send(t, r.Channel(storeApp), "", c.body, c.header...)
		if got.StatusCode != c.status || (c.status == 200) != (got.Header.Get("X-WNS-Status") == "received") ||
			(c.status == 200) != (got.Header.Get("X-WNS-Error-Description") == "") {
			t.Errorf("%s: %d %v", what, got.StatusCode, got.Header)
		}
	}
	if got := r.send(t, r.URL()+"/", "", toast); got.StatusCode != 404 {
		t.Errorf("no channel: %d", got.StatusCode)
	}
	got, err := r.client.Get(r.Channel(storeApp))
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	if got.StatusCode != 405 || r.Count("42") != 1 {
		t.Errorf("GET: %d; counted %d", got.StatusCode, r.Count("42"))
	}
}

func TestEveryAnswerCanBeAskedForAndTakesNothing(t *testing.T) {
	r := newRig(t, Config{Anybody: true})
	for _, reason := range Reasons() {
		err := r.Behave(farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason}}})
		if err != nil {
			t.Fatal(err)
		}
		got, want := r.send(t, r.Channel(storeApp), "", toast), refusals[reason]
		if got.StatusCode != want.status || len(got.Header.Values("X-WNS-Status")) != 1 ||
			got.Header.Get("X-WNS-Status") != want.state {
			t.Errorf("%s: %d %v", reason, got.StatusCode, got.Header)
		}
	}
	if n := r.Counts(); n.Accepted != 0 || len(n.Refused) != len(Reasons()) {
		t.Errorf("%+v", n)
	}
	if err := r.Behave(farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "x"}}}); err == nil ||
		!strings.Contains(err.Error(), "channelthrottled") {
		t.Errorf("%v", err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("wns/raw", "60", "tag", []byte(`{"id":"x"}`))
	f.Add("wns/toast", "-1", "ä", []byte(toast))
	f.Fuzz(func(t *testing.T, kind, ttl, tag string, body []byte) {
		r := &farend.Request{Body: body}
		var a farend.Answer
		for name, value := range map[string]string{"x-wns-type": kind, "x-wns-ttl": ttl, "x-wns-tag": tag} {
			a.Set(name, value)
		}
		r.Fields = a.Fields
		check(r)
		id(body, "id")
	})
}

func TestWhatWasDoneIsSaidInTheHeaderThatIsAskedFor(t *testing.T) {
	for _, seen := range []bool{false, true} {
		r := newRig(t, Config{Anybody: true, NotificationStatus: seen})
		is, other, throttled := "X-WNS-Status", "X-WNS-NotificationStatus", "channelthrottled"
		if seen {
			is, other, throttled = other, is, "channelThrottled"
		}
		got := r.send(t, r.Channel(storeApp), "", toast).Header
		if got.Get(is) != "received" || got.Get(other) != "" {
			t.Errorf("%v", got)
		}
		err := r.Behave(farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "channelthrottled"}}})
		if err != nil {
			t.Fatal(err)
		}
		got = r.send(t, r.Channel(storeApp), "", toast).Header
		if got.Get(is) != throttled || got.Get(other) != "" {
			t.Errorf("%v", got)
		}
	}
}
