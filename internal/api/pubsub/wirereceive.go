package pubsub

import (
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hikyaku/hikyaku/internal/message"
)

// delivery is one ReceivedMessage as it will be written.
type delivery struct {
	ackID   string
	id      message.ID
	body    []byte
	attrs   []textAttribute
	key     string
	time    time.Time
	attempt int // 0: not shown

	inner int // size of the PubsubMessage within
	size  int // of the whole, without its tag and length
}

// textAttribute is an attribute as Pub/Sub knows them.
type textAttribute struct{ name, value string }

const idLength = 36 // of a message's id as text

// sized is the size of a field of n bytes, with a number below 16.
func sized(n int) int { return 1 + protowire.SizeBytes(n) }

// measure computes the sizes.
func (x *delivery) measure() {
	n := sized(idLength) + sized(x.timeSize())
	if len(x.body) > 0 {
		n += sized(len(x.body))
	}
	for _, a := range x.attrs {
		n += sized(sized(len(a.name)) + sized(len(a.value)))
	}
	if x.key != "" {
		n += sized(len(x.key))
	}
	x.inner = n
	x.size = sized(len(x.ackID)) + sized(n)
	if x.attempt > 0 {
		x.size += 1 + protowire.SizeVarint(uint64(x.attempt))
	}
}

func (x *delivery) timeSize() int {
	n := 1 + protowire.SizeVarint(uint64(x.time.Unix()))
	if nanos := x.time.Nanosecond(); nanos != 0 {
		n += 1 + protowire.SizeVarint(uint64(nanos))
	}
	return n
}

// append writes the message as field 1 of a response, where PullResponse and StreamingPullResponse have it.
func (x *delivery) append(b []byte) []byte {
	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(x.size))
	b = appendText(b, 1, x.ackID)
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(x.inner))
	if len(x.body) > 0 {
		b = protowire.AppendTag(b, 1, protowire.BytesType)
		b = protowire.AppendBytes(b, x.body)
	}
	for _, a := range x.attrs {
		b = protowire.AppendTag(b, 2, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(sized(len(a.name))+sized(len(a.value))))
		b = appendText(b, 1, a.name)
		b = appendText(b, 2, a.value)
	}
	b = protowire.AppendTag(b, 3, protowire.BytesType)
	b = protowire.AppendVarint(b, idLength)
	b = appendID(b, x.id)
	b = protowire.AppendTag(b, 4, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(x.timeSize()))
	b = protowire.AppendTag(b, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(x.time.Unix()))
	if nanos := x.time.Nanosecond(); nanos != 0 {
		b = protowire.AppendTag(b, 2, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(nanos))
	}
	if x.key != "" {
		b = appendText(b, 5, x.key)
	}
	if x.attempt > 0 {
		b = protowire.AppendTag(b, 3, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(x.attempt))
	}
	return b
}

func appendText(b []byte, number protowire.Number, s string) []byte {
	b = protowire.AppendTag(b, number, protowire.BytesType)
	return protowire.AppendString(b, s)
}

const hexDigits = "0123456789abcdef"

// appendID writes an id in its usual form.
func appendID(b []byte, id message.ID) []byte {
	for i, x := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b = append(b, '-')
		}
		b = append(b, hexDigits[x>>4], hexDigits[x&15])
	}
	return b
}

// appendProperties writes the SubscriptionProperties of a StreamingPullResponse, as its field 4.
func appendProperties(b []byte, exactlyOnce, ordered bool) []byte {
	var inner []byte
	if exactlyOnce {
		inner = append(inner, 1<<3, 1)
	}
	if ordered {
		inner = append(inner, 2<<3, 1)
	}
	b = protowire.AppendTag(b, 4, protowire.BytesType)
	return protowire.AppendBytes(b, inner)
}

// receivedFrame is a response with the deliveries; with properties, one of a stream.
func receivedFrame(ds []delivery, properties []byte) *frame {
	size := len(properties)
	for i := range ds {
		size += sized(ds[i].size)
	}
	return newFrame(size, func(b []byte) []byte {
		for i := range ds {
			b = ds[i].append(b)
		}
		return append(b, properties...)
	})
}

// idsFrame is a PublishResponse.
func idsFrame(ids []message.ID) *frame {
	return newFrame(len(ids)*sized(idLength), func(b []byte) []byte {
		for _, id := range ids {
			b = append(b, 1<<3|byte(protowire.BytesType), idLength)
			b = appendID(b, id)
		}
		return b
	})
}

// text is s as a string of Protocol Buffers can hold it.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
