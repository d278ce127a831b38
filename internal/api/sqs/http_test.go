package sqs

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// form makes a request of the query protocol and returns status and body.
func (r *rig) form(path string, values ...string) (int, string) {
	r.t.Helper()
	v := url.Values{}
	for i := 0; i < len(values); i += 2 {
		v.Set(values[i], values[i+1])
	}
	res, err := r.web.PostForm(r.base+path, v)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestTheQueryProtocolIsServedAtTheQueuesPath(t *testing.T) {
	r := newRig(t)
	if status, body := r.form("/", "Action", "CreateQueue", "QueueName", "news"); status != 200 ||
		!strings.Contains(body, "<QueueUrl>"+r.base+"/000000000000/news</QueueUrl>") {
		t.Fatal(status, body)
	}
	if status, body := r.form("/000000000000/news", "Action", "SendMessage", "MessageBody", "a<b"); status != 200 ||
		!strings.Contains(body, "<SendMessageResponse") {
		t.Fatal(status, body)
	}
	res, err := r.web.Get(r.base + "/000000000000/news?Action=ReceiveMessage")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || !strings.Contains(string(body), "<Body>a&lt;b</Body>") {
		t.Error(string(body), err)
	}
}

func TestTheURLOfAQueueHasTheActionsOfAQueueAlone(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	for query, want := range map[string]struct {
		status int
		part   string
	}{
		"":                                   {http.StatusNotFound, "<UnknownOperationException/>"},
		"?Action=CreateQueue&QueueName=more": {http.StatusBadRequest, "<Code>InvalidAction</Code>"},
		"?Action=ListQueues":                 {http.StatusBadRequest, "<Code>InvalidAction</Code>"},
		"?Action=GetQueueUrl&QueueName=news": {http.StatusOK, "<QueueUrl>" + url + "</QueueUrl>"},
		"?Action=ReceiveMessage":             {http.StatusOK, "<ReceiveMessageResult/>"},
	} {
		res, err := r.web.Get(url + query)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want.status || !strings.Contains(string(text), want.part) {
			t.Errorf("%q: %d %s", query, res.StatusCode, text)
		}
	}
}

func TestARequestOfTheQueryProtocolThatAcceptsJSONGetsIt(t *testing.T) {
	r := newRig(t)
	url := r.queue("news", "DelaySeconds", "0")
	const body = `{"foo": "ba\rr", "foo2": "ba&quot;r&quot;"}`
	r.send(url, body, func(in *client.SendMessageInput) {
		in.MessageAttributes = map[string]types.MessageAttributeValue{
			"lang": {DataType: ptr("String"), StringValue: ptr("ja")},
		}
	})
	get := func(query string) (int, map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/json")
		return r.do(req)
	}
	result := func(action, more string) map[string]any {
		t.Helper()
		status, out := get("Action=" + action + more)
		response, ok := out[action+"Response"].(map[string]any)
		if status != http.StatusOK || !ok || response["ResponseMetadata"] == nil {
			t.Fatalf("%s: %d %v", action, status, out)
		}
		return response[action+"Result"].(map[string]any)
	}
	message := result("ReceiveMessage", "&AttributeName.1=All&MessageAttributeName.1=All")["messages"].([]any)[0]
	m := message.(map[string]any)
	if m["Body"] != body {
		t.Errorf("the body is %q", m["Body"])
	}
	attributes := fmt.Sprint(m["Attributes"], m["MessageAttributes"])
	for _, part := range []string{"Name:ApproximateReceiveCount Value:1", "Name:lang Value:map[DataType:String"} {
		if !strings.Contains(attributes, part) {
			t.Errorf("%q is not in %s", part, attributes)
		}
	}
	all := fmt.Sprint(result("GetQueueAttributes", "&AttributeName.1=All")["Attributes"])
	if !strings.Contains(all, "map[Name:QueueArn Value:arn:aws:sqs:") {
		t.Errorf("the attributes are %s", all)
	}
	status, out := get("Action=ListQueues")
	failed, ok := out["Error"].(map[string]any)
	if status != http.StatusBadRequest || !ok || failed["Code"] != "InvalidAction" ||
		failed["Message"] != "The action ListQueues is not valid for this endpoint." {
		t.Errorf("%d %v", status, out)
	}
}

func TestAnEndpointMayBeOfAnAccount(t *testing.T) {
	r := newRig(t)
	if status, body := r.form("/team", "Action", "CreateQueue", "QueueName", "news"); status != 200 ||
		!strings.Contains(body, "/team/news</QueueUrl>") {
		t.Fatal(status, body)
	}
	if _, _, err := r.store.Definition(t.Context(), queue.Name{Namespace: "team", Name: "news"}); err != nil {
		t.Error(err)
	}
	if status, body := r.form("/team", "Action", "ListQueues"); status != 200 ||
		!strings.Contains(body, "/team/news</QueueUrl>") {
		t.Error(status, body)
	}
}

func TestQueueURLsOfManyFormsNameTheSameQueue(t *testing.T) {
	r := newRig(t)
	r.queue("news")
	for _, u := range []string{
		"http://elsewhere:1/000000000000/news", "https://sqs.eu-west-1.amazonaws.com/000000000000/news",
		"/000000000000/news", "000000000000/news",
		"news", "http://localhost:4566/some/prefix/000000000000/news/", r.base + "/default/news",
		r.base + "/local/news", r.base + "/000000000000/new%73",
	} {
		if status, out := r.post("GetQueueAttributes", map[string]any{"QueueUrl": u}); status != 200 {
			t.Errorf("%s is answered %d %v", u, status, out)
		}
	}
	for _, u := range []string{"http://x", "http://x/", "/", "http://x/a b/c", "/000000000000/%zz"} {
		if status, out := r.post("GetQueueAttributes", map[string]any{"QueueUrl": u}); status != 404 {
			t.Errorf("%q is answered %d %v", u, status, out)
		}
	}
}

func TestAScriptSeesThatTheDoorIsOpen(t *testing.T) {
	r := newRig(t)
	res, err := r.web.Get(r.base + "/health")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 200 {
		t.Error(res.Status)
	}
}

func TestABodyThatIsTooLongIsRefusedBeforeItIsRead(t *testing.T) {
	r := newRig(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: AmazonSQS.SendMessage\r\nContent-Length: "+
		"%d\r\n\r\n{", maxBodyBytes+1)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Error(res.Status)
	}
}

func TestABodyOfUnknownLengthIsReadAndBounded(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	send := func(n int) int {
		body := io.MultiReader(strings.NewReader(`{"QueueUrl":"`+url+`","MessageBody":"`),
			strings.NewReader(strings.Repeat("x", n)), strings.NewReader(`"}`))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
		res, err := r.web.Do(req)
		if err != nil {
			return http.StatusRequestEntityTooLarge // the door closed the connection while more was being sent
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	if status := send(1000); status != 200 {
		t.Error(status)
	}
	if status := send(maxBodyBytes); status != http.StatusRequestEntityTooLarge {
		t.Error(status)
	}
}

func TestRequestsBeyondTheRoomForBodiesAreRefusedAsTransient(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.door.busy = door.NewBusy(1 << 20)
	r.door.busy.Patience = 50 * time.Millisecond
	r.door.busy.Try(1<<20 - keptBytes) // as if another door had it
	status, out := r.post("SendMessage", map[string]any{"QueueUrl": url, "MessageBody": strings.Repeat("x", keptBytes)})
	if status != http.StatusForbidden || !strings.HasSuffix(fmt.Sprint(out["__type"]), "#RequestThrottled") {
		t.Errorf("answered %d %v", status, out)
	}
	r.send(url, "small ones go on")
	r.door.busy.Give(1<<20 - keptBytes)
	done := make(chan error)
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base,
			io.MultiReader(strings.NewReader(`{"QueueUrl":"`+r.queue("empty")+`","WaitTimeSeconds":20}`)))
		if err == nil {
			req.Header.Set("X-Amz-Target", "AmazonSQS.ReceiveMessage")
			var res *http.Response
			if res, err = r.web.Do(req); err == nil {
				err = res.Body.Close()
			}
		}
		done <- err
	}()
	empty := queue.Name{Namespace: "default", Name: "empty"}
	for st, err := r.store.Stats(t.Context(), empty); err != nil || st.Waiters == 0; {
		st, err = r.store.Stats(t.Context(), empty)
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	if n := r.door.busy.Used(); n > 1<<10 {
		t.Errorf("a short request that waits holds %d bytes", n)
	}
	r.send(r.base+"/000000000000/empty", "x")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestARequestThatBreaksOffChangesNothing(t *testing.T) {
	r := newRig(t)
	r.queue("news")
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	whole := request("SendMessage", `{"QueueUrl":"/000000000000/news","MessageBody":"x"}`)
	if _, err := conn.Write(whole[:len(whole)-1]); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	r.wantLeft("news", 0)
}

func TestARestIsForgottenWhenItIsOver(t *testing.T) {
	var r recent
	now := time.Now()
	for i := range 1000 {
		r.note(queue.Name{Namespace: "n", Name: fmt.Sprint(i)}, now.Add(time.Duration(i)*time.Minute), time.Minute)
	}
	if len(r.at) > 20 {
		t.Errorf("%d are remembered", len(r.at))
	}
	if _, ok := r.when(queue.Name{Namespace: "n", Name: "999"}, now.Add(999*time.Minute)); !ok {
		t.Error("the last one is forgotten")
	}
}

func TestFirstReceivesAreRememberedWithinBounds(t *testing.T) {
	var f firsts
	for i := range uint64(5 * generation) {
		f.note(queue.Token{Queue: 1, Sequence: i}, int64(i))
	}
	if n := len(f.now) + len(f.old); n > 2*generation {
		t.Errorf("%d are remembered", n)
	}
	if at := f.of(queue.Token{Queue: 1, Sequence: 5*generation - 1}, 0); at != 5*generation-1 {
		t.Errorf("the newest is %d", at)
	}
	if at := f.of(queue.Token{Queue: 1, Sequence: 1}, 7); at != 7 {
		t.Errorf("the oldest is %d", at)
	}
}
