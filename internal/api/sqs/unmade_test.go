package sqs

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestAQueueThatIsRefusedLeavesNoSettings: they would be in force when another door makes a queue of that name.
func TestAQueueThatIsRefusedLeavesNoSettings(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{Queues: 1})
	t.Cleanup(stop)
	r := newRigOver(t, Config{}, nil, s, clock)
	for i, name := range []string{"one", "two"} {
		_, err := r.client.CreateQueue(t.Context(), &client.CreateQueueInput{QueueName: aws.String(name)})
		if (err == nil) != (i == 0) {
			t.Errorf("queue %s: %v", name, err)
		}
	}
	if _, ok, _ := s.Note(t.Context(), room, noteKey(queue.Name{Namespace: "default", Name: "two"})); ok {
		t.Error("the note of the queue that was refused is left")
	}
}

// TestAttributesThatAreRefusedChangeNothing: neither those that the store knows nor those that are noted beside it.
func TestAttributesThatAreRefusedChangeNothing(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{Memory: 16 << 10})
	t.Cleanup(stop)
	r := newRigOver(t, Config{}, nil, s, clock)
	made, err := r.client.CreateQueue(t.Context(), &client.CreateQueueInput{QueueName: aws.String("one")})
	if err != nil {
		t.Fatal(err)
	}
	policy := `{"Version": "2012-10-17", "Id": "` + strings.Repeat("x", 4<<10) + `", "Statement": []}`
	for n := 0; err == nil; n++ { // until the memory is full
		err = s.SetNotes(t.Context(), queue.Note{Room: "others", Key: strconv.Itoa(n), Value: make([]byte, 1<<10)})
	}
	_, err = r.client.SetQueueAttributes(t.Context(), &client.SetQueueAttributesInput{QueueUrl: made.QueueUrl,
		Attributes: map[string]string{"VisibilityTimeout": "77", "Policy": policy}})
	if err == nil {
		t.Error("there was room for the policy")
	}
	got, err := r.client.GetQueueAttributes(t.Context(), &client.GetQueueAttributesInput{QueueUrl: made.QueueUrl,
		AttributeNames: []types.QueueAttributeName{"VisibilityTimeout", "Policy"}})
	if err != nil || got.Attributes["VisibilityTimeout"] != "30" || got.Attributes["Policy"] != "" {
		t.Errorf("%v, %v", got.Attributes["VisibilityTimeout"], err)
	}
}
