package sqs

import (
	"fmt"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	invalidHandle = "ReceiptHandleIsInvalid"
	notInFlight   = "AWS.SimpleQueueService.MessageNotInflight"
	invalidValue  = "InvalidParameterValue"
)

func (r *rig) left(name string) int64 {
	r.t.Helper()
	st, err := r.store.Stats(queue.Name{Namespace: "default", Name: name})
	if err != nil {
		r.t.Fatal(err)
	}
	return st.Messages()
}

func TestDeletingTwiceSucceeds(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"news", "news.fifo"} {
		url := r.queue(name)
		r.send(url, "hello", func(in *client.SendMessageInput) {
			if name == "news.fifo" {
				group("g", "d")(in)
			}
		})
		m := r.one(url)
		for range 2 {
			if err := r.delete(url, m); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestInAStandardQueueTheNewestHandleDeletesAlsoAfterItsTime(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "hello")
	m := r.one(url)
	r.clock.pass(31 * time.Second)
	if err := r.delete(url, m); err != nil {
		t.Fatal(err)
	}
	if n := r.left("news"); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

func TestInAStandardQueueAnOldHandleSucceedsAndDeletesNothing(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "hello")
	old := r.one(url)
	r.clock.pass(31 * time.Second)
	m := r.one(url)
	if err := r.delete(url, old); err != nil {
		t.Error(err)
	}
	if n := r.left("news"); n != 1 {
		t.Errorf("while another has it, %d messages are left", n)
	}
	if *m.ReceiptHandle == *old.ReceiptHandle {
		t.Error("two hand-outs have one handle")
	}
	r.clock.pass(31 * time.Second)
	if err := r.delete(url, old); err != nil {
		t.Error(err)
	}
	if n := r.left("news"); n != 1 {
		t.Errorf("after the time of the other, too, %d messages are left", n)
	}
}

func TestInAStandardQueueTheVisibilityMayBeChangedWithAHandleThatIsOver(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "hello")
	old := r.one(url)
	r.clock.pass(31 * time.Second)
	if err := r.visibility(url, old, 600); err != nil {
		t.Errorf("after its time: %v", err)
	}
	m := r.one(url) // nothing came of that
	if err := r.visibility(url, old, 600); err != nil {
		t.Errorf("while another has it: %v", err)
	}
	r.clock.pass(31 * time.Second)
	if ms := r.receive(url, 1); len(ms) != 0 {
		t.Error("an older handle has not made the visibility timeout longer")
	}
	if err := r.visibility(url, old, 0); err != nil {
		t.Errorf("while another has it: %v", err)
	}
	if err := r.delete(url, r.one(url)); err != nil {
		t.Fatal(err)
	}
	wantCode(t, r.visibility(url, m, 5), invalidValue) // it is gone
}

func TestInAFIFOQueueAnExpiredHandleIsAnError(t *testing.T) {
	r := newRig(t)
	url := r.queue("news.fifo")
	r.send(url, "hello", group("g", "d"))
	m := r.one(url)
	r.clock.pass(31 * time.Second)
	wantCode(t, r.delete(url, m), invalidValue)
	wantCode(t, r.visibility(url, m, 5), notInFlight)
	if n := r.left("news.fifo"); n != 1 {
		t.Errorf("%d messages are left", n)
	}
}

func TestHandlesOfADeletedQueueAreInvalidInTheNextOfItsName(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "hello")
	m := r.one(url)
	if _, err := r.client.DeleteQueue(t.Context(), &client.DeleteQueueInput{QueueUrl: &url}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, r.delete(url, m), "AWS.SimpleQueueService.NonExistentQueue")
	r.clock.pass(time.Minute)
	r.queue("news")
	r.send(url, "another")
	other := r.one(url)
	wantCode(t, r.delete(url, m), invalidHandle)
	wantCode(t, r.visibility(url, m, 10), invalidHandle)
	if err := r.delete(url, other); err != nil {
		t.Error(err)
	}
}

func TestHandlesOfAQueueThatAnotherDoorMadeAnewAreInvalid(t *testing.T) {
	for _, name := range []string{"news", "news.fifo"} {
		r := newRig(t)
		url := r.queue(name)
		n := queue.Name{Namespace: queue.DefaultNamespace, Name: name}
		send := func(body string) {
			t.Helper()
			if _, err := r.store.Put(t.Context(), n, []message.Message{{Body: []byte(body), Key: "g"}}); err != nil {
				t.Fatal(err)
			}
		}
		send("hello")
		m := r.one(url)
		def, _, err := r.store.Definition(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.store.DeleteQueue(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if _, err := r.store.CreateQueue(t.Context(), n, def); err != nil {
			t.Fatal(err)
		}
		send("another")
		wantCode(t, r.delete(url, m), invalidHandle)
		wantCode(t, r.visibility(url, m, 0), invalidHandle)
		wantCode(t, r.visibility(url, m, 10), invalidHandle)
		other := r.one(url)
		wantCode(t, r.delete(url, m), invalidHandle)
		wantCode(t, r.visibility(url, m, 0), invalidHandle)
		if err := r.delete(url, other); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHandlesThatWereNotGivenForTheQueueAreInvalid(t *testing.T) {
	r := newRig(t)
	url, other := r.queue("news"), r.queue("other")
	r.send(url, "hello")
	m := r.one(url)
	wantCode(t, r.delete(other, m), invalidHandle)
	for _, text := range []string{"x", "AQEB", *m.ReceiptHandle + "A", (*m.ReceiptHandle)[1:] + "A"} {
		wantCode(t, r.delete(url, types.Message{ReceiptHandle: &text}), invalidHandle)
		wantCode(t, r.visibility(url, types.Message{ReceiptHandle: &text}, 1), invalidHandle)
	}
	if n := r.left("news"); n != 1 {
		t.Errorf("%d messages are left", n)
	}
}

func TestVisibilityIsChanged(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "hello")
	m := r.one(url)
	if err := r.visibility(url, m, 100); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(99 * time.Second)
	if ms := r.receive(url, 1); len(ms) != 0 {
		t.Error("it is to be had before its time")
	}
	r.clock.pass(2 * time.Second)
	if ms := r.receive(url, 1); len(ms) != 1 {
		t.Error("it is not to be had after its time")
	}
}

func TestVisibilityZeroPutsTheMessageBackAtOnce(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "hello")
	m := r.one(url)
	if err := r.visibility(url, m, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.visibility(url, m, 5); err != nil {
		t.Errorf("once more: %v", err)
	}
	again := r.one(url)
	if again.Attributes["ApproximateReceiveCount"] != "2" {
		t.Errorf("the receive count is %s", again.Attributes["ApproximateReceiveCount"])
	}
	if err := r.visibility(url, m, 5); err != nil {
		t.Errorf("while another has it: %v", err)
	}
	if err := r.delete(url, again); err != nil {
		t.Fatal(err)
	}
	wantCode(t, r.visibility(url, again, 5), invalidValue)
}

func TestVisibilityIsHeldToTwelveHoursInAll(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "hello")
	m := r.one(url)
	wantCode(t, r.visibility(url, m, 43201), invalidValue)
	wantCode(t, r.visibility(url, m, -1), invalidValue)
	if err := r.visibility(url, m, 40000); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(2 * time.Hour)
	wantCode(t, r.visibility(url, m, 40000), invalidValue)
	if err := r.visibility(url, m, 35000); err != nil {
		t.Error(err)
	}
}

func TestBatchesTellOfEachHandle(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	for i := range 4 {
		r.send(url, fmt.Sprint(i))
	}
	ms := r.receive(url, 10)
	if len(ms) != 4 {
		t.Fatal(len(ms))
	}
	changed, err := r.client.ChangeMessageVisibilityBatch(t.Context(), &client.ChangeMessageVisibilityBatchInput{QueueUrl: &url, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
		{Id: ptr("back"), ReceiptHandle: ms[0].ReceiptHandle, VisibilityTimeout: 0},
		{Id: ptr("long"), ReceiptHandle: ms[1].ReceiptHandle, VisibilityTimeout: 1000},
		{Id: ptr("longer"), ReceiptHandle: ms[2].ReceiptHandle, VisibilityTimeout: 2000},
		{Id: ptr("wrong"), ReceiptHandle: ptr("x"), VisibilityTimeout: 1},
		{Id: ptr("range"), ReceiptHandle: ms[3].ReceiptHandle, VisibilityTimeout: 50000},
	}})
	if err != nil || len(changed.Successful) != 3 || len(changed.Failed) != 2 {
		t.Fatalf("%+v %v", changed, err)
	}
	if *changed.Failed[0].Code != invalidHandle || *changed.Failed[1].Code != invalidValue {
		t.Errorf("failed are %v", changed.Failed)
	}
	back := r.one(url)
	if *back.Body != "0" {
		t.Errorf("%q is back", *back.Body)
	}
	deleted, err := r.client.DeleteMessageBatch(t.Context(), &client.DeleteMessageBatchInput{QueueUrl: &url, Entries: []types.DeleteMessageBatchRequestEntry{
		{Id: ptr("a"), ReceiptHandle: back.ReceiptHandle}, {Id: ptr("b"), ReceiptHandle: ptr("x")}, {Id: ptr("c"), ReceiptHandle: ms[1].ReceiptHandle},
	}})
	if err != nil || len(deleted.Successful) != 2 || len(deleted.Failed) != 1 || *deleted.Failed[0].Id != "b" || !deleted.Failed[0].SenderFault {
		t.Fatalf("%+v %v", deleted, err)
	}
	if n := r.left("news"); n != 2 {
		t.Errorf("%d messages are left", n)
	}
}
