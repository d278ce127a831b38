package sqs

import (
	"fmt"
	"sync"
	"testing"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// newPair opens two doors over one store, as those of two processes would be: neither knows of the other.
func newPair(t *testing.T) (a, b *rig) {
	t.Helper()
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	return newRigOver(t, Config{}, nil, s, clock), newRigOver(t, Config{}, nil, s, clock)
}

// TestNoChangeOfAQueueIsLostBetweenTwoDoors: a door that has read a queue changes it after another one has, and both
// changes are there: tags, attributes and permissions.
func TestNoChangeOfAQueueIsLostBetweenTwoDoors(t *testing.T) {
	ctx := t.Context()
	a, b := newPair(t)
	url := ptr(a.queue("news"))
	read := func(r *rig) map[string]string {
		t.Helper()
		out, err := r.client.GetQueueAttributes(ctx, &client.GetQueueAttributesInput{QueueUrl: url,
			AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
		if err != nil {
			t.Fatal(err)
		}
		return out.Attributes
	}
	set := func(r *rig, name, value string) error {
		_, err := r.client.SetQueueAttributes(ctx, &client.SetQueueAttributesInput{QueueUrl: url,
			Attributes: map[string]string{name: value}})
		return err
	}
	for i, change := range []func(*rig, int) error{
		func(r *rig, n int) error {
			_, err := r.client.TagQueue(ctx, &client.TagQueueInput{QueueUrl: url,
				Tags: map[string]string{fmt.Sprint(n): "x"}})
			return err
		},
		func(r *rig, n int) error {
			return set(r, []string{"VisibilityTimeout", "DelaySeconds"}[n], "77")
		},
		func(r *rig, n int) error {
			return set(r, []string{"ReceiveMessageWaitTimeSeconds", "MaximumMessageSize"}[n], []string{"7", "2048"}[n])
		},
		func(r *rig, n int) error {
			_, err := r.client.AddPermission(ctx, &client.AddPermissionInput{QueueUrl: url,
				Label: ptr(fmt.Sprint("label", n)), Actions: []string{"*"}, AWSAccountIds: []string{"123456789012"}})
			return err
		},
	} {
		for _, r := range []*rig{a, b} {
			read(r)
		}
		for n, r := range []*rig{a, b} {
			if err := change(r, n); err != nil {
				t.Errorf("change %d by door %d: %v", i, n, err)
			}
			if n == 0 {
				read(a) // which shows later what b has changed since
			}
		}
	}
	tags, err := a.client.ListQueueTags(ctx, &client.ListQueueTagsInput{QueueUrl: url})
	if err != nil || len(tags.Tags) != 2 {
		t.Errorf("a tag is lost: %v, %v", tags, err)
	}
	now := read(a)
	for name, value := range map[string]string{"VisibilityTimeout": "77", "DelaySeconds": "77",
		"ReceiveMessageWaitTimeSeconds": "7", "MaximumMessageSize": "2048"} {
		if now[name] != value {
			t.Errorf("%s is %s, and was set to %s", name, now[name], value)
		}
	}
	p, err := readPolicy(now["Policy"], "")
	if err != nil || p.labelled("label0") < 0 || p.labelled("label1") < 0 {
		t.Errorf("a permission is lost: %v, %v", now["Policy"], err)
	}
}

// TestTwoDoorsMakeAQueueOnce: of two that make a queue at once with other tags, one does, and both answer its URL; and
// when one deletes it, what the other knew of it does not come back with the next of its name.
func TestTwoDoorsMakeAQueueOnce(t *testing.T) {
	ctx := t.Context()
	a, b := newPair(t)
	for n := range 10 {
		name := fmt.Sprint("news", n)
		var work sync.WaitGroup
		for i, r := range []*rig{a, b} {
			work.Go(func() {
				if _, err := r.client.CreateQueue(ctx, &client.CreateQueueInput{QueueName: &name,
					Tags: map[string]string{fmt.Sprint(i): "x"}}); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		url := ptr(a.base + "/000000000000/" + name)
		tags, err := a.client.ListQueueTags(ctx, &client.ListQueueTagsInput{QueueUrl: url})
		if err != nil || len(tags.Tags) != 1 {
			t.Errorf("the tags of one of two who made a queue: %v, %v", tags, err)
		}
		if _, err := b.client.DeleteQueue(ctx, &client.DeleteQueueInput{QueueUrl: url}); err != nil {
			t.Fatal(err)
		}
		a.queue(name)
		if tags, err = b.client.ListQueueTags(ctx, &client.ListQueueTagsInput{QueueUrl: url}); err != nil ||
			len(tags.Tags) != 0 {
			t.Errorf("the tags of a queue that was made anew: %v, %v", tags, err)
		}
	}
}

// TestATaskIsOneForTwoDoors: while a task is under way in one process, another one starts none of that queue, and
// cancels it as its own. Then it starts the next.
func TestATaskIsOneForTwoDoors(t *testing.T) {
	ctx := t.Context()
	a, b := newPair(t)
	a.queue("dead")
	a.bury(a.queue("news", "RedrivePolicy", redrive("dead", 1)), "dead", 5)
	in := &client.StartMessageMoveTaskInput{SourceArn: ptr(arn("dead")), MaxNumberOfMessagesPerSecond: ptr(int32(1))}
	started, err := a.client.StartMessageMoveTask(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.client.StartMessageMoveTask(ctx, in)
	wantCode(t, err, invalidValue)
	if _, err := b.client.CancelMessageMoveTask(ctx,
		&client.CancelMessageMoveTaskInput{TaskHandle: started.TaskHandle}); err != nil {
		t.Fatal(err)
	}
	ended := a.awaitTask("dead", moveCancelled)
	if ended.ApproximateNumberOfMessagesMoved > 4 {
		t.Errorf("a cancelled task moved %d messages", ended.ApproximateNumberOfMessagesMoved)
	}
	_, err = b.client.CancelMessageMoveTask(ctx, &client.CancelMessageMoveTaskInput{TaskHandle: started.TaskHandle})
	wantCode(t, err, "AWS.SimpleQueueService.UnsupportedOperation")
	if _, err := b.client.StartMessageMoveTask(ctx, &client.StartMessageMoveTaskInput{
		SourceArn: ptr(arn("dead"))}); err != nil {
		t.Fatal(err)
	}
	next := a.awaitTask("dead", moveCompleted)
	if sum := ended.ApproximateNumberOfMessagesMoved + next.ApproximateNumberOfMessagesMoved; sum != 5 {
		t.Errorf("two tasks moved %d of 5 messages", sum)
	}
}

// TestATaskThatTwoDoorsCarryCountsWhatBothMove: as after a restart of two processes, each of which takes it up.
func TestATaskThatTwoDoorsCarryCountsWhatBothMove(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	first := newRigOver(t, Config{}, nil, s, clock)
	first.queue("dead")
	first.bury(first.queue("news", "RedrivePolicy", redrive("dead", 1)), "dead", 9)
	if _, err := first.client.StartMessageMoveTask(t.Context(), &client.StartMessageMoveTaskInput{
		SourceArn: ptr(arn("dead")), MaxNumberOfMessagesPerSecond: ptr(int32(3))}); err != nil {
		t.Fatal(err)
	}
	first.close()
	newRigOver(t, Config{}, nil, s, clock)
	task := newRigOver(t, Config{}, nil, s, clock).awaitTask("dead", moveCompleted)
	if task.ApproximateNumberOfMessagesMoved > 9 {
		t.Errorf("of 9 messages %d were moved", task.ApproximateNumberOfMessagesMoved)
	}
	first.awaitReady("news", 9)
}
