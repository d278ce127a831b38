package sqs

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// subjects is what a call is about: a queue with dead letters, and one that is FIFO. Each has a message in flight, and
// old is a handle of a claim that is over.
type subjects struct{ name, url, dead, fifo, handle, old string }

// makeSubjects makes them anew, under names that nobody had before.
func makeSubjects(r *rig, number int) subjects {
	r.t.Helper()
	s := subjects{name: fmt.Sprintf("news-%04d", number)}
	s.dead = r.queue(s.name + "-dead")
	s.url = r.queue(s.name, "RedrivePolicy", redrive(s.name+"-dead", 5))
	s.fifo = r.queue(s.name + ".fifo")
	for range 2 {
		r.send(s.url, "hello")
	}
	r.send(s.fifo, "hello", group("a", "1"))
	s.old = *r.one(s.url, func(in *client.ReceiveMessageInput) { in.VisibilityTimeout = 1 }).ReceiptHandle
	r.clock.pass(2 * time.Second)
	s.handle = *r.one(s.url).ReceiptHandle
	r.one(s.fifo, func(in *client.ReceiveMessageInput) { in.ReceiveRequestAttemptId = ptr("attempt") })
	return s
}

// TestWhatCannotBeAskedIsUnavailable: whatever a call has to ask the store, and gets no answer to, is neither missing
// nor empty.
func TestWhatCannotBeAskedIsUnavailable(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	away := &doortest.Away{Service: s}
	r := newRigAsking(t, Config{}, nil, away, clock)
	if _, err := s.CreateTopic(t.Context(), queue.Name{Namespace: "default", Name: "topic"}, nil); err != nil {
		t.Fatal(err)
	}
	number := 0
	ask := func(call func(subjects) (string, map[string]any), question string, nth int) (action string, failed bool) {
		number++
		away.Go()
		about := makeSubjects(r, number)
		action, in := call(about)
		r.door.changes.Add(1) // what the door has read is read anew
		away.GoOnce(question, nth)
		status, out := r.post(action, in)
		failed = strings.Contains(fmt.Sprint(out), "ServiceUnavailable") // an entry of a batch does not change status
		if !failed && status >= 500 {
			t.Errorf("%s: %d %v", action, status, out)
		}
		return action, failed
	}
	heard := map[string]bool{}
	for _, call := range unavailableCalls() {
		action, failed := ask(call, "", 0)
		asked := away.Asked()
		if failed || len(asked) == 0 {
			t.Errorf("%s asks %v of a store that is there; unavailable: %v", action, asked, failed)
		}
		for question, times := range asked {
			heard[question] = true
			for nth := range min(times, 5) { // some look at all queues
				if _, failed := ask(call, question, nth+1); !failed {
					t.Errorf("%s goes on though the store does not answer %s, time %d", action, question, nth+1)
				}
			}
		}
	}
	for _, question := range []string{"Definition", "HasTopic", "Look", "Note", "NoteKeys", "Parse", "Queues",
		"Stats", "TokenOf"} {
		if !heard[question] {
			t.Errorf("no call asks %s", question)
		}
	}
}

// unavailableCalls are calls that ask the store something.
func unavailableCalls() []func(subjects) (string, map[string]any) {
	type in = map[string]any
	of := func(action string, in func(s subjects) in) func(subjects) (string, in) {
		return func(s subjects) (string, map[string]any) { return action, in(s) }
	}
	url := func(action string, more in) func(subjects) (string, in) {
		return of(action, func(s subjects) in {
			all := in{"QueueUrl": s.url}
			for k, v := range more {
				all[k] = v
			}
			return all
		})
	}
	return []func(subjects) (string, in){
		url("SendMessage", in{"MessageBody": "x"}),
		of("SendMessage", func(subjects) in { return in{"QueueUrl": "topic", "MessageBody": "x"} }),
		url("SendMessageBatch", in{"Entries": []in{{"Id": "a", "MessageBody": "x"}}}),
		url("ReceiveMessage", nil),
		url("ReceiveMessage", in{"MessageAttributeNames": []string{"hikyaku.where:a = 1"}}),
		of("ReceiveMessage", func(s subjects) in {
			return in{"QueueUrl": s.fifo, "ReceiveRequestAttemptId": "attempt"}
		}),
		of("DeleteMessage", func(s subjects) in { return in{"QueueUrl": s.url, "ReceiptHandle": s.handle} }),
		of("DeleteMessage", func(s subjects) in { return in{"QueueUrl": s.url, "ReceiptHandle": s.old} }),
		of("DeleteMessageBatch", func(s subjects) in {
			return in{"QueueUrl": s.url, "Entries": []in{{"Id": "a", "ReceiptHandle": s.old}}}
		}),
		of("ChangeMessageVisibility", func(s subjects) in {
			return in{"QueueUrl": s.url, "ReceiptHandle": s.old, "VisibilityTimeout": 9}
		}),
		url("GetQueueAttributes", in{"AttributeNames": []string{"All"}}),
		url("SetQueueAttributes", in{"Attributes": in{"VisibilityTimeout": "9"}}),
		of("SetQueueAttributes", func(s subjects) in {
			return in{"QueueUrl": s.dead, "Attributes": in{"RedrivePolicy": redrive(s.name, 3)}}
		}),
		of("CreateQueue", func(s subjects) in { return in{"QueueName": s.name} }),
		of("GetQueueUrl", func(s subjects) in { return in{"QueueName": s.name} }),
		of("GetQueueUrl", func(subjects) in { return in{"QueueName": "topic"} }),
		of("ListQueues", func(subjects) in { return in{} }),
		of("ListDeadLetterSourceQueues", func(s subjects) in { return in{"QueueUrl": s.dead} }),
		url("TagQueue", in{"Tags": in{"a": "b"}}),
		url("UntagQueue", in{"TagKeys": []string{"a"}}),
		url("ListQueueTags", nil),
		url("AddPermission", in{"Label": "a", "AWSAccountIds": []string{"000000000000"}, "Actions": []string{"*"}}),
		url("PurgeQueue", nil),
		of("PurgeQueue", func(s subjects) in { return in{"QueueUrl": s.fifo} }),
		of("StartMessageMoveTask", func(s subjects) in { return in{"SourceArn": arn(s.name + "-dead")} }),
		of("ListMessageMoveTasks", func(s subjects) in { return in{"SourceArn": arn(s.name)} }),
		of("CancelMessageMoveTask", func(s subjects) in {
			handle := `{"taskId": "x", "sourceArn": "` + arn(s.name) + `"}`
			return in{"TaskHandle": base64.StdEncoding.EncodeToString([]byte(handle))}
		}),
		url("DeleteQueue", nil),
	}
}
