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
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if _, err := c.TopicAdminClient.CreateTopic(ctx, &pubsubpb.Topic{Name: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SubscriptionAdminClient.CreateSubscription(ctx,
		&pubsubpb.Subscription{Name: subscriptionName("readers"), Topic: topicName("news")}); err != nil {
		t.Fatal(err)
	}
	const n = 2000
	p := c.Publisher("news")
	var sent []*client.PublishResult
	for i := range n {
		sent = append(sent, p.Publish(ctx,
			&client.Message{Data: fmt.Append(nil, i), Attributes: map[string]string{"n": fmt.Sprint(i), "a": "b"}}))
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
		if ids[m.ID] != string(m.Data) || m.Attributes["n"] != string(m.Data) || m.Attributes["a"] != "b" ||
			time.Since(m.PublishTime) > time.Minute {
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
	readers := r.door.store.Resolve(resource{"local", "", "readers"}.name())
	if s, err := r.store.Stats(t.Context(), readers); err != nil ||
		s.Messages() != 0 {
		t.Errorf("%d messages are left, %v", s.Messages(), err)
	}
}

func TestGooglesClientReceivesExactlyOnceInOrder(t *testing.T) {
	r := newRig(t)
	c := r.google()
	r.subscribe("news", func(s *pubsubpb.Subscription) {
		s.EnableExactlyOnceDelivery, s.EnableMessageOrdering = true,
			true
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	p := c.Publisher("news")
	p.EnableMessageOrdering = true
	const keys, each = 5, 10
	for i := range each {
		for k := range keys {
			p.Publish(ctx, &client.Message{Data: fmt.Append(nil, i), OrderingKey: fmt.Sprint(k)})
		}
	}
	p.Flush()
	var mu sync.Mutex
	next, n := map[string]int{}, 0
	ctx, done := context.WithCancel(ctx)
	err := c.Subscriber("news").Receive(ctx, func(ctx context.Context, m *client.Message) {
		mu.Lock()
		if want := fmt.Sprint(next[m.OrderingKey]); string(m.Data) != want {
			t.Errorf("key %s: %s came, not %s", m.OrderingKey, m.Data, want)
		}
		next[m.OrderingKey]++
		mu.Unlock()
		status, err := m.AckWithResult().Get(context.WithoutCancel(ctx))
		if err != nil || status != client.AcknowledgeStatusSuccess {
			t.Errorf("key %s, %s: the acknowledgement is answered %v, %v", m.OrderingKey, m.Data, status, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if n++; n == keys*each {
			done()
		}
	})
	if err != nil || n != keys*each {
		t.Errorf("%d messages came, %v", n, err)
	}
	r.left("news", 0)
}

// TestClientsComeBackToADoorThatWasClosed closes the door and opens another one at its address while messages flow.
func TestClientsComeBackToADoorThatWasClosed(t *testing.T) {
	r := newRig(t)
	r.subscribe("news", func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = true })
	c := r.google()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	const n = 300
	published := make(chan struct{})
	go func() {
		defer close(published)
		p := c.Publisher("news")
		defer p.Stop()
		for i := range n {
			if _, err := p.Publish(ctx, &client.Message{Data: fmt.Append(nil, i)}).Get(ctx); err != nil {
				t.Error(err)
				return
			}
			if i == n/3 {
				r.reopen()
			}
		}
	}()
	var mu sync.Mutex
	confirmed := map[string]bool{}
	receiving, done := context.WithCancel(ctx)
	defer done()
	err := c.Subscriber("news").Receive(receiving, func(ctx context.Context, m *client.Message) {
		mu.Lock()
		if confirmed[m.ID] {
			t.Errorf("%s came after its acknowledgement was confirmed", m.Data)
		}
		mu.Unlock()
		if _, err := m.AckWithResult().Get(context.WithoutCancel(ctx)); err != nil {
			return // its deadline has passed: it comes again
		}
		mu.Lock()
		defer mu.Unlock()
		confirmed[m.ID] = true
		if len(confirmed) == n {
			done()
		}
	})
	<-published
	if err != nil || len(confirmed) != n {
		t.Errorf("%d messages came, %v", len(confirmed), err)
	}
}

// reopen closes the door and opens another one at its address.
func (r *rig) reopen() {
	r.close()
	d, err := New(Config{Listen: r.addr},
		Options{Store: r.store, Report: func(err error) { r.t.Error("reported:", err) }})
	if err != nil {
		r.t.Error(err)
		return
	}
	if _, err := d.Start(r.t.Context()); err != nil {
		r.t.Error(err)
	}
	r.door = d
}
