package clients_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

// ask makes a request with a traceparent, "" without, and returns the answer.
func ask(t *testing.T, url, parent, body string, header ...string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if parent != "" {
		r.Header.Set("Traceparent", parent)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", url, answer.Status, err, text)
	}
	return string(text)
}

// TestTheHeaderOfEveryDoorIsTheParentAndClientsDoNotSeeIt, where they see what was sent and nothing else.
func TestTheHeaderOfEveryDoorIsTheParentAndClientsDoNotSeeIt(t *testing.T) {
	c := collect(t)
	server, _ := serve(t, "endpoint: http://"+c.http)
	const caller = "b7ad6b7169203331"
	sqs := func(action, body, parent string) string {
		return ask(t, "http://"+server.Door("sqs")+"/", parent, body, "Content-Type", "application/x-amz-json-1.0",
			"X-Amz-Target", "AmazonSQS."+action)
	}
	const at = `{"QueueUrl": "http://127.0.0.1/000000000000/seen"`
	for _, d := range []struct {
		name, trace, publish string
		send                 func(parent string) string
		receive              func() string
	}{
		{"sqs", "11111111111111111111111111111111", "publish default/seen",
			func(parent string) string { return sqs("SendMessage", at+`, "MessageBody": "hello"}`, parent) },
			func() string {
				return sqs("ReceiveMessage", at+`, "MessageAttributeNames": ["All"], "AttributeNames": ["All"]}`, "")
			}},
		{"pubsub", "22222222222222222222222222222222", "publish default/heard",
			func(parent string) string {
				return ask(t, "http://"+server.Door("pubsub")+"/v1/projects/shop/topics/heard:publish", parent,
					`{"messages": [{"data": "aGVsbG8="}]}`, "Content-Type", "application/json")
			},
			func() string {
				return ask(t, "http://"+server.Door("pubsub")+"/v1/projects/shop/subscriptions/listeners:pull", "",
					`{"maxMessages": 1}`, "Content-Type", "application/json")
			}},
	} {
		d.send("00-" + d.trace + "-" + caller + "-01")
		got := d.receive()
		if !strings.Contains(got, "hello") && !strings.Contains(got, "aGVsbG8=") || strings.Contains(got, d.trace) ||
			strings.Contains(got, "traceparent") {
			t.Errorf("%s gave %s", d.name, got)
		}
		waittest.Until(t, "the collector has the put", func() bool { return len(c.all(d.trace)) > 0 })
		if s := c.all(d.trace)[0]; s.Parent != caller || s.Name != d.publish {
			t.Errorf("%s: %+v", d.name, s)
		}
	}
}
