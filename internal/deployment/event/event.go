// Package event makes the events that functions are given of messages, in the shapes that the providers' sources have,
// and reads which messages a function says to have failed.
//
//	payload, err := event.SQS(event.Batch{Messages: messages, ARN: arn})
//	failed, err := event.Failed(answer, messages)
//
// It knows no function and no queue.
package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// MaxBytes is how large the messages of one batch are together, at most: an event has at most 6 MiB, and texts grow
// when they become JSON.
const MaxBytes = 4 << 20

// Shape is what an event looks like.
type Shape string

// The shapes. Raw and PubSub have one message, SQS and DynamoDB a list of records.
const (
	ShapeSQS      Shape = "sqs"
	ShapePubSub   Shape = "pubsub"
	ShapeDynamoDB Shape = "dynamodb"
	ShapeRaw      Shape = "raw"
)

// Lone tells whether events of the shape have one message each.
func (s Shape) Lone() bool { return s == ShapePubSub || s == ShapeRaw }

// Batch are messages and where they come from.
type Batch struct {
	Messages []*message.Message
	Attempts []int // of each message, from 1; nil: all are in their first
	// Sequences are the messages' places in their queue, from 1; nil: they are not known.
	Sequences []uint64
	ARN       string // of the source: its last part is the queue's name
	Region    string
	// Bodies are what the messages' bodies are shown as; nil: Message.Body. Queues with columns need it.
	Bodies [][]byte
}

func (b *Batch) body(i int) []byte {
	if b.Bodies != nil {
		return b.Bodies[i]
	}
	return b.Messages[i].Body
}

func (b *Batch) attempt(i int) int {
	if i < len(b.Attempts) {
		return b.Attempts[i]
	}
	return 1
}

// Make makes an event of a shape.
func Make(s Shape, b Batch) ([]byte, error) {
	if s.Lone() && len(b.Messages) != 1 {
		return nil, fmt.Errorf("an event of shape %s has one message, not %d", s, len(b.Messages))
	}
	switch s {
	case ShapeSQS:
		return SQS(b)
	case ShapeDynamoDB:
		return dynamoDB(b)
	case ShapePubSub:
		return pubSub(b)
	case ShapeRaw:
		return raw(b.body(0))
	}
	return nil, fmt.Errorf("there is no event of shape %q", string(s))
}

// raw is the body if it is JSON, and as a string of JSON else.
func raw(body []byte) ([]byte, error) {
	if json.Valid(body) {
		return body, nil
	}
	return json.Marshal(strings.ToValidUTF8(string(body), "\uFFFD"))
}

// Failed reads the answer of a function that says which messages of a batch have failed: {"batchItemFailures":
// [{"itemIdentifier": ID}]}. The result are their places. An empty list, null or nothing at all means that none has. An
// answer that does not say it properly means that all have: the error says why.
func Failed(answer []byte, batch []*message.Message) (map[int]bool, error) {
	return failed(answer, batch, func(_ int, m *message.Message) string { return m.ID.String() })
}

// FailedRecords is Failed for events of a shape.
func FailedRecords(s Shape, answer []byte, batch []*message.Message) (map[int]bool, error) {
	if s == ShapeDynamoDB {
		return failed(answer, batch, func(i int, m *message.Message) string { return sequence(i, m) })
	}
	return Failed(answer, batch)
}

func failed(answer []byte, batch []*message.Message, id func(int, *message.Message) string) (map[int]bool, error) {
	answer = bytes.TrimSpace(answer)
	if len(answer) == 0 || string(answer) == "null" {
		return nil, nil
	}
	var said struct {
		Failures []struct {
			ID *string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return nil, fmt.Errorf("the function's answer is no batchItemFailures: %w", err)
	}
	at := make(map[string]int, len(batch))
	for i, m := range batch {
		at[id(i, m)] = i
	}
	places := make(map[int]bool, len(said.Failures))
	for _, f := range said.Failures {
		if f.ID == nil || *f.ID == "" {
			return nil, errors.New("batchItemFailures has an entry without itemIdentifier")
		}
		i, ok := at[*f.ID]
		if !ok {
			return nil, fmt.Errorf("batchItemFailures names %q, which is not in the batch", *f.ID)
		}
		places[i] = true
	}
	return places, nil
}
