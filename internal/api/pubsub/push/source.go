package push

import (
	"context"
	"time"
)

// Message is one delivery of a message. The package changes nothing of it.
type Message struct {
	ID          string
	Data        []byte
	Attributes  map[string]string
	OrderingKey string // "" for none
	PublishTime time.Time
	// Attempt is shown as deliveryAttempt, from 1; 0 shows none. Google shows it for subscriptions with dead letters.
	Attempt int
	// Deadline is when the message goes to somebody else unless it was extended or ended.
	Deadline time.Time
	// Claim is the source's own.
	Claim any
}

// Source is where a Pusher takes messages from. Claim is called by one goroutine at a time, the others by many. Their
// contexts do not end when the Pusher stops, but after some seconds. Errors are reported and change nothing: what could
// not be ended comes again.
type Source interface {
	// Claim returns at least one message and at most max, and waits for the first one until ctx ends. Those with one
	// ordering key come in order; none of a key comes while another Claim's message of the key is not ended.
	Claim(ctx context.Context, max int) ([]Message, error)
	// Ack ends a message that was delivered.
	Ack(ctx context.Context, m Message) error
	// Nack gives back a message that was not taken, and those of its ordering key that were claimed after it.
	Nack(ctx context.Context, m Message) error
	// Return gives back a message that was not sent, as if it had never been claimed.
	Return(ctx context.Context, m Message) error
	// Extend moves the deadline of a message to the subscription's acknowledgement deadline from now, and returns it.
	// An error means that the message is no longer the Pusher's.
	Extend(ctx context.Context, m Message) (time.Time, error)
}
