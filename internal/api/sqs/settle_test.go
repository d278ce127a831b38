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

// inFlight is a new door, the URL of a queue on it, and the one message of the queue, which was received.
func inFlight(t *testing.T, name string) (*rig, string, types.Message) {
	t.Helper()
	r := newRig(t)
	url := r.queue(name)
	if isFIFO(queue.Name{Name: name}) {
		r.send(url, "hello", group("g", "d"))
	} else {
		r.send(url, "hello")
	}
	return r, url, r.one(url)
}

// wantLeft fails the test unless a queue has so many messages, whatever their state.
func (r *rig) wantLeft(name string, want int64) {
	r.t.Helper()
	st, err := r.store.Stats(r.t.Context(), queue.Name{Namespace: "default", Name: name})
	if err != nil {
		r.t.Fatal(err)
	}
	if n := st.Messages(); n != want {
		r.t.Errorf("%d messages are left, not %d", n, want)
	}
}

// wantStale fails the test unless a handle is refused as one that was never given for the queue.
func (r *rig) wantStale(url string, m types.Message) {
	r.t.Helper()
	wantCode(r.t, r.delete(url, m), invalidHandle)
	wantCode(r.t, r.visibility(url, m, 0), invalidHandle)
	wantCode(r.t, r.visibility(url, m, 10), invalidHandle)
}

func TestDeletingTwiceSucceeds(t *testing.T) {
	for _, name := range []string{"news", "news.fifo"} {
		r, url, m := inFlight(t, name)
		for range 2 {
			if err := r.delete(url, m); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestInAStandardQueueTheNewestHandleDeletesAlsoAfterItsTime(t *testing.T) {
	r, url, m := inFlight(t, "news")
	r.clock.pass(31 * time.Second)
	if err := r.delete(url, m); err != nil {
		t.Fatal(err)
	}
	r.wantLeft("news", 0)
}

func TestInAStandardQueueAnOldHandleSucceedsAndDeletesNothing(t *testing.T) {
	r, url, old := inFlight(t, "news")
	r.clock.pass(31 * time.Second)
	m := r.one(url)
	if err := r.delete(url, old); err != nil {
		t.Error(err)
	}
	r.wantLeft("news", 1)
	if *m.ReceiptHandle == *old.ReceiptHandle {
		t.Error("two hand-outs have one handle")
	}
	r.clock.pass(31 * time.Second)
	if err := r.delete(url, old); err != nil {
		t.Error(err)
	}
	r.wantLeft("news", 1)
}

func TestInAStandardQueueTheVisibilityMayBeChangedWithAHandleThatIsOver(t *testing.T) {
	r, url, old := inFlight(t, "news")
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
	r, url, m := inFlight(t, "news.fifo")
	r.clock.pass(31 * time.Second)
	wantCode(t, r.delete(url, m), invalidValue)
	wantCode(t, r.visibility(url, m, 5), notInFlight)
	r.wantLeft("news.fifo", 1)
}

func TestHandlesOfADeletedQueueAreInvalidInTheNextOfItsName(t *testing.T) {
	r, url, m := inFlight(t, "news")
	if _, err := r.client.DeleteQueue(t.Context(), &client.DeleteQueueInput{QueueUrl: &url}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, r.delete(url, m), "AWS.SimpleQueueService.NonExistentQueue")
	r.clock.pass(time.Minute)
	r.queue("news")
	r.send(url, "another")
	other := r.one(url)
	r.wantStale(url, m)
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
		def, _, err := r.store.Definition(t.Context(), n)
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
		r.wantStale(url, m)
		other := r.one(url)
		r.wantStale(url, m)
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
		r.wantStale(url, types.Message{ReceiptHandle: &text})
	}
	r.wantLeft("news", 1)
}

func TestVisibilityIsChanged(t *testing.T) {
	r, url, m := inFlight(t, "news")
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
	r, url, m := inFlight(t, "news")
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
	r, url, m := inFlight(t, "news")
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
	in := client.ChangeMessageVisibilityBatchInput{QueueUrl: &url}
	in.Entries = []types.ChangeMessageVisibilityBatchRequestEntry{
		{Id: ptr("back"), ReceiptHandle: ms[0].ReceiptHandle, VisibilityTimeout: 0},
		{Id: ptr("long"), ReceiptHandle: ms[1].ReceiptHandle, VisibilityTimeout: 1000},
		{Id: ptr("longer"), ReceiptHandle: ms[2].ReceiptHandle, VisibilityTimeout: 2000},
		{Id: ptr("wrong"), ReceiptHandle: ptr("x"), VisibilityTimeout: 1},
		{Id: ptr("range"), ReceiptHandle: ms[3].ReceiptHandle, VisibilityTimeout: 50000},
	}
	changed, err := r.client.ChangeMessageVisibilityBatch(t.Context(), &in)
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
	out := client.DeleteMessageBatchInput{QueueUrl: &url, Entries: []types.DeleteMessageBatchRequestEntry{
		{Id: ptr("a"), ReceiptHandle: back.ReceiptHandle}, {Id: ptr("b"), ReceiptHandle: ptr("x")},
		{Id: ptr("c"), ReceiptHandle: ms[1].ReceiptHandle},
	}}
	deleted, err := r.client.DeleteMessageBatch(t.Context(), &out)
	if err != nil || len(deleted.Successful) != 2 || len(deleted.Failed) != 1 {
		t.Fatalf("%+v %v", deleted, err)
	}
	if f := deleted.Failed[0]; *f.Id != "b" || !f.SenderFault {
		t.Errorf("failed is %+v", f)
	}
	r.wantLeft("news", 2)
}
