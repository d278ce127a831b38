package pubsub

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

func TestGooglesClientPublishesAndReceives(t *testing.T) {
	r := newRig(t)
	c := r.google()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := c.TopicAdminClient.CreateTopic(ctx, &pubsubpb.Topic{Name: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SubscriptionAdminClient.CreateSubscription(ctx, &pubsubpb.Subscription{Name: subscriptionName("readers"), Topic: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	const n = 2000
	p := c.Publisher("news")
	var sent []*client.PublishResult
	for i := range n {
		sent = append(sent, p.Publish(ctx, &client.Message{Data: fmt.Append(nil, i), Attributes: map[string]string{"n": fmt.Sprint(i), "a": "b"}}))
	}
	ids := map[string]string{}
	for i, s := range sent {
		id, err := s.Get(ctx)
		if err != nil {
			t.Fatal(err)
		}
		ids[id] = fmt.Sprint(i)
	}
	p.Stop()
	var mu sync.Mutex
	got := map[string]int{}
	ctx, done := context.WithCancel(ctx)
	err := c.Subscriber("readers").Receive(ctx, func(_ context.Context, m *client.Message) {
		mu.Lock()
		defer mu.Unlock()
		if ids[m.ID] != string(m.Data) || m.Attributes["n"] != string(m.Data) || m.Attributes["a"] != "b" || time.Since(m.PublishTime) > time.Minute {
			t.Errorf("message %s is %q with %v at %v", m.ID, m.Data, m.Attributes, m.PublishTime)
		}
		got[m.ID]++
		m.Ack()
		if len(got) == n {
			done()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != n {
		t.Errorf("%d messages came of %d", len(got), n)
	}
	for id, times := range got {
		if times != 1 {
			t.Errorf("message %s came %d times", id, times)
		}
	}
	if s, err := r.store.Stats(r.door.store.Resolve(resource{"local", "", "readers"}.name())); err != nil || s.Messages() != 0 {
		t.Errorf("%d messages are left, %v", s.Messages(), err)
	}
}
