package lambda

import (
	"net/http"
	"strings"
	"testing"
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
