package lambda

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is the function of the tests: it does what the event says.
const program = `
import os, time
count = 0
def handler(event, context):
    global count
    count += 1
    event = event or {}
    if event.get("print"): print(event["print"])
    if event.get("wait"): time.sleep(event["wait"])
    if event.get("append"):
        with open(event["append"], "a") as f: f.write(context.aws_request_id + "\n")
    if event.get("fail"): raise ValueError(event["fail"])
    if event.get("leave"): os._exit(3)
    if event.get("answer") is not None: return event["answer"]
    if event.get("rawPath") == "/event": return {"statusCode": 200, "body": event}
    if event.get("rawPath") == "/cookies": return {"statusCode": 200, "cookies": [""] * 1400000}
    if event.get("version") == "2.0":
        return {"statusCode": 201, "headers": {"x-got": event["rawPath"]}, "cookies": ["a=1", "b=2"], "body": event["requestContext"]["http"]["method"] + event.get("body", "")}
    if event.get("Records"):
        with open(os.environ["SEEN"], "a") as f:
            for r in event["Records"]: f.write(r["body"] + "\n")
        return {"batchItemFailures": [{"itemIdentifier": r["messageId"]} for r in event["Records"] if r["body"] == "bad"]}
    return {"event": event, "arn": context.invoked_function_arn, "version": context.function_version, "id": context.aws_request_id, "greeting": os.environ.get("GREETING")}
`

// packed is an archive with one file in it.
func packed(t testing.TB, name, text string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	f, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// rig is a door over real functions, a real store and a real journal.
type rig struct {
	t         testing.TB
	dir       string
	store     *queue.Store
	functions *deployment.Registry
	door      *Server
	traffic   *door.Traffic
	base      string
	web       *http.Client
	stop      func()
}

func newRig(t *testing.T) *rig { return openRig(t, t.TempDir(), Config{}, nil) }

// openRig opens a rig in a folder; wrap, if there is one, stands between the functions and their store.
func openRig(t testing.TB, dir string, c Config, users *access.Users, wrap ...func(queue.Service) queue.Service) *rig {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: filepath.Join(dir, "journal"), Durability: journal.OS,
		SegmentBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(),
		queue.Options{Journal: j, OnDemand: true, Namespaces: map[string][]string{"default": {"000000000000"}}})
	if err != nil {
		t.Fatal(err)
	}
	report := func(err error) { t.Log("reported:", err) }
	pool := function.Config{Isolation: function.None}
	if users.Any() { // and then it matters what functions see
		see := filepath.Join(dir, "see")
		pool = function.Config{See: []string{see}, Hide: []string{filepath.Join(see, "not")}}
	}
	store := queue.Service(s)
	for _, w := range wrap {
		store = w(store)
	}
	functions, err := deployment.Open(t.Context(), deployment.Config{Store: store, Dir: filepath.Join(dir, "functions"),
		Pool: pool, RetryDelay: time.Millisecond, Report: report})
	if err != nil {
		t.Fatal(err)
	}
	c.Listen = "127.0.0.1:0"
	traffic := door.NewTraffic("lambda")
	d, err := New(c, Options{Functions: functions, Store: store, Users: users, Traffic: traffic, Report: report})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := d.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, store: s, functions: functions, door: d, traffic: traffic,
		base: "http://" + addr.String(), web: &http.Client{Transport: &http.Transport{}}}
	closed := false
	r.stop = func() {
		if closed {
			return
		}
		closed = true
		r.web.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for what, err := range map[string]error{"door": d.Close(ctx), "functions": functions.Close()} {
			if err != nil {
				t.Errorf("close %s: %v", what, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error("close store:", err)
		}
		if err := j.Close(); err != nil {
			t.Error("close journal:", err)
		}
	}
	t.Cleanup(r.stop)
	return r
}

// got is an answer.
type got struct {
	*http.Response
	text string
}

// json reads the answer.
func (g got) json(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal([]byte(g.text), &out); err != nil {
		t.Fatalf("%s: %v", g.text, err)
	}
	return out
}

// call makes a request. Headers are name and value in turn.
func (r *rig) call(method, path, body string, headers ...string) got {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := r.web.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return got{resp, string(text)}
}

// ok is a call whose answer has that status.
func (r *rig) ok(status int, method, path, body string, headers ...string) got {
	r.t.Helper()
	g := r.call(method, path, body, headers...)
	if g.StatusCode != status {
		r.t.Fatalf("%s %s: %s: %s", method, path, g.Status, g.text)
	}
	return g
}

const functions = "/2015-03-31/functions"

// create deploys the tests' function; more are other settings.
func (r *rig) create(name string, more map[string]any) got {
	r.t.Helper()
	in := map[string]any{"FunctionName": name, "Runtime": "python3.11", "Handler": "app.handler",
		"Role": "arn:aws:iam::000000000000:role/any", "Timeout": 60,
		"Code": map[string]any{"ZipFile": base64.StdEncoding.EncodeToString(packed(r.t, "app.py", program))}}
	for k, v := range more {
		in[k] = v
	}
	text, err := json.Marshal(in)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.ok(http.StatusCreated, "POST", functions, string(text))
}

func (r *rig) invoke(name, event string, headers ...string) got {
	r.t.Helper()
	return r.call("POST", functions+"/"+name+"/invocations", event, headers...)
}

// claim waits for a message of a queue, settles it, and returns it.
func (r *rig) claim(name string) queue.Claim {
	r.t.Helper()
	claims, err := r.store.Claim(r.t.Context(),
		queue.ClaimRequest{From: []queue.From{{Queue: queue.Name{Namespace: "default", Name: name}}},
			Wait: time.Minute})
	if err != nil || len(claims) != 1 {
		r.t.Fatalf("claim from %s: %v, %d messages", name, err, len(claims))
	}
	if _, err := r.store.Settle(r.t.Context(), []queue.Settlement{{Token: claims[0].Token}}); err != nil {
		r.t.Fatal(err)
	}
	return claims[0]
}
