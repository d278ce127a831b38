package sqs

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/metricstest"
)

// TestARequestThatWaitsForRoomIsCounted holds all there is while a large body comes.
func TestARequestThatWaitsForRoomIsCounted(t *testing.T) {
	r := newRig(t)
	all := door.NewBusy(8 << 20)
	all.Patience = time.Minute
	r.door.busy = all
	url := r.queue("news")
	doortest.Until(t, "requests from before have ended", func() bool { return all.Used() == 0 })
	if !all.Try(8 << 20) {
		t.Fatal("no room at the start")
	}
	sent := make(chan error, 1)
	go func() {
		in := client.SendMessageInput{QueueUrl: &url, MessageBody: ptr(strings.Repeat("x", 200<<10))}
		_, err := r.client.SendMessage(t.Context(), &in)
		sent <- err
	}()
	waiting := func() float64 { return metricstest.Of(t, r.traffic)["hikyaku_door_waiting sqs room"] }
	doortest.Until(t, "the request is counted", func() bool { return waiting() == 1 })
	all.Give(8 << 20)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	doortest.Until(t, "none is counted", func() bool { return waiting() == 0 })
}

// What an answer holds is counted until its client has read it, and who finds no room is told to try again; the
// messages wait as if nobody had asked.
func TestAnswersCountUntilTheyAreRead(t *testing.T) {
	r := newRig(t)
	all := door.NewBusy(80 << 20)
	all.Patience = 50 * time.Millisecond
	r.door.busy = all
	url := r.queue("news")
	for range 12 {
		r.send(url, strings.Repeat("x", 1000<<10))
	}
	request := fmt.Sprintf(`{"QueueUrl":%q,"MaxNumberOfMessages":10,"VisibilityTimeout":600}`, url)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: AmazonSQS.ReceiveMessage\r\nContent-Type: "+
		"application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%s", len(request), request)
	doortest.Until(t, "the answer is held", func() bool { return all.Used() >= 2<<20 })
	if used := all.Used(); used > 48<<20 {
		t.Errorf("one answer holds %d bytes", used)
	}
	doortest.Until(t, "it is encoded", func() bool { return all.Used() < 20<<20 })
	rest := 79<<20 - all.Used()
	if !all.Try(rest) {
		t.Fatal("it has grown")
	}
	status, out := r.post("ReceiveMessage", map[string]any{"QueueUrl": url, "MaxNumberOfMessages": 10})
	if status != http.StatusForbidden || !strings.HasSuffix(fmt.Sprint(out["__type"]), "#RequestThrottled") {
		t.Errorf("without room: %d %.100v", status, out)
	}
	all.Give(rest)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res.Status, err)
	}
	res.Body.Close()
	doortest.Until(t, "all is given back", func() bool { return all.Used() == 0 })
	first := strings.Count(string(text), `"MessageId"`)
	if first < 9 || first > 10 {
		t.Errorf("%d messages in the first answer", first)
	}
	got := 0
	for {
		ms := r.receive(url, 10)
		for _, m := range ms {
			if n := m.Attributes["ApproximateReceiveCount"]; n != "1" {
				t.Errorf("a message was handed out %s times", n)
			}
		}
		if got += len(ms); len(ms) == 0 {
			break
		}
	}
	if got+first != 12 {
		t.Errorf("%d messages and %d", first, got)
	}
}
