package sqs

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func arn(name string) string { return "arn:aws:sqs:eu-west-1:000000000000:" + name }

func redrive(dead string, n int) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":"%s","maxReceiveCount":"%d"}`, arn(dead), n)
}

// bury makes n messages dead letters of a queue that allows one hand-out.
func (r *rig) bury(url string, dead string, n int) {
	r.t.Helper()
	for i := range n {
		r.send(url, fmt.Sprint(i))
	}
	for range (n + 9) / 10 {
		r.receive(url, 10)
	}
	r.clock.pass(31 * time.Second)
	r.receive(url, 1)
	r.awaitReady(dead, int64(n))
}

// awaitReady waits until a queue has so many messages to hand out.
func (r *rig) awaitReady(name string, n int64) {
	r.t.Helper()
	doortest.Until(r.t, fmt.Sprintf("%s has %d messages", name, n), func() bool {
		st, err := r.store.Stats(r.t.Context(), queue.Name{Namespace: "default", Name: name})
		if err != nil {
			r.t.Fatal(err)
		}
		return st.Ready == n
	})
}

func TestAMessageThatIsReceivedTooOftenGoesToTheDeadLetterQueue(t *testing.T) {
	r := newRig(t)
	dead := r.queue("dead")
	url := r.queue("news", "RedrivePolicy", redrive("dead", 2))
	sent := r.send(url, "poison", with(map[string]types.MessageAttributeValue{"lang": text("ja")}))
	for range 2 {
		r.one(url)
		r.clock.pass(31 * time.Second)
	}
	if ms := r.receive(url, 1); len(ms) != 0 {
		t.Error("it is handed out a third time")
	}
	r.awaitReady("dead", 1)
	m := r.one(dead)
	if *m.MessageId != *sent.MessageId || *m.Body != "poison" || *m.MessageAttributes["lang"].StringValue != "ja" {
		t.Errorf("the dead letter is %s %q %v", *m.MessageId, *m.Body, m.MessageAttributes)
	}
	if m.Attributes["DeadLetterQueueSourceArn"] != arn("news") ||
		m.Attributes["ApproximateReceiveCount"] != "3" { // two there, one here
		t.Errorf("its attributes are %v", m.Attributes)
	}
}

func TestAFIFODeadLetterKeepsItsGroup(t *testing.T) {
	r := newRig(t)
	dead := r.queue("dead.fifo")
	url := r.queue("jobs.fifo", "RedrivePolicy", redrive("dead.fifo", 1))
	r.send(url, "poison", group("g", "1"))
	r.send(url, "next", group("g", "2"))
	r.one(url)
	r.clock.pass(31 * time.Second)
	r.awaitReady("jobs.fifo", 1)
	if m := r.one(url); *m.Body != "next" {
		t.Errorf("then there is %q", *m.Body)
	}
	r.awaitReady("dead.fifo", 1)
	if m := r.one(dead); m.Attributes["MessageGroupId"] != "g" || m.Attributes["SequenceNumber"] == "" {
		t.Errorf("its attributes are %v", m.Attributes)
	}
}

func TestADeadLetterQueueChoosesItsSources(t *testing.T) {
	r := newRig(t)
	r.queue("closed", "RedriveAllowPolicy", `{"redrivePermission":"denyAll"}`)
	r.queue("chosen", "RedriveAllowPolicy", `{"redrivePermission":"byQueue","sourceQueueArns":["`+arn("news")+`"]}`)
	wantCode(t, r.create("news", "RedrivePolicy", redrive("closed", 3)), invalidValue)
	wantCode(t, r.create("other", "RedrivePolicy", redrive("chosen", 3)), invalidValue)
	if err := r.create("news", "RedrivePolicy", redrive("chosen", 3)); err != nil {
		t.Error(err)
	}
}

func TestTheSourcesOfADeadLetterQueueAreListed(t *testing.T) {
	r := newRig(t)
	dead := r.queue("dead")
	a, b := r.queue("a", "RedrivePolicy", redrive("dead", 3)), r.queue("b", "RedrivePolicy", redrive("dead", 5))
	r.queue("c")
	got, err := r.client.ListDeadLetterSourceQueues(
		t.Context(),
		&client.ListDeadLetterSourceQueuesInput{QueueUrl: &dead},
	)
	if err != nil || len(got.QueueUrls) != 2 || got.QueueUrls[0] != a || got.QueueUrls[1] != b {
		t.Error(got, err)
	}
	first, err := r.client.ListDeadLetterSourceQueues(
		t.Context(),
		&client.ListDeadLetterSourceQueuesInput{QueueUrl: &dead, MaxResults: ptr(int32(1))},
	)
	if err != nil || len(first.QueueUrls) != 1 || first.NextToken == nil {
		t.Fatal(first, err)
	}
	second, err := r.client.ListDeadLetterSourceQueues(
		t.Context(),
		&client.ListDeadLetterSourceQueuesInput{QueueUrl: &dead, MaxResults: ptr(int32(1)), NextToken: first.NextToken},
	)
	if err != nil || len(second.QueueUrls) != 1 || second.QueueUrls[0] != b {
		t.Error(second, err)
	}
}

// tasks are the tasks of a queue, newest first.
func (r *rig) tasks(source string) []types.ListMessageMoveTasksResultEntry {
	r.t.Helper()
	out, err := r.client.ListMessageMoveTasks(
		r.t.Context(),
		&client.ListMessageMoveTasksInput{SourceArn: ptr(arn(source)), MaxResults: ptr(int32(10))},
	)
	if err != nil {
		r.t.Fatal(err)
	}
	return out.Results
}

// awaitTask waits until the newest task of a queue has a status.
func (r *rig) awaitTask(source, status string) (newest types.ListMessageMoveTasksResultEntry) {
	r.t.Helper()
	doortest.Until(r.t, fmt.Sprintf("the task of %s is %s", source, status), func() bool {
		ts := r.tasks(source)
		if len(ts) == 0 {
			return false
		}
		if newest = ts[0]; *newest.Status != status && *newest.Status == moveFailed {
			r.t.Fatalf("the task of %s failed: %s", source, *newest.FailureReason)
		}
		return *newest.Status == status
	})
	return newest
}

func TestATaskMovesDeadLettersBackToWhereTheyCameFrom(t *testing.T) {
	r := newRig(t)
	r.queue("dead")
	url := r.queue("news", "RedrivePolicy", redrive("dead", 1))
	r.bury(url, "dead", 25)
	started, err := r.client.StartMessageMoveTask(
		t.Context(),
		&client.StartMessageMoveTaskInput{SourceArn: ptr(arn("dead"))},
	)
	if err != nil {
		t.Fatal(err)
	}
	task := r.awaitTask("dead", moveCompleted)
	if task.ApproximateNumberOfMessagesMoved != 25 || *task.ApproximateNumberOfMessagesToMove != 25 ||
		task.TaskHandle != nil ||
		*task.SourceArn != arn("dead") ||
		task.DestinationArn != nil {
		t.Errorf("the task is %+v", task)
	}
	r.awaitReady("news", 25)
	if m := r.one(url); m.Attributes["ApproximateReceiveCount"] != "1" ||
		m.Attributes["DeadLetterQueueSourceArn"] != "" {
		t.Errorf("a message that was moved has %v", m.Attributes)
	}
	_, err = r.client.CancelMessageMoveTask(
		t.Context(),
		&client.CancelMessageMoveTaskInput{TaskHandle: started.TaskHandle},
	)
	wantCode(t, err, "AWS.SimpleQueueService.UnsupportedOperation")
}

func TestATaskMovesLargeDeadLetters(t *testing.T) {
	const letters = 100
	r := newRig(t)
	r.queue("dead")
	r.queue("news", "RedrivePolicy", redrive("dead", 1))
	letter := message.Message{Body: bytes.Repeat([]byte("x"), 1<<20), Death: &message.Death{Queue: "default/news"}}
	for range letters {
		to := queue.Name{Namespace: "default", Name: "dead"}
		if _, err := r.store.Put(t.Context(), to, []message.Message{letter}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.client.StartMessageMoveTask(t.Context(), &client.StartMessageMoveTaskInput{
		SourceArn: ptr(arn("dead")),
	}); err != nil {
		t.Fatal(err)
	}
	if task := r.awaitTask("dead", moveCompleted); task.ApproximateNumberOfMessagesMoved != letters {
		t.Errorf("the task is %+v", task)
	}
	r.awaitReady("news", letters)
}

func TestATaskMovesDeadLettersToAnotherQueue(t *testing.T) {
	r := newRig(t)
	r.queue("dead")
	other := r.queue("other")
	r.bury(r.queue("news", "RedrivePolicy", redrive("dead", 1)), "dead", 3)
	if _, err := r.client.StartMessageMoveTask(t.Context(), &client.StartMessageMoveTaskInput{
		SourceArn: ptr(arn("dead")), DestinationArn: ptr(arn("other")),
	}); err != nil {
		t.Fatal(err)
	}
	if task := r.awaitTask("dead", moveCompleted); *task.DestinationArn != arn("other") {
		t.Errorf("the task is %+v", task)
	}
	if ms := r.receive(other, 10); len(ms) != 3 {
		t.Errorf("%d messages", len(ms))
	}
}

func TestATaskWithARateIsUnderWayAndCanBeCancelled(t *testing.T) {
	r := newRig(t)
	r.queue("dead")
	r.bury(r.queue("news", "RedrivePolicy", redrive("dead", 1)), "dead", 5)
	in := &client.StartMessageMoveTaskInput{SourceArn: ptr(arn("dead")), MaxNumberOfMessagesPerSecond: ptr(int32(1))}
	started, err := r.client.StartMessageMoveTask(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.client.StartMessageMoveTask(t.Context(), in)
	wantCode(t, err, invalidValue)
	task := r.awaitTask("dead", moveRunning)
	if task.TaskHandle == nil || *task.TaskHandle != *started.TaskHandle || *task.MaxNumberOfMessagesPerSecond != 1 {
		t.Errorf("the task is %+v", task)
	}
	if _, err := r.client.CancelMessageMoveTask(t.Context(), &client.CancelMessageMoveTaskInput{
		TaskHandle: started.TaskHandle,
	}); err != nil {
		t.Fatal(err)
	}
	if task = r.tasks("dead")[0]; *task.Status != moveCancelled || task.ApproximateNumberOfMessagesMoved > 4 {
		t.Errorf("the task is %+v", task)
	}
}

func TestADeletedQueuesTasksEndAndAreForgotten(t *testing.T) {
	r := newRig(t)
	dead := r.queue("dead")
	r.bury(r.queue("news", "RedrivePolicy", redrive("dead", 1)), "dead", 5)
	if _, err := r.client.StartMessageMoveTask(t.Context(), &client.StartMessageMoveTaskInput{
		SourceArn: ptr(arn("dead")), MaxNumberOfMessagesPerSecond: ptr(int32(1)),
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.DeleteQueue(t.Context(), &client.DeleteQueueInput{QueueUrl: &dead}); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(time.Minute)
	r.queue("dead")
	if ts := r.tasks("dead"); len(ts) != 0 {
		t.Errorf("the next queue of its name has tasks: %v", ts)
	}
}

func TestATaskGoesOnAfterARestart(t *testing.T) {
	dir, clock := t.TempDir(), new(fakeClock)
	s, stop := openStore(t, dir, clock.now, queue.Limits{})
	r := newRigOver(t, Config{}, nil, s, clock)
	r.queue("dead")
	r.bury(r.queue("news", "RedrivePolicy", redrive("dead", 1)), "dead", 3)
	if _, err := r.client.StartMessageMoveTask(t.Context(), &client.StartMessageMoveTaskInput{
		SourceArn: ptr(arn("dead")), MaxNumberOfMessagesPerSecond: ptr(int32(2)),
	}); err != nil {
		t.Fatal(err)
	}
	r.close()
	stop()
	s, stop = openStore(t, dir, clock.now, queue.Limits{})
	t.Cleanup(stop)
	next := newRigOver(t, Config{}, nil, s, clock)
	if task := next.awaitTask("dead", moveCompleted); task.ApproximateNumberOfMessagesMoved != 3 {
		t.Errorf("the task is %+v", task)
	}
	next.awaitReady("news", 3)
}

func TestATaskFailsWhenNobodyKnowsWhereLettersCameFrom(t *testing.T) {
	r := newRig(t)
	dead := r.queue("dead")
	r.queue("news", "RedrivePolicy", redrive("dead", 1))
	r.send(dead, "sent here by hand")
	if _, err := r.client.StartMessageMoveTask(t.Context(), &client.StartMessageMoveTaskInput{
		SourceArn: ptr(arn("dead")),
	}); err != nil {
		t.Fatal(err)
	}
	if task := r.awaitTask("dead", moveFailed); task.FailureReason == nil || *task.FailureReason == "" {
		t.Errorf("the task is %+v", task)
	}
	r.wantLeft("dead", 1)
}

// handleOf is a task handle as the service writes it.
func handleOf(id, source string) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"taskId":%q,"sourceArn":%q}`, id, arn(source)))
}

func TestAQueueMayBeItsOwnDeadLetterQueue(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	if _, err := r.client.SetQueueAttributes(t.Context(), &client.SetQueueAttributesInput{
		QueueUrl: &url, Attributes: map[string]string{"RedrivePolicy": redrive("news", 2)},
	}); err != nil {
		t.Fatal(err)
	}
	if got := r.attributes(url)["RedrivePolicy"]; !strings.Contains(got, arn("news")) ||
		!strings.Contains(got, `"maxReceiveCount":2`) {
		t.Errorf("the policy is %s", got)
	}
	r.send(url, "hello")
	for n := range 4 {
		if m := r.one(url); m.Attributes["ApproximateReceiveCount"] != strconv.Itoa(n+1) {
			t.Errorf("receive %d is counted as %s", n+1, m.Attributes["ApproximateReceiveCount"])
		}
		r.clock.pass(31 * time.Second)
	}
	out, err := r.client.ListDeadLetterSourceQueues(
		t.Context(),
		&client.ListDeadLetterSourceQueuesInput{QueueUrl: &url},
	)
	if err != nil || len(out.QueueUrls) != 1 || out.QueueUrls[0] != url {
		t.Errorf("its sources are %v, %v", out, err)
	}
}

func TestATaskFailsWhenItsDestinationIsDeleted(t *testing.T) {
	r := newRig(t)
	url, to := r.queue("news", "RedrivePolicy", redrive(r.dead("dead"), 1)), r.queue("to")
	r.bury(url, "dead", 50) // at one a second they outlast the deletion, however slow it is
	in := &client.StartMessageMoveTaskInput{
		SourceArn:                    ptr(arn("dead")),
		DestinationArn:               ptr(arn("to")),
		MaxNumberOfMessagesPerSecond: ptr(int32(1)),
	}
	if _, err := r.client.StartMessageMoveTask(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.DeleteQueue(t.Context(), &client.DeleteQueueInput{QueueUrl: &to}); err != nil {
		t.Fatal(err)
	}
	if task := r.awaitTask("dead", moveFailed); *task.FailureReason != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("the task failed for %s", *task.FailureReason)
	}
	if _, _, err := r.store.Definition(t.Context(), queue.Name{Namespace: "default", Name: "to"}); err == nil {
		t.Error("the task has made the queue again")
	}
}

// dead makes a queue for dead letters.
func (r *rig) dead(name string) string {
	r.queue(name)
	return name
}

func TestTasksThatCannotBeAreRefused(t *testing.T) {
	r := newRig(t)
	r.queue("plain")
	r.queue("dead")
	r.queue("jobs.fifo")
	r.queue("news", "RedrivePolicy", redrive("dead", 1))
	for name, c := range map[string]struct {
		in   client.StartMessageMoveTaskInput
		want string
	}{
		"not an ARN": {client.StartMessageMoveTaskInput{SourceArn: ptr("dead")}, invalidValue},
		"no such source": {client.StartMessageMoveTaskInput{
			SourceArn: ptr(arn("none")),
		}, "ResourceNotFoundException"},
		"nobody's dead letters": {client.StartMessageMoveTaskInput{SourceArn: ptr(arn("plain"))}, invalidValue},
		"no such destination": {client.StartMessageMoveTaskInput{
			SourceArn: ptr(arn("dead")), DestinationArn: ptr(arn("none")),
		}, "ResourceNotFoundException"},
		"to itself": {client.StartMessageMoveTaskInput{
			SourceArn: ptr(arn("dead")), DestinationArn: ptr(arn("dead")),
		}, invalidValue},
		"to a queue of another type": {client.StartMessageMoveTaskInput{
			SourceArn: ptr(arn("dead")), DestinationArn: ptr(arn("jobs.fifo")),
		}, invalidValue},
		"too fast": {client.StartMessageMoveTaskInput{
			SourceArn: ptr(arn("dead")), MaxNumberOfMessagesPerSecond: ptr(int32(501)),
		}, invalidValue},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.client.StartMessageMoveTask(t.Context(), &c.in)
			wantCode(t, err, c.want)
		})
	}
	_, err := r.client.CancelMessageMoveTask(t.Context(), &client.CancelMessageMoveTaskInput{TaskHandle: ptr("x")})
	wantCode(t, err, invalidValue)
	_, err = r.client.CancelMessageMoveTask(
		t.Context(),
		&client.CancelMessageMoveTaskInput{TaskHandle: ptr(handleOf(message.NewID().String(), "dead"))},
	)
	wantCode(t, err, "ResourceNotFoundException")
	_, err = r.client.CancelMessageMoveTask(
		t.Context(),
		&client.CancelMessageMoveTaskInput{TaskHandle: ptr(handleOf(message.NewID().String(), "none"))},
	)
	wantCode(t, err, "ResourceNotFoundException")
}
