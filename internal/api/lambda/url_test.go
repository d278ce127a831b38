package lambda

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
)

// TestAURLAnswersPagesOfOtherOriginsAsItsSettingsSay: what a browser asks before is answered without the function, and
// an answer says who may read it, beside what the function says of that.
func TestAURLAnswersPagesOfOtherOriginsAsItsSettingsSay(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	const page = "https://shop.example"
	for _, mode := range []string{"BUFFERED", "RESPONSE_STREAM"} {
		r.ok(201, "POST", "/2021-10-31/functions/f/url", `{"AuthType":"NONE","InvokeMode":"`+mode+`","Cors":{`+
			`"AllowCredentials":true,"AllowHeaders":["authorization","content-type"],"AllowMethods":["GET","POST"],`+
			`"AllowOrigins":["`+page+`"],"ExposeHeaders":["x-got"],"MaxAge":60}}`)
		before, _ := r.functions.Deployed("f", "$LATEST")
		want := func(g got, headers map[string]string) {
			t.Helper()
			for _, name := range []string{"Origin", "Headers", "Methods", "Credentials"} {
				name = "Access-Control-Allow-" + name
				if have := strings.Join(g.Header.Values(name), ";"); have != headers[name] {
					t.Errorf("%s: %s is %q, not %q", mode, name, have, headers[name])
				}
			}
			for _, name := range []string{"Access-Control-Max-Age", "Access-Control-Expose-Headers"} {
				if have := g.Header.Get(name); have != headers[name] {
					t.Errorf("%s: %s is %q, not %q", mode, name, have, headers[name])
				}
			}
			if g.Header.Get("Vary") != "Origin" {
				t.Errorf("%s: a cache could give the answer to other pages: %v", mode, g.Header)
			}
		}
		ask := func(origin string) got {
			t.Helper()
			g := r.ok(200, "OPTIONS", "/lambda-url/f/", "", "Origin", origin, "Access-Control-Request-Method", "GET")
			if g.text != "" || g.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v: %q", mode, g.Header, g.text)
			}
			return g
		}
		want(ask(page), map[string]string{"Access-Control-Allow-Origin": page,
			"Access-Control-Allow-Headers": "authorization,content-type", "Access-Control-Allow-Methods": "GET,POST",
			"Access-Control-Allow-Credentials": "true", "Access-Control-Max-Age": "60",
			"Access-Control-Expose-Headers": "x-got"})
		want(ask("https://evil.example"), nil)
		if now, _ := r.functions.Deployed("f", "$LATEST"); now.Invocations != before.Invocations {
			t.Errorf("%s: questions before were answered by the function", mode)
		}
		want(r.call("GET", "/lambda-url/f/", "", "Origin", page), map[string]string{"Access-Control-Allow-Origin": page,
			"Access-Control-Allow-Credentials": "true", "Access-Control-Expose-Headers": "x-got"})
		want(r.call("GET", "/lambda-url/f/", "", "Origin", "https://evil.example"), nil)
		want(r.call("GET", "/lambda-url/f/", ""), nil)
		r.ok(204, "DELETE", "/2021-10-31/functions/f/url", "")
	}
	r.ok(201, "POST", "/2021-10-31/functions/f/url", `{"AuthType":"NONE","Cors":{"AllowOrigins":["*"]}}`)
	if g := r.call("GET", "/lambda-url/f/", "", "Origin", page); g.Header.Get("Access-Control-Allow-Origin") != page {
		t.Errorf("where all may: %v", g.Header)
	}
	r.ok(200, "PUT", "/2021-10-31/functions/f/url", `{"AuthType":"AWS_IAM"}`)
	if g := r.call("OPTIONS", "/lambda-url/f/", "", "Origin", page, "Access-Control-Request-Method",
		"GET"); g.StatusCode != http.StatusOK {
		t.Errorf("a browser cannot sign what it asks before: %s", g.Status)
	}
	r.ok(204, "DELETE", "/2021-10-31/functions/f/url", "")
	r.ok(201, "POST", "/2021-10-31/functions/f/url", `{"AuthType":"NONE"}`)
	if g := r.call("OPTIONS", "/lambda-url/f/", "", "Origin", page, "Access-Control-Request-Method",
		"GET"); g.StatusCode != 201 || g.text != "OPTIONS" || g.Header.Get("Vary") != "" {
		t.Errorf("without settings the function answers all: %s %v: %s", g.Status, g.Header, g.text)
	}
}

// TestAFunctionIsToldHowItsURLWasReached: by which protocol and port, in which trace, and by whom where the URL is for
// those who sign.
func TestAFunctionIsToldHowItsURLWasReached(t *testing.T) {
	users, err := access.New([]access.User{{Name: "annabel", Secret: "annabel", Grants: []access.Grant{
		{Can: []string{"admin", "put"}, On: []string{"*"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	r := openRig(t, t.TempDir(), Config{}, users)
	if g := r.signed("annabel", "POST", functions, definition(t)); g.StatusCode != 201 {
		t.Fatal(g.text)
	}
	type told struct {
		Headers map[string]string
		Request struct {
			Account    string `json:"accountId"`
			Authorizer *struct{ IAM map[string]any }
		} `json:"requestContext"`
	}
	read := func(g got) (event told) {
		t.Helper()
		if err := json.Unmarshal([]byte(g.text), &event); err != nil {
			t.Fatalf("%s: %s: %v", g.Status, g.text, err)
		}
		return event
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(r.base, "http://"), ":")
	r.signed("annabel", "POST", "/2021-10-31/functions/f/url", `{"AuthType":"NONE"}`)
	event := read(r.call("GET", "/lambda-url/f/event", ""))
	if h := event.Headers; h["x-forwarded-proto"] != "http" || h["x-forwarded-port"] != port ||
		h["x-forwarded-for"] != "127.0.0.1" || !strings.HasPrefix(h["x-amzn-trace-id"], "Root=1-") {
		t.Errorf("the headers are %v", h)
	}
	if event.Request.Account != "anonymous" || event.Request.Authorizer != nil {
		t.Errorf("nobody signed: %+v", event.Request)
	}
	r.signed("annabel", "PUT", "/2021-10-31/functions/f/url", `{"AuthType":"AWS_IAM"}`)
	event = read(r.signed("annabel", "GET", "/lambda-url/f/event", ""))
	if event.Request.Account != "000000000000" || event.Request.Authorizer == nil ||
		event.Request.Authorizer.IAM["userArn"] != "arn:aws:iam::000000000000:user/annabel" ||
		event.Request.Authorizer.IAM["accessKey"] != "annabel" {
		t.Errorf("annabel signed: %+v", event.Request)
	}
}
