package sqs

import (
	"testing"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/metricstest"
)

func TestTheDoorCountsWhatGoesThroughIt(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "hello")
	r.one(url)
	_, err := r.client.SendMessage(t.Context(),
		&client.SendMessageInput{QueueUrl: ptr(url + "-missing"), MessageBody: ptr("x")})
	wantCode(t, err, "AWS.SimpleQueueService.NonExistentQueue")
	got := metricstest.Of(t, r.traffic)
	for _, name := range []string{"CreateQueue 200", "SendMessage 200", "ReceiveMessage 200",
		"SendMessage AWS.SimpleQueueService.NonExistentQueue"} {
		if n := got["hikyaku_door_requests_total "+name+" sqs"]; n != 1 {
			t.Errorf("%s: %v, not 1", name, n)
		}
	}
	for _, name := range []string{"hikyaku_door_connections sqs", "hikyaku_door_bytes_total received sqs",
		"hikyaku_door_bytes_total sent sqs"} {
		if got[name] <= 0 {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	if t.Failed() {
		t.Log(got)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := r.client.ReceiveMessage(t.Context(),
			&client.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20}); err != nil {
			t.Error(err)
		}
	}()
	waiting := func() float64 { return metricstest.Of(t, r.traffic)["hikyaku_door_waiting sqs messages"] }
	doortest.Until(t, "a receive waits", func() bool { return waiting() == 1 })
	r.send(url, "at last")
	<-done
	doortest.Until(t, "none waits", func() bool { return waiting() == 0 })
	r.web.CloseIdleConnections()
	doortest.Until(t, "the connections have ended",
		func() bool { return metricstest.Of(t, r.traffic)["hikyaku_door_connections sqs"] == 0 })
}
