package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// endurance is what a program has seen while the server was killed again and again.
type endurance struct {
	mu        sync.Mutex
	received  map[string]bool // texts
	confirmed map[string]bool // ids whose acknowledgement was confirmed
	doubled   []string        // ids that came after that
	begun     chan struct{}
}

// shortest is the shortest deadline that the library sets.
const shortest = 10 * time.Second

// take handles a message.
func (e *endurance) take(ctx context.Context, m *pubsub.Message) {
	e.mu.Lock()
	if e.confirmed[m.ID] {
		e.doubled = append(e.doubled, m.ID)
	}
	e.mu.Unlock()
	answer, err := m.AckWithResult().Get(context.WithoutCancel(ctx))
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil && answer == pubsub.AcknowledgeStatusSuccess {
		e.confirmed[m.ID] = true
	}
	if len(e.received) == 0 {
		close(e.begun)
	}
	e.received[string(m.Data)] = true
}

// lacking is how many of n texts were not received.
func (e *endurance) lacking(n int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return n - len(e.received)
}

// endure publishes and receives until it is told to stop, and then until all has come.
func (s *session) endure(c *checks) {
	e := &endurance{received: map[string]bool{}, confirmed: map[string]bool{}, begun: make(chan struct{})}
	ctx, stop := context.WithCancel(s.ctx)
	over := make(chan error, 1)
	published := 0
	c.check("all-published", func() error {
		if err := s.make("endure",
			func(sub *pubsubpb.Subscription) { sub.EnableExactlyOnceDelivery = true }); err != nil {
			return err
		}
		subscriber := s.client.Subscriber("endure")
		// A message that was on its way when the server was killed comes again after that long; the library's own
		// choice is a minute.
		subscriber.ReceiveSettings.MinDurationPerAckExtension = shortest
		subscriber.ReceiveSettings.MaxDurationPerAckExtension = shortest
		go func() { over <- subscriber.Receive(ctx, e.take) }()
		go func() {
			<-e.begun
			// without it the test says that we did not begin
			_ = os.WriteFile(filepath.Join(os.Getenv("CLIENT_SIGNALS"), s.project), nil, 0o600)
		}()
		p := s.client.Publisher("endure")
		defer p.Stop()
		var results []*pubsub.PublishResult
		for ; !told(); published++ {
			results = append(results, p.Publish(s.ctx, &pubsub.Message{Data: []byte(fmt.Sprint(published))}))
			<-time.After(20 * time.Millisecond)
		}
		var err error
		for _, r := range results {
			_, failed := r.Get(s.ctx)
			err = errors.Join(err, failed)
		}
		return err
	})
	c.check("nothing-lost", func() error {
		late := time.After(2 * patience)
		for {
			lacking := e.lacking(published)
			if lacking == 0 {
				break
			}
			select {
			case err := <-over:
				return fmt.Errorf("receiving ended: %w", err)
			case <-late:
				return fmt.Errorf("%d of %d did not come", lacking, published)
			case <-time.After(20 * time.Millisecond):
			}
		}
		stop()
		return <-over
	})
	c.check("nothing-doubled", func() error { return same([]string(nil), e.doubled) })
	stop()
}

// told tells whether the test wants an end.
func told() bool {
	_, err := os.Stat(filepath.Join(os.Getenv("CLIENT_SIGNALS"), "stop"))
	return err == nil
}
