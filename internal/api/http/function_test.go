package http_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const echo = `def handler(event, context):
    print("open-sesame", event.get("n"))
    if "fail" in event:
        raise ValueError("open-sesame")
    return {"got": event, "key": "open-sesame"}
`

// functions makes a registry with functions of these names, which say what they were given.
func functions(t *testing.T, names ...string) func(*queue.Store) *deployment.Registry {
	return func(s *queue.Store) *deployment.Registry {
		r, err := deployment.Open(t.Context(), deployment.Config{Store: s, Dir: t.TempDir(),
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
		if err := os.WriteFile(filepath.Join(code, "app.py"), []byte(echo), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if _, err := r.Create(t.Context(), name, deployment.Settings{Runtime: "python3", Handler: "app.handler",
				Timeout: 30 * time.Second, InitTimeout: time.Minute}, deployment.Code{Folder: code}, nil); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
}

func TestAFunctionIsToldInvokedAndItsLogRead(t *testing.T) {
	r := start(t, settings{store: queue.Options{OnDemand: true}, functions: functions(t, "hello", "other"),
		secrets: mask.New(mask.Secret{Text: "open-sesame", Shown: "********"})})
	var list struct {
		Functions []door.Function
		Next      string
	}
	r.want(200, "GET", "/-/functions?max=1", "").json(t, &list)
	if len(list.Functions) != 1 || list.Functions[0].Name != "hello" || list.Next != "hello" {
		t.Errorf("a page of functions is %+v", list)
	}
	if got := string(r.want(200, "GET", "/-/functions/hello/log", "").body); got != `{"lines":[]}`+"\n" {
		t.Errorf("nobody wanted it, and its log is %s", got)
	}
	var done door.Invoked
	r.want(200, "POST", "/-/functions/hello/invoke", `{"n": 7}`).json(t, &done)
	if done.Error != "" || !done.Cold || !strings.Contains(done.Payload, `"n": 7`) ||
		!strings.Contains(done.Payload, "********") {
		t.Errorf("answered %+v", done)
	}
	r.want(200, "POST", "/-/functions/hello/invoke", `{"fail": true}`).json(t, &done)
	if done.Error == "" || strings.Contains(done.Payload, "open-sesame") {
		t.Errorf("failed with %+v", done)
	}
	log := string(r.want(200, "GET", "/-/functions/hello/log", "").body)
	if !strings.Contains(log, "******** 7") || strings.Contains(log, "open-sesame") {
		t.Errorf("the log is %s", log)
	}
	var f door.Function
	r.want(200, "GET", "/-/functions/hello", "").json(t, &f)
	if f.Invocations != 2 || f.Errors != 1 || f.ColdStarts < 1 || f.Version != "$LATEST" || f.Timeout != 30 ||
		len(f.Instances) == 0 {
		t.Errorf("it is %+v", f)
	}
	r.refused("no-such-function", "GET", "/-/functions/none", "")
	r.refused("no-such-function", "POST", "/-/functions/hello/invoke?qualifier=9", `{}`)
}

func TestFunctionsAreForThoseWhoAreGrantedThem(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	r := start(t, settings{store: queue.Options{OnDemand: true}, functions: functions(t, "hello", "other"),
		users: []access.User{{Name: "boss", Secret: "boss-secret", Grants: grant("*", "admin")},
			{Name: "caller", Secret: "caller-secret", Grants: grant("hello", "put")},
			{Name: "keeper", Secret: "keeper-secret", Grants: grant("hello", "admin")}}})
	for _, user := range []string{"boss", "caller", "keeper"} {
		r.secret = user + "-secret"
		var list struct{ Functions []door.Function }
		r.want(200, "GET", "/-/functions", "").json(t, &list)
		if want := map[string]int{"boss": 2, "caller": 1, "keeper": 1}[user]; len(list.Functions) != want {
			t.Errorf("%s sees %+v", user, list.Functions)
		}
		r.want(200, "GET", "/-/functions/hello", "")
		r.want(200, "GET", "/-/functions/hello/log", "")
		if user != "boss" {
			r.refused("forbidden", "GET", "/-/functions/other", "")
			r.refused("forbidden", "GET", "/-/functions/other/log", "")
			r.refused("forbidden", "POST", "/-/functions/other/invoke", "{}")
		}
		if user != "caller" {
			r.refused("forbidden", "POST", "/-/functions/hello/invoke", "{}")
		}
	}
}
