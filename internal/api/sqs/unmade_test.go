package sqs

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"

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
	if _, ok := s.Note(room, noteKey(queue.Name{Namespace: "default", Name: "two"})); ok {
		t.Error("the note of the queue that was refused is left")
	}
}
