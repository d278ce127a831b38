package console_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/console"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const parrot = `def handler(event, context):
    print("heard", event)
    return event
`

// withFunction gives a door a function that answers with its event.
func withFunction(t *testing.T) func(*httpdoor.Options) {
	return func(o *httpdoor.Options) {
		r, err := deployment.Open(t.Context(), deployment.Config{Store: o.Store.(*queue.Store), Dir: t.TempDir(),
			Pool: function.Config{Isolation: function.None}, Report: func(err error) { t.Log("reported:", err) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
		code := t.TempDir()
		if err := os.WriteFile(filepath.Join(code, "app.py"), []byte(parrot), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Create(t.Context(), "hello", deployment.Settings{Runtime: "python3", Handler: "app.handler",
			Timeout: 30 * time.Second, InitTimeout: time.Minute}, deployment.Code{Folder: code}, nil); err != nil {
			t.Fatal(err)
		}
		o.Functions = r
	}
}

func TestAFunctionIsShownAndInvoked(t *testing.T) {
	r := startWith(t, httpdoor.Config{}, withFunction(t))
	has(t, r.page("functions"), "function/hello", "python3")
	has(t, r.page("function/hello"), "It has printed nothing yet.", "hikyaku function logs hello")
	page := r.want(200, r.request("POST", console.Base+"function/hello/invoke",
		url.Values{"event": {`{"text": "<img src=x>"}`}}))
	has(t, page, "Answered after", "heard", "&lt;img src=x&gt;")
	lacks(t, page, "<img")
	has(t, r.want(400, r.request("POST", console.Base+"function/hello/invoke", url.Values{"event": {`{`}})), "no JSON")
	r.want(404, r.request("GET", console.Base+"function/none", nil))
}

func TestFunctionsAreForThoseWhoAreGrantedThem(t *testing.T) {
	grant := func(on, can string) []access.Grant { return []access.Grant{{Can: []string{can}, On: []string{on}}} }
	r := startWith(t, httpdoor.Config{}, withFunction(t),
		access.User{Name: "keeper", Secret: "keeper-secret", Grants: grant("hello", "admin")},
		access.User{Name: "other", Secret: "other-secret", Grants: grant("news", "put")})
	r.user = "keeper"
	has(t, r.page("functions"), "function/hello")
	r.want(403, r.request("POST", console.Base+"function/hello/invoke", url.Values{"event": {`{}`}}))
	r.user = "other"
	lacks(t, r.page("functions"), "function/hello")
	r.want(403, r.request("GET", console.Base+"function/hello", nil))

	only := startWith(t, httpdoor.Config{Console: "read"}, withFunction(t))
	lacks(t, only.page("function/hello"), "/invoke")
	only.want(403, only.request("POST", console.Base+"function/hello/invoke", nil))
}
