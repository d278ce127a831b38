package lambda

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/lambda/eventstream"
)

func TestAnInvocationAnswersWithWhatTheFunctionReturned(t *testing.T) {
	r := newRig(t)
	r.create("f", map[string]any{"Environment": map[string]any{"Variables": map[string]string{"GREETING": "hello"}}})
	g := r.invoke("f", `{"a":1}`, "X-Amz-Log-Type", "Tail")
	out := g.json(t)
	if g.StatusCode != 200 || out["greeting"] != "hello" || out["version"] != "$LATEST" ||
		out["arn"] != "arn:aws:lambda:us-east-1:000000000000:function:f" ||
		g.Header.Get("X-Amz-Executed-Version") != "$LATEST" || g.Header.Get("X-Amz-Function-Error") != "" ||
		g.Header.Get("X-Amzn-Requestid") != out["id"] {
		t.Errorf("%s %v: %s", g.Status, g.Header, g.text)
	}
	log, err := base64.StdEncoding.DecodeString(g.Header.Get("X-Amz-Log-Result"))
	if err != nil || !strings.Contains(string(log), "REPORT RequestId: "+g.Header.Get("X-Amzn-Requestid")) {
		t.Errorf("log %q, %v", log, err)
	}
	for _, name := range []string{"arn:aws:lambda:us-east-1:000000000000:function:f", "000000000000:function:f",
		"f:$LATEST", "function"} {
		if g := r.invoke(name, ""); g.StatusCode != 200 {
			t.Errorf("by the name %s: %s: %s", name, g.Status, g.text)
		}
	}
}

func TestAnErrorOfTheFunctionIsAnAnswerWithAHeader(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	g := r.invoke("f", `{"fail":"on purpose"}`)
	if out := g.json(t); g.StatusCode != 200 || g.Header.Get("X-Amz-Function-Error") != "Unhandled" ||
		out["errorType"] != "ValueError" || out["errorMessage"] != "on purpose" {
		t.Errorf("%s %v: %s", g.Status, g.Header, g.text)
	}
}

func TestADryRunRunsNothing(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	if g := r.invoke("f", `{}`, "X-Amz-Invocation-Type", "DryRun"); g.StatusCode != 204 || g.text != "" {
		t.Errorf("%s: %s", g.Status, g.text)
	}
	if s, ok := r.functions.Deployed("f", "$LATEST"); !ok || s.Invocations != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAnEventIsInvokedAndItsFailureTriedTwiceMoreThenTold(t *testing.T) {
	r := newRig(t)
	seen := filepath.Join(t.TempDir(), "seen")
	r.create("f",
		map[string]any{"DeadLetterConfig": map[string]string{
			"TargetArn": "arn:aws:sqs:us-east-1:000000000000:letters"}})
	r.ok(200, "PUT", "/2019-09-25/functions/f/event-invoke-config",
		`{"DestinationConfig":{"OnFailure":{"Destination":"arn:aws:sqs:us-east-1:000000000000:failures"},"OnSuccess":{"Destination":"arn:aws:sqs:us-east-1:000000000000:successes"}}}`)
	event := `{"append":` + quoted(seen) + `,"fail":"always"}`
	g := r.invoke("f", event, "X-Amz-Invocation-Type", "Event")
	if g.StatusCode != 202 || g.text != "" {
		t.Fatalf("%s: %s", g.Status, g.text)
	}
	id := g.Header.Get("X-Amzn-Requestid")
	letter := r.claim("letters")
	if string(letter.Message.Body) != event {
		t.Errorf("the dead letter is %s", letter.Message.Body)
	}
	for name, want := range map[string]string{"RequestID": id, "ErrorCode": "200", "ErrorMessage": "always"} {
		if v, _ := letter.Message.Attributes.Get(name); v.Text() != want {
			t.Errorf("%s is %s", name, v.Text())
		}
	}
	var told struct {
		Context struct {
			ID        string `json:"requestId"`
			ARN       string `json:"functionArn"`
			Condition string
			Count     int `json:"approximateInvokeCount"`
		} `json:"requestContext"`
		Request  map[string]any `json:"requestPayload"`
		Response map[string]any `json:"responsePayload"`
	}
	failure := r.claim("failures")
	if err := json.Unmarshal(failure.Message.Body, &told); err != nil || told.Context.ID != id ||
		told.Context.ARN != "arn:aws:lambda:us-east-1:000000000000:function:f:$LATEST" ||
		told.Context.Condition != "RetriesExhausted" || told.Context.Count != 3 ||
		told.Request["fail"] != "always" || told.Response["errorType"] != "ValueError" {
		t.Errorf("%s: %v", failure.Message.Body, err)
	}
	if text, err := os.ReadFile(seen); err != nil || string(text) != strings.Repeat(id+"\n", 3) {
		t.Errorf("invoked as %q, %v: want three times %s", text, err, id)
	}
	r.invoke("f", `{"answer":"fine"}`, "X-Amz-Invocation-Type", "Event")
	if success := r.claim("successes"); !strings.Contains(string(success.Message.Body), `"responsePayload":"fine"`) {
		t.Errorf("%s", success.Message.Body)
	}
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

func TestAnEventThatWaitsIsInvokedAfterARestart(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(t.TempDir(), "seen")
	first := openRig(t, dir, Config{}, nil)
	first.create("f", nil)
	first.ok(200, "PUT", "/2017-10-31/functions/f/concurrency", `{"ReservedConcurrentExecutions":1}`)
	// it has the only place, for as long as the test lasts
	first.invoke("f", `{"wait":60}`, "X-Amz-Invocation-Type", "Event")
	id := first.invoke("f", `{"append":`+quoted(seen)+`}`, "X-Amz-Invocation-Type",
		"Event").Header.Get("X-Amzn-Requestid")
	first.stop()
	second := openRig(t, dir, Config{}, nil)
	second.ok(200, "PUT", "/2019-09-25/functions/f/event-invoke-config",
		`{"DestinationConfig":{"OnSuccess":{"Destination":"arn:aws:sqs:us-east-1:000000000000:done"}}}`)
	second.ok(204, "DELETE", "/2017-10-31/functions/f/concurrency", "")
	if m := second.claim("done"); !strings.Contains(string(m.Message.Body), id) {
		t.Errorf("%s is not about %s", m.Message.Body, id)
	}
	if text, err := os.ReadFile(seen); err != nil || string(text) != id+"\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAStreamIsFramesThatEndWithWhatBecameOfIt(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	read := func(event string) (kinds []string, payload string) {
		g := r.ok(200, "POST", "/2021-11-15/functions/f/response-streaming-invocations", event)
		if g.Header.Get("Content-Type") != eventstream.Type {
			t.Errorf("type %s", g.Header.Get("Content-Type"))
		}
		for rest := []byte(g.text); len(rest) > 0; {
			headers, p, more, err := eventstream.Read(rest)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range headers {
				if h.Name == ":event-type" {
					kinds = append(kinds, h.Value)
				}
			}
			payload += string(p)
			rest = more
		}
		return kinds, payload
	}
	if kinds, payload := read(`{"answer":"text"}`); strings.Join(kinds, " ") != "PayloadChunk InvokeComplete" ||
		payload != `"text"{}` {
		t.Errorf("%v: %s", kinds, payload)
	}
	if kinds, payload := read(`{"fail":"now"}`); strings.Join(kinds, " ") != "InvokeComplete" ||
		!strings.Contains(payload, `"ErrorCode":"Unhandled"`) || !strings.Contains(payload, "ValueError") {
		t.Errorf("%v: %s", kinds, payload)
	}
}

func TestAURLMapsRequestsToEventsAndBack(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	u := r.ok(201, "POST", "/2021-10-31/functions/f/url", `{"AuthType":"NONE"}`).json(t)["FunctionUrl"]
	if u != r.base+"/lambda-url/f/" {
		t.Errorf("the URL is %v", u)
	}
	for _, c := range [][]string{{"/lambda-url/f/a/b", ""}, {"/a/b", "f.lambda-url.localhost"}} {
		headers := []string{"Content-Type", "text/plain"}
		if c[1] != "" {
			headers = append(headers, "Host", c[1])
		}
		g := r.call("POST", c[0], "+body", headers...)
		if g.StatusCode != 201 || g.text != "POST+body" || g.Header.Get("X-Got") != "/a/b" ||
			strings.Join(g.Header.Values("Set-Cookie"), ";") != "a=1;b=2" {
			t.Errorf("%v: %s %v: %s", c, g.Status, g.Header, g.text)
		}
	}
	if g := r.call("GET", "/lambda-url/f/", "", "Host", "evil.example"); g.StatusCode != 403 {
		t.Errorf("by a strange name: %s", g.Status)
	}
	r.ok(204, "DELETE", "/2021-10-31/functions/f/url", "")
	if g := r.call("GET", "/lambda-url/f/", ""); g.StatusCode != 403 {
		t.Errorf("after its end: %s: %s", g.Status, g.text)
	}
}
