package publisher

import (
	"unicode/utf8"

	"cloud.google.com/go/pubsub/v2"
	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields of google.pubsub.v1.PublishRequest and PubsubMessage.
const (
	requestTopic    protowire.Number = 1
	requestMessages protowire.Number = 2

	messageData       protowire.Number = 1
	messageAttributes protowire.Number = 2
	messageKey        protowire.Number = 5

	entryName  protowire.Number = 1
	entryValue protowire.Number = 2
)

// sizeOf returns how many bytes a message is when encoded, without what frames it in a request.
func sizeOf(m *pubsub.Message) (n int, err error) {
	if len(m.Data) > 0 {
		n += fieldSize(len(m.Data))
	}
	for name, value := range m.Attributes {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return 0, ErrInvalidText
		}
		n += fieldSize(entrySize(name, value))
	}
	if m.OrderingKey != "" {
		if !utf8.ValidString(m.OrderingKey) {
			return 0, ErrInvalidText
		}
		n += fieldSize(len(m.OrderingKey))
	}
	return n, nil
}

// fieldSize is the size of a field with so many bytes in it. Every field here has a number below 16, so its tag is one
// byte.
func fieldSize(n int) int { return 1 + protowire.SizeBytes(n) }

func entrySize(name, value string) int { return fieldSize(len(name)) + fieldSize(len(value)) }

// appendTopic begins a request.
func appendTopic(b []byte, topic string) []byte { return appendText(b, requestTopic, topic) }

// appendMessage adds a message, the size of which is known, to a request.
func appendMessage(b []byte, m *pubsub.Message, size int) []byte {
	b = protowire.AppendTag(b, requestMessages, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	if len(m.Data) > 0 {
		b = protowire.AppendTag(b, messageData, protowire.BytesType)
		b = protowire.AppendBytes(b, m.Data)
	}
	for name, value := range m.Attributes {
		b = protowire.AppendTag(b, messageAttributes, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(entrySize(name, value)))
		b = appendText(b, entryName, name)
		b = appendText(b, entryValue, value)
	}
	if m.OrderingKey != "" {
		b = appendText(b, messageKey, m.OrderingKey)
	}
	return b
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendString(b, s)
}
