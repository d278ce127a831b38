package hms

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
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

const device = "IQAAAACy0T43AACuxxxxxxxxxxxxxxxxxxxxxxxx"

type rig struct {
	*Server
	client *http.Client
}

func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	c.Apps = append(c.Apps, App{"100123456", "secret/+="}, App{"another", "its own"})
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
func (r *rig) token(id, secret string) (string, error) {
	c := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: r.TokenURL(),
		AuthStyle: oauth2.AuthStyleInParams}
	t, err := c.Token(context.WithValue(context.Background(), oauth2.HTTPClient, r.client))
	if err != nil {
		return "", err
	}
	return t.AccessToken, nil
}

type answer struct {
	status, proto        int
	Code, Msg, RequestID string
}

func (r *rig) send(t *testing.T, token, app, text string) answer {
	t.Helper()
	req, err := http.NewRequest("POST", r.URL()+"/v1/"+app+"/messages:send", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json;charset=UTF-8")
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, proto: resp.ProtoMajor}
	if err := json.Unmarshal(body, &a); err != nil && len(body) > 0 {
		t.Fatalf("%s: %v", body, err)
	}
	return a
}

const whole = `{"validate_only":false,"message":{"token":["` + device + `"],"data":"{\"id\":\"42\"}",` +
	`"notification":{"title":"news","body":"42"},"android":{"collapse_key":-1,"urgency":"NORMAL","ttl":"1448s",` +
	`"notification":{"click_action":{"type":3}}}}}`

func TestAMessageIsTakenWithATokenThatALibraryFetched(t *testing.T) {
	for _, old := range []bool{false, true} {
		r := newRig(t, Config{Config: farend.Config{OnlyHTTP1: old}})
		token, err := r.token("100123456", "secret/+=")
		if err != nil {
			t.Fatal(err)
		}
		got := r.send(t, token, "100123456", whole)
		if got.status != 200 || got.Code != success || got.RequestID == "" || (got.proto == 1) != old {
			t.Fatalf("%+v", got)
		}
		if r.Count("42") != 1 || r.CountDevice(device) != 1 || r.Issued() != 1 {
			t.Errorf("%+v", r.Counts())
		}
		if got := r.send(t, token, "100123456", strings.Replace(whole, "false", "true", 1)); got.Code != success ||
			r.CountDevice(device) != 1 {
			t.Errorf("%+v", got)
		}
	}
}

func TestTokensAreCheckedAsDocumented(t *testing.T) {
	now := time.Now()
	r := newRig(t, Config{Now: func() time.Time { return now }})
	if _, err := r.token("100123456", "wrong"); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("a wrong secret: %v", err)
	}
	token, err := r.token("100123456", "secret/+=")
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]answer{
		"none": r.send(t, "", "100123456", whole), "unknown": r.send(t, "x", "100123456", whole),
		"another app's": r.send(t, token, "another", whole),
	} {
		if got.status != 401 || got.Code != "80200001" {
			t.Errorf("%s: %+v", what, got)
		}
	}
	now = now.Add(time.Hour)
	if got := r.send(t, token, "100123456", whole); got.status != 401 || got.Code != "80200003" {
		t.Errorf("expired: %+v", got)
	}
}

func TestMessagesAreCheckedAsDocumented(t *testing.T) {
	r := newRig(t, Config{Anybody: true})
	for text, code := range map[string]string{
		`{`: "80100003", `{}`: "80100003", `{"message":{"data":"x"}}`: "80100003",
		`{"message":{"data":"x","token":["` + device + `"],"topic":"news"}}`:                              "80100003",
		`{"message":{"token":["` + device + `"]}}`:                                                        "80100003",
		`{"message":{"data":"x","token":["a b"]}}`:                                                        "80300007",
		`{"message":{"data":"x","topic":"a b"}}`:                                                          "80100003",
		`{"message":{"data":"x","topic":"news"}}`:                                                         success,
		`{"message":{"data":"x","topic":"` + strings.Repeat("n", 900) + `"}}`:                             success,
		`{"message":{"data":"x","topic":"` + strings.Repeat("n", 901) + `"}}`:                             "80100003",
		`{"message":{"data":"x","condition":"'a' in topics"}}`:                                            success,
		`{"message":{"data":"` + strings.Repeat("x", 4096) + `","topic":"news"}}`:                         "80300008",
		`{"message":{"data":"x","token":["` + strings.Repeat(device+`","`, 1000) + device + `"]}}`:        "80300010",
		`{"message":{"data":"x","topic":"news","android":{"collapse_key":101}}}`:                          "80100013",
		`{"message":{"data":"x","topic":"news","android":{"collapse_key":"score"}}}`:                      "80100003",
		`{"message":{"data":"x","topic":"news","android":{"urgency":"high"}}}`:                            "80100003",
		`{"message":{"data":"x","topic":"news","android":{"ttl":"0s"}}}`:                                  "80100004",
		`{"message":{"data":"x","topic":"news","android":{"ttl":"1296001s"}}}`:                            "80100003",
		`{"message":{"data":"x","topic":"news","android":{"ttl":"soon"}}}`:                                "80100003",
		`{"message":{"topic":"news","android":{"notification":{"title":"a","body":"b"}}}}`:                "80100003",
		`{"message":{"topic":"news","android":{"notification":{"title":"a","click_action":{}}}}}`:         "80100003",
		`{"message":{"topic":"n","android":{"notification":{"title":"a","body":"b","click_action":{}}}}}`: success,
	} {
		if got := r.send(t, "", "100123456", text); got.Code != code {
			t.Errorf("%.100s: %+v, want %s", text, got, code)
		}
	}
	for _, path := range []string{"/v1/1/messages", "/v2/1/messages:send", "/v1//messages:send"} {
		resp, err := r.client.Post(r.URL()+path, "application/json", strings.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 404 {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

func TestEveryCodeCanBeAskedForAndTakesNothing(t *testing.T) {
	r := newRig(t, Config{Anybody: true})
	for _, code := range Reasons() {
		err := r.Behave(farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: code}}})
		if err != nil {
			t.Fatal(err)
		}
		got := r.send(t, "", "100123456", whole)
		if got.Code != code && (code != flow || got.status != 503) {
			t.Errorf("%s: %+v", code, got)
		}
		if code == partial && !strings.Contains(got.Msg, device) {
			t.Errorf("it names %s", got.Msg)
		}
	}
	if n := r.Counts(); n.Accepted != 0 || len(n.Refused) != len(Reasons()) {
		t.Errorf("%+v", n)
	}
	if err := r.Behave(farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "12"}}}); err == nil ||
		!strings.Contains(err.Error(), "80300007") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"message":{"token":[],"android":{"ttl":"1.5S"}}}`))
	f.Add([]byte(`{"message":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, code, _ := parse(body)
		if _, known := codes[code]; code != "" && !known || code == "" && m == nil {
			t.Errorf("%v, %q", m, code)
		}
		illegal(body)
	})
}
