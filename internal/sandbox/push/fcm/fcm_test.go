package fcm

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const device = "bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1_some_more_of_it_to_be_long_enough"

type rig struct {
	*Server
	account *Account
	client  *http.Client
}

func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	account, err := NewAccount("campaign")
	if err != nil {
		t.Fatal(err)
	}
	c.Accounts = append(c.Accounts, account)
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
	return &rig{s, account, &http.Client{Transport: tr, Timeout: 20 * time.Second}}
}

// token fetches an access token as Google's own library does.
func (r *rig) token(scopes ...string) (string, error) {
	c, err := google.JWTConfigFromJSON(r.account.JSON(r.TokenURL()), scopes...)
	if err != nil {
		return "", err
	}
	t, err := c.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, r.client)).Token()
	if err != nil {
		return "", err
	}
	return t.AccessToken, nil
}

type answer struct {
	status int
	header http.Header
	Name   string
	Error  struct {
		Code            int
		Message, Status string
		Details         []struct{ ErrorCode string }
	}
}

func (a *answer) reason() string {
	if len(a.Error.Details) > 0 {
		return a.Error.Details[0].ErrorCode
	}
	return a.Error.Status
}

func (r *rig) send(t *testing.T, token, project, text string) answer {
	t.Helper()
	req, err := http.NewRequest("POST", r.URL()+"/v1/projects/"+project+"/messages:send", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header}
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return a
}

func TestAMessageIsTakenWithATokenThatGooglesLibraryFetched(t *testing.T) {
	r := newRig(t, Config{})
	token, err := r.token(ScopeMessaging)
	if err != nil {
		t.Fatal(err)
	}
	got := r.send(t, token, "campaign",
		`{"message":{"token":"`+device+
			`","data":{"id":"42"},"notification":{"title":"news"},"android":{"priority":"HIGH","ttl":"3.5s"}}}`)
	if got.status != 200 || !strings.HasPrefix(got.Name, "projects/campaign/messages/") {
		t.Fatalf("%+v", got)
	}
	if r.Count("42") != 1 || r.CountDevice(device) != 1 || r.Issued() != 1 {
		t.Errorf("%+v", r.Counts())
	}
	const installation = "cx0mHBlDR4-y_ZEWDqvXb1"
	if got := r.send(t, token, "campaign", `{"message":{"fid":"`+installation+`"}}`); got.status != 200 ||
		r.CountDevice(installation) != 1 {
		t.Errorf("an installation: %+v", got)
	}
}

// Google's own clients name Google in a grant, wherever they send it.
func TestAGrantMayBeForGoogle(t *testing.T) {
	r := newRig(t, Config{})
	for audience, good := range map[string]bool{"https://oauth2.googleapis.com/token": true,
		"https://accounts.google.com/o/oauth2/token": true, "https://example.com/token": false} {
		c, err := google.JWTConfigFromJSON(r.account.JSON(r.TokenURL()), ScopeMessaging)
		if err != nil {
			t.Fatal(err)
		}
		c.Audience = audience
		if _, err := c.TokenSource(context.WithValue(t.Context(), oauth2.HTTPClient,
			r.client)).Token(); (err == nil) != good {
			t.Errorf("%s: %v", audience, err)
		}
	}
}

func TestWrongMessagesAreRefusedAsGoogleDocuments(t *testing.T) {
	r := newRig(t, Config{})
	token, err := r.token(ScopePlatform)
	if err != nil {
		t.Fatal(err)
	}
	to := `"token":"` + device + `"`
	for name, text := range map[string]string{
		"no JSON": `{`, "no message": `{}`, "an unknown field": `{"message":{` + to + `,"colour":"red"}}`,
		"no target":                    `{"message":{"data":{}}}`,
		"an installation with rubbish": `{"message":{"fid":"../x"}}`,
		"two targets":                  `{"message":{` + to + `,"topic":"news"}}`, "a token with rubbish": `{"message":{"token":"` +
			strings.Repeat("ä!", 40) + `"}}`,
		"a short token":        `{"message":{"token":"x"}}`,
		"a reserved key":       `{"message":{` + to + `,"data":{"google.x":"1"}}}`,
		"data of another type": `{"message":{` + to + `,"data":{"n":1}}}`,
		"a wrong ttl":          `{"message":{` + to + `,"android":{"ttl":"3"}}}`,
		"a wrong priority":     `{"message":{` + to + `,"android":{"priority":"loud"}}}`,
		"too big":              `{"message":{` + to + `,"data":{"x":"` + strings.Repeat("y", 4096) + `"}}}`,
		"far too big":          `{"message":{` + to + `,"data":{"x":"` + strings.Repeat("y", 64_000) + `"}}}`,
	} {
		if got := r.send(t, token, "campaign", text); got.status != 400 || got.reason() != "INVALID_ARGUMENT" ||
			got.Error.Message == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := r.send(t, token, "campaign", `{"message":{`+to+`,"data":{"x":"`+strings.Repeat("y", 4095)+
		`"}}}`); got.status != 200 {
		t.Errorf("4096 bytes: %+v", got)
	}
	if got := r.send(t, token, "other", `{"message":{`+to+`}}`); got.status != 403 ||
		got.Error.Status != "PERMISSION_DENIED" {
		t.Errorf("another project: %+v", got)
	}
	if got := r.send(t, "wrong", "campaign", `{"message":{`+to+`}}`); got.status != 401 ||
		got.Error.Status != "UNAUTHENTICATED" {
		t.Errorf("a wrong token: %+v", got)
	}
}

func TestGrantsAreChecked(t *testing.T) {
	r := newRig(t, Config{})
	wrong := func(change func(a *Account)) error {
		a := *r.account
		change(&a)
		_, err := (&rig{r.Server, &a, r.client}).token(ScopeMessaging)
		return err
	}
	other, err := NewAccount("campaign")
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another key":     wrong(func(a *Account) { a.PEM = other.PEM }),
		"another account": wrong(func(a *Account) { a.Email = "x@example.com" }),
	} {
		var refused *oauth2.RetrieveError
		if !errors.As(err, &refused) || refused.Response.StatusCode != 400 ||
			!bytes.Contains(refused.Body, []byte("invalid_grant")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.RefuseGrants(true)
	if _, err := r.token(ScopeMessaging); err == nil {
		t.Error("a grant was taken where all are refused")
	}
	r.RefuseGrants(false)
	token, err := r.token("https://www.googleapis.com/auth/drive")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.send(t, token, "campaign", `{"message":{"token":"`+device+`"}}`); got.status != 403 {
		t.Errorf("a token for something else: %+v", got)
	}
}

func TestAccessTokensEnd(t *testing.T) {
	at := time.Now()
	r := newRig(t, Config{Now: func() time.Time { return at }})
	token, err := r.token(ScopeMessaging)
	if err != nil {
		t.Fatal(err)
	}
	text := `{"message":{"token":"` + device + `"}}`
	at = at.Add(59 * time.Minute)
	if got := r.send(t, token, "campaign", text); got.status != 200 {
		t.Errorf("%+v", got)
	}
	at = at.Add(2 * time.Minute)
	if got := r.send(t, token, "campaign", text); got.status != 401 {
		t.Errorf("%+v", got)
	}
	at = at.Add(-2 * time.Minute)
	r.Revoke()
	if got := r.send(t, token, "campaign", text); got.status != 401 {
		t.Errorf("revoked: %+v", got)
	}
}

func TestEveryErrorCanBeAskedFor(t *testing.T) {
	r := newRig(t, Config{Anybody: true})
	for _, reason := range Reasons() {
		if err := r.Behave(farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason,
			RetryAfter: 9}}}); err != nil {
			t.Fatal(err)
		}
		got := r.send(t, "", "campaign", `{"message":{"token":"`+device+`"}}`)
		want := refusals[reason]
		if got.status != want.status || got.Error.Status != want.code || want.fcmError && got.reason() != reason ||
			got.header.Get("Retry-After") != "9" {
			t.Errorf("%s: %+v", reason, got)
		}
	}
	if err := r.Behave(farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "BAD_LUCK"}}}); err == nil ||
		!strings.Contains(err.Error(), "UNREGISTERED") {
		t.Errorf("%v", err)
	}
}

func TestValidatingSendsNothing(t *testing.T) {
	r := newRig(t, Config{Anybody: true})
	if got := r.send(t, "", "campaign", `{"validate_only":true,"message":{"token":"`+device+
		`","data":{"id":"1"}}}`); got.status != 200 {
		t.Errorf("%+v", got)
	}
	if n := r.Counts(); n.Accepted != 0 {
		t.Errorf("%+v", n)
	}
}

func TestAccountsAreTakenUpAgain(t *testing.T) {
	a, err := NewAccount("campaign")
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadAccount(a.JSON("https://localhost/token"))
	if err != nil || again.Project != a.Project || again.Email != a.Email || !again.Public.Equal(a.Public) {
		t.Errorf("%+v %v", again, err)
	}
	for _, text := range []string{"", "{}",
		`{"private_key":"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}`} {
		if _, err := ReadAccount([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"message":{"token":"` + device + `","data":{"id":"1"},"android":{"ttl":"1s","priority":"HIGH"}}}`))
	f.Add([]byte(`{"message":{"topic":"news","notification":{"title":"t"}},"validate_only":true}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		if err == nil && (r.Message == nil || r.Message.size() > maxPayload) {
			t.Fatalf("%s was taken", text)
		}
	})
}
