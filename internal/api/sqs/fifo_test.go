package sqs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestAGroupLeavesInItsOrderAndOneReceiveMayHoldSeveral(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo")
	for i := range 5 {
		r.send(url, fmt.Sprint("a", i), group("a", fmt.Sprint("a", i)))
	}
	first := r.receive(url, 3)
	if got := strings.Join(bodies(first), " "); got != "a0 a1 a2" {
		t.Fatalf("first there are %s", got)
	}
	for i := 1; i < 3; i++ {
		if first[i].Attributes["SequenceNumber"] <= first[i-1].Attributes["SequenceNumber"] {
			t.Error("sequence numbers do not grow")
		}
	}
	if ms := r.receive(url, 10); len(ms) != 0 {
		t.Errorf("%q are handed out while the group is in flight", bodies(ms))
	}
	for _, m := range first[:2] {
		if err := r.delete(url, m); err != nil {
			t.Fatal(err)
		}
	}
	if ms := r.receive(url, 10); len(ms) != 0 {
		t.Errorf("%q are handed out while one of the group is in flight", bodies(ms))
	}
	if err := r.delete(url, first[2]); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(bodies(r.receive(url, 10)), " "); got != "a3 a4" {
		t.Errorf("then there are %s", got)
	}
}

func TestAStuckGroupHoldsUpNoOther(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo")
	for i := range 10 {
		r.send(url, fmt.Sprint("stuck", i), group("stuck", fmt.Sprint("s", i)))
	}
	for i := range 3 {
		r.send(url, fmt.Sprint("other", i), group("other", fmt.Sprint("o", i)))
	}
	r.one(url) // stuck0, and it stays
	for i := range 3 {
		m := r.one(url)
		if want := fmt.Sprint("other", i); *m.Body != want {
			t.Fatalf("there is %s, not %s", *m.Body, want)
		}
		if err := r.delete(url, m); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.attributes(url); got["ApproximateNumberOfMessages"] != "9" ||
		got["ApproximateNumberOfMessagesNotVisible"] != "1" {
		t.Errorf("counts are %s and %s", got["ApproximateNumberOfMessages"],
			got["ApproximateNumberOfMessagesNotVisible"])
	}
}

func TestAMessageThatIsPutBackComesBeforeThoseBehindIt(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo")
	for i := range 3 {
		r.send(url, fmt.Sprint(i), group("g", fmt.Sprint(i)))
	}
	ms := r.receive(url, 2)
	if err := r.visibility(url, ms[0], 0); err != nil {
		t.Fatal(err)
	}
	again := r.receive(url, 10)
	if got := strings.Join(bodies(again), " "); got != "0" {
		t.Errorf("then there are %s: 1 is in flight still", got)
	}
	if err := r.delete(url, ms[1]); err != nil {
		t.Errorf("the other one of the batch: %v", err)
	}
	if err := r.delete(url, again[0]); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(bodies(r.receive(url, 10)), " "); got != "2" {
		t.Errorf("then there are %s", got)
	}
}

func TestAReceiveTakesAllItCanOfAGroup(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo")
	for i := range 3 {
		for _, g := range []string{"a", "b"} {
			r.send(url, fmt.Sprint(g, i), group(g, fmt.Sprint(g, i)))
		}
	}
	if got := strings.Join(bodies(r.receive(url, 3)), " "); got != "a0 a1 a2" {
		t.Errorf("one reader gets %s", got)
	}
	if got := strings.Join(bodies(r.receive(url, 3)), " "); got != "b0 b1 b2" {
		t.Errorf("the other one gets %s", got)
	}
}

func TestABatchIsRefusedWhereAnEntryHasNoGroupOrID(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo")
	for _, spoil := range []func(e *types.SendMessageBatchRequestEntry){
		func(e *types.SendMessageBatchRequestEntry) { e.MessageGroupId = nil },
		func(e *types.SendMessageBatchRequestEntry) { e.MessageDeduplicationId = nil },
	} {
		es := entries("0", "1")
		for i := range es {
			es[i].MessageGroupId, es[i].MessageDeduplicationId = ptr("g"), es[i].Id
		}
		spoil(&es[1])
		_, err := r.client.SendMessageBatch(t.Context(), &client.SendMessageBatchInput{QueueUrl: &url, Entries: es})
		wantCode(t, err, "InvalidParameterValue")
	}
	if got := r.attributes(url)["ApproximateNumberOfMessages"]; got != "0" {
		t.Errorf("%s messages were sent", got)
	}
}

func TestADelayedQueueKeepsTheOrder(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo", "DelaySeconds", "10")
	for i := range 3 {
		r.send(url, fmt.Sprint(i), group("g", fmt.Sprint(i)))
	}
	if ms := r.receive(url, 10); len(ms) != 0 {
		t.Errorf("%q before their time", bodies(ms))
	}
	r.clock.pass(11 * time.Second)
	if got := strings.Join(bodies(r.receive(url, 10)), " "); got != "0 1 2" {
		t.Errorf("then there are %s", got)
	}
}

func TestADuplicateIsAnsweredWithTheFirst(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo")
	first := r.send(url, "hello", group("g", "d"))
	again := func(when string) {
		t.Helper()
		got := r.send(url, "hello again", group("g", "d"))
		if *got.MessageId != *first.MessageId || *got.SequenceNumber != *first.SequenceNumber {
			t.Errorf("%s: answered %s %s, not %s %s", when, *got.MessageId, *got.SequenceNumber, *first.MessageId,
				*first.SequenceNumber)
		}
	}
	if len(*first.SequenceNumber) != 20 {
		t.Errorf("the sequence number %s has not 20 digits", *first.SequenceNumber)
	}
	again("while it waits")
	m := r.one(url)
	if m.Attributes["MessageDeduplicationId"] != "d" || m.Attributes["MessageGroupId"] != "g" ||
		m.Attributes["SequenceNumber"] != *first.SequenceNumber {
		t.Errorf("attributes are %v", m.Attributes)
	}
	again("while it is in flight")
	if err := r.delete(url, m); err != nil {
		t.Fatal(err)
	}
	again("after it was deleted")
	r.clock.pass(4*time.Minute + 50*time.Second)
	again("shortly before five minutes")
	r.clock.pass(11 * time.Second)
	if got := r.send(url, "a new one", group("g", "d")); *got.MessageId == *first.MessageId {
		t.Error("after five minutes it is a duplicate still")
	}
}

func TestAPurgeForgetsDeduplicationIDs(t *testing.T) {
	r := newRig(t)
	for _, scope := range []string{"queue", "messageGroup"} {
		url := r.queue(scope+".fifo", "DeduplicationScope", scope)
		first := r.send(url, "hello", group("g", "d"))
		if _, err := r.client.PurgeQueue(t.Context(), &client.PurgeQueueInput{QueueUrl: &url}); err != nil {
			t.Fatal(err)
		}
		second := r.send(url, "hello", group("g", "d"))
		if *second.MessageId == *first.MessageId {
			t.Error("what was purged makes a duplicate of what is sent behind it")
		}
		if third := r.send(url, "hello", group("g", "d")); *third.MessageId != *second.MessageId {
			t.Error("behind a purge there are no duplicates any more")
		}
		if m := r.one(url); *m.MessageId != *second.MessageId || m.Attributes["MessageDeduplicationId"] != "d" {
			t.Errorf("received %s with %v", *m.MessageId, m.Attributes)
		}
	}
}

func TestContentIsItsOwnDeduplicationIDWhereTheQueueWantsIt(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo", "ContentBasedDeduplication", "true")
	first, same, other := r.send(url, "hello", group("g", "")), r.send(url, "hello", group("h", "")),
		r.send(url, "world", group("g", ""))
	if *first.MessageId != *same.MessageId || *first.MessageId == *other.MessageId {
		t.Errorf("ids are %s, %s and %s", *first.MessageId, *same.MessageId, *other.MessageId)
	}
	if own := r.send(url, "hello", group("g", "own")); *own.MessageId == *first.MessageId {
		t.Error("an id of its own does not count")
	}
	if m := r.one(
		url); m.Attributes["MessageDeduplicationId"] != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("the id is %s, not the SHA-256 of the body", m.Attributes["MessageDeduplicationId"])
	}
}

func TestDeduplicationIDsCountWithinEachGroupWhereTheQueueWantsIt(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo", "DeduplicationScope", "messageGroup", "FifoThroughputLimit", "perMessageGroupId")
	a, b, again := r.send(url, "x", group("a", "d")), r.send(url, "x", group("b", "d")),
		r.send(url, "x", group("a", "d"))
	if *a.MessageId == *b.MessageId || *a.MessageId != *again.MessageId {
		t.Errorf("ids are %s, %s and %s", *a.MessageId, *b.MessageId, *again.MessageId)
	}
	for _, m := range r.receive(url, 10) {
		if m.Attributes["MessageDeduplicationId"] != "d" {
			t.Errorf("the id is shown as %q", m.Attributes["MessageDeduplicationId"])
		}
	}
}

func attempt(id string) func(*client.ReceiveMessageInput) {
	return func(in *client.ReceiveMessageInput) { in.ReceiveRequestAttemptId = &id }
}

func TestAReceiveThatIsTriedAgainIsAnsweredAsBefore(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo")
	for i := range 4 {
		r.send(url, fmt.Sprint(i), group("g", fmt.Sprint(i)))
	}
	first := r.receive(url, 2, attempt("try"))
	r.clock.pass(20 * time.Second)
	again := r.receive(url, 2, attempt("try"))
	if len(first) != 2 || len(again) != 2 {
		t.Fatalf("%d and %d messages", len(first), len(again))
	}
	for i := range first {
		if *first[i].MessageId != *again[i].MessageId || *first[i].ReceiptHandle != *again[i].ReceiptHandle ||
			*first[i].Body != *again[i].Body {
			t.Errorf("message %d: %v, then %v", i, first[i], again[i])
		}
	}
	r.clock.pass(20 * time.Second)
	if ms := r.receive(url, 10); len(ms) != 0 {
		t.Errorf("the visibility timeout did not begin anew: %q", bodies(ms))
	}
	if ms := r.receive(url, 2, attempt("another")); len(ms) != 0 {
		t.Errorf("another attempt is handed %q", bodies(ms))
	}
	if err := r.delete(url, first[0]); err != nil {
		t.Fatal(err)
	}
	if ms := r.receive(url, 2, attempt("try")); len(ms) != 0 {
		t.Errorf("after a delete the attempt is handed %q", bodies(ms))
	}
}

func TestAReceiveIsForgottenAfterFiveMinutes(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo", "VisibilityTimeout", "1000")
	r.send(url, "0", group("g", "0"))
	r.receive(url, 1, attempt("try"))
	r.clock.pass(301 * time.Second)
	if ms := r.receive(url, 1, attempt("try")); len(ms) != 0 {
		t.Errorf("it is handed %q", bodies(ms))
	}
}

func TestABatchKeepsTheOrderOfItsGroups(t *testing.T) {
	r := newRig(t)
	url := r.queue("jobs.fifo", "ContentBasedDeduplication", "true")
	es := entries("0", "1", "2", "1", "3")
	for i := range es {
		es[i].MessageGroupId = ptr("g")
	}
	out, err := r.client.SendMessageBatch(t.Context(), &client.SendMessageBatchInput{QueueUrl: &url, Entries: es})
	if err != nil || len(out.Successful) != 5 {
		t.Fatalf("%+v %v", out, err)
	}
	if *out.Successful[3].MessageId != *out.Successful[1].MessageId ||
		*out.Successful[3].SequenceNumber != *out.Successful[1].SequenceNumber {
		t.Error("a duplicate within the batch is not answered with the first")
	}
	if got := strings.Join(bodies(r.receive(url, 10)), " "); got != "0 1 2 3" {
		t.Errorf("there are %s", got)
	}
}

func TestGroupsDoNotOrderAStandardQueue(t *testing.T) {
	r := newRig(t)
	url := r.queue("fair")
	for i := range 3 {
		r.send(url, fmt.Sprint(i), func(in *client.SendMessageInput) { in.MessageGroupId = ptr("tenant") })
	}
	for i := range 3 {
		if m := r.one(url); *m.Body != fmt.Sprint(i) || m.Attributes["MessageGroupId"] != "tenant" {
			t.Errorf("there is %q of group %q", *m.Body, m.Attributes["MessageGroupId"])
		}
	}
}

func TestTheKeysOfAnotherDoorsQueueOrderIt(t *testing.T) {
	r := newRig(t)
	if _, err := r.store.CreateQueue(t.Context(), news, queue.Definition{}); err != nil {
		t.Fatal(err)
	}
	url := r.base + "/000000000000/news"
	for i := range 3 {
		r.send(url, fmt.Sprint(i), func(in *client.SendMessageInput) { in.MessageGroupId = ptr("g") })
	}
	first := r.one(url)
	if ms := r.receive(url, 10); len(ms) != 0 {
		t.Errorf("%q are handed out while the first of their key is", bodies(ms))
	}
	if err := r.delete(url, first); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(bodies(r.receive(url, 10)), " "); got != "1 2" {
		t.Errorf("then there are %s", got)
	}
}
