package sqs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// news is the queue that most tests use.
var news = queue.Name{Namespace: "default", Name: "news"}

// awaitWaiters waits until so many claims wait at a queue.
func (r *rig) awaitWaiters(n queue.Name, want int) {
	r.t.Helper()
	doortest.Until(r.t, fmt.Sprintf("%d claims wait at %s", want, n), func() bool {
		st, err := r.store.Stats(context.Background(), n)
		if err != nil {
			r.t.Fatal(err)
		}
		return st.Waiters == want
	})
}

func TestALongPollIsHandedTheMessageThatComes(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	const polls = 20
	var mu sync.Mutex
	got := map[string]int{}
	var wg sync.WaitGroup
	for range polls {
		wg.Go(func() {
			out, err := r.client.ReceiveMessage(t.Context(),
				&client.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
			if err != nil || len(out.Messages) != 1 {
				t.Error(out, err)
				return
			}
			mu.Lock()
			got[*out.Messages[0].Body]++
			mu.Unlock()
		})
	}
	r.awaitWaiters(news, polls)
	for i := range polls {
		r.send(url, fmt.Sprint(i))
	}
	wg.Wait()
	if len(got) != polls {
		t.Errorf("%d messages reached %d polls: %v", len(got), polls, got)
	}
}

func TestTheQueuesOwnWaitHoldsForPollsThatDoNotSay(t *testing.T) {
	r := newRig(t)
	url := r.queue("news", "ReceiveMessageWaitTimeSeconds", "20")
	done := make(chan []types.Message)
	go func() {
		out, err := r.client.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: &url})
		if err != nil {
			t.Error(err)
		}
		done <- out.Messages
	}()
	r.awaitWaiters(news, 1)
	r.send(url, "hello")
	if ms := <-done; len(ms) != 1 {
		t.Errorf("%d messages", len(ms))
	}
	if status, out := r.post("ReceiveMessage", map[string]any{"QueueUrl": url, "WaitTimeSeconds": 0}); status != 200 ||
		out["Messages"] != nil {
		t.Errorf("a poll that does not want to wait is answered %d %v", status, out)
	}
}

func TestAClientThatVanishesWaitsNoLonger(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := r.client.ReceiveMessage(ctx, &client.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
		gone <- err
	}()
	r.awaitWaiters(news, 1)
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.awaitWaiters(news, 0)
	r.send(url, "hello")
	if m := r.one(url); m.Attributes["ApproximateReceiveCount"] != "1" {
		t.Errorf("it was handed out %s times", m.Attributes["ApproximateReceiveCount"])
	}
}

func TestMessagesThatNobodyTakesOverAreBackAtOnceAndUncounted(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	// More than what the system buffers between two sockets, so that writing fails when nobody reads.
	for range 10 {
		r.send(url, strings.Repeat("x", 1<<20))
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(request("ReceiveMessage", `{"QueueUrl":"`+url+`","MaxNumberOfMessages":10}`)); err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 1)
	if _, err := conn.Read(one); err != nil { // the answer has begun
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	for { // the door notices when it writes on
		if st, err := r.store.Stats(t.Context(), news); err != nil || st.Ready == 10 {
			break
		}
	}
	for _, m := range r.receive(url, 10) {
		if m.Attributes["ApproximateReceiveCount"] != "1" {
			t.Errorf("a hand-out that nobody saw was counted: %s", m.Attributes["ApproximateReceiveCount"])
		}
	}
}

func TestCloseReleasesLongPollsAtOnce(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	done := make(chan error)
	go func() {
		out, err := r.client.ReceiveMessage(t.Context(),
			&client.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
		if err == nil && len(out.Messages) != 0 {
			err = fmt.Errorf("%d messages", len(out.Messages))
		}
		done <- err
	}()
	r.awaitWaiters(news, 1)
	began := time.Now()
	r.close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 15*time.Second { // the poll would last 20 s
		t.Errorf("it took %v", took)
	}
}

func TestReceiveIsHeldToItsRanges(t *testing.T) {
	r := newRig(t)
	url, fifo := r.queue("news"), r.queue("news.fifo")
	for name, in := range map[string]map[string]any{
		"MaxNumberOfMessages 0":          {"MaxNumberOfMessages": 0},
		"MaxNumberOfMessages 11":         {"MaxNumberOfMessages": 11},
		"WaitTimeSeconds 21":             {"WaitTimeSeconds": 21},
		"WaitTimeSeconds -1":             {"WaitTimeSeconds": -1},
		"VisibilityTimeout 43201":        {"VisibilityTimeout": 43201},
		"VisibilityTimeout -1":           {"VisibilityTimeout": -1},
		"an attempt id where none is":    {"ReceiveRequestAttemptId": "x"},
		"an attempt id with a space":     {"QueueUrl": fifo, "ReceiveRequestAttemptId": "x y"},
		"a condition that does not read": {"MessageAttributeNames": []string{"hikyaku.where:lang = "}},
	} {
		if in["QueueUrl"] == nil {
			in["QueueUrl"] = url
		}
		status, out := r.post("ReceiveMessage", in)
		if kind, _ := out["__type"].(string); status != 400 ||
			!strings.HasSuffix(kind, "#InvalidParameterValueException") {
			t.Errorf("%s is answered %d %v", name, status, out)
		}
	}
	status, out := r.post("ReceiveMessage",
		map[string]any{"QueueUrl": url, "MessageSystemAttributeNames": []string{"Colour"}})
	if kind, _ := out["__type"].(string); status != 400 || !strings.HasSuffix(kind, "#InvalidAttributeName") {
		t.Errorf("an unknown attribute is answered %d %v", status, out)
	}
}

func TestAVisibilityTimeoutOfZeroLeavesTheMessageToOthers(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"a call", "the queue"} {
		url := ""
		if name == "a call" {
			url = r.queue("news")
		} else {
			url = r.queue("open", "VisibilityTimeout", "0")
			if got := r.attributes(url)["VisibilityTimeout"]; got != "0" {
				t.Errorf("the queue's visibility timeout is shown as %s", got)
			}
		}
		r.send(url, "hello")
		status, out := r.post("ReceiveMessage", map[string]any{"QueueUrl": url, "VisibilityTimeout": 0})
		if status != 200 || out["Messages"] == nil {
			t.Fatalf("%s: answered %d %v", name, status, out)
		}
		r.clock.pass(10 * time.Millisecond)
		if m := r.one(url); m.Attributes["ApproximateReceiveCount"] != "2" {
			t.Errorf("%s: it was received %s times", name, m.Attributes["ApproximateReceiveCount"])
		}
	}
}

func TestAttributesAreShownAsFarAsTheyAreAskedFor(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	attributes := map[string]types.MessageAttributeValue{"lang": text("ja"), "geo.city": text("tokyo"),
		"geo.zip": number("100"), "level": number("7")}
	for _, c := range []struct {
		names []string
		want  int
	}{
		{nil, 0}, {[]string{"lang"}, 1}, {[]string{"geo.*"}, 2}, {[]string{"geo.*", "lang"}, 3}, {[]string{"All"}, 4},
		{[]string{".*"}, 4}, {[]string{"none"}, 0},
	} {
		r.send(url, "hello", with(attributes))
		m := r.one(url, func(in *client.ReceiveMessageInput) {
			in.MessageAttributeNames, in.MessageSystemAttributeNames = c.names,
				[]types.MessageSystemAttributeName{"SentTimestamp"}
		})
		if len(m.MessageAttributes) != c.want {
			t.Errorf("%v shows %v", c.names, m.MessageAttributes)
		}
		if (m.MD5OfMessageAttributes != nil) != (c.want > 0) {
			t.Errorf("%v: the MD5 is %v", c.names, m.MD5OfMessageAttributes)
		}
		if len(m.Attributes) != 1 {
			t.Errorf("system attributes are %v", m.Attributes)
		}
		if err := r.delete(url, m); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConditionsPickMessagesAndEarlierOnesComeFirst(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	for i, lang := range []string{"en", "ja", "de", "ja", "en"} {
		r.send(url, fmt.Sprint(lang, i),
			with(map[string]types.MessageAttributeValue{"lang": text(lang), "n": number(fmt.Sprint(i))}))
	}
	where := func(conditions ...string) func(*client.ReceiveMessageInput) {
		return func(in *client.ReceiveMessageInput) {
			in.MessageAttributeNames = []string{"lang"}
			for _, c := range conditions {
				in.MessageAttributeNames = append(in.MessageAttributeNames, whereName+c)
			}
		}
	}
	if got := bodies(r.receive(url, 10, where("lang = 'ja' and n >= 3"))); len(got) != 1 || got[0] != "ja3" {
		t.Errorf("a condition picks %q", got)
	}
	first := r.one(url, where("lang = 'fr'", "lang = 'de'", "lang = 'en'"))
	if *first.Body != "de2" || len(first.MessageAttributes) != 1 {
		t.Errorf("of several conditions the first that some meet picks %q with %v", *first.Body,
			first.MessageAttributes)
	}
	_, err := r.client.ReceiveMessage(t.Context(),
		&client.ReceiveMessageInput{QueueUrl: &url, MessageAttributeNames: []string{whereName + "lang = and"}})
	wantCode(t, err, "InvalidParameterValue")
	if err == nil || !strings.Contains(err.Error(), "column 8") {
		t.Errorf("the error does not say where: %v", err)
	}
	_, err = r.client.ReceiveMessage(t.Context(),
		&client.ReceiveMessageInput{QueueUrl: &url, MessageAttributeNames: slices.Repeat([]string{whereName + "n = 1"},
			maxConditions+1)})
	wantCode(t, err, "InvalidParameterValue")
}

func TestMessagesInFlightAreBounded(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "one")
	v, err := r.door.existing(t.Context(), news)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := v.flying.allow(t.Context(), r.store, news, 3, 10); err != nil || n != 3 {
		t.Errorf("of 3 places %d are free, %v", n, err)
	}
	m := r.one(url)
	v.flying.left = 0
	if n, err := v.flying.allow(t.Context(), r.store, news, 1, 10); err != nil || n > 0 {
		t.Errorf("the limit is reached, and %d more are allowed, %v", n, err)
	}
	if err := r.delete(url, m); err != nil {
		t.Fatal(err)
	}
	if n, err := v.flying.allow(t.Context(), r.store, news, 1, 10); err != nil || n != 1 {
		t.Errorf("the place of a deleted message is not free: %d, %v", n, err)
	}
}
