package publisher

import (
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// request is messages in a row, encoded once however often they are sent. It is the codec of its own call: gRPC asks it
// for the bytes.
type request struct {
	topic      string
	first      *PublishResult
	count      int
	buffer     mem.Buffer
	compressed bool
}

var (
	_ encoding.CodecV2 = (*request)(nil)
	// plain is what gRPC itself uses. Importing its package is what registers it.
	plain = encoding.GetCodecV2(proto.Name)
)

// newRequest encodes count messages from first on. Free gives the bytes back.
func newRequest(topic string, first *PublishResult, count int) *request {
	size := fieldSize(len(topic))
	for r, i := first, 0; i < count; r, i = r.next, i+1 {
		size += fieldSize(int(r.size))
	}
	pool := mem.DefaultBufferPool()
	bytes := pool.Get(size)
	b := appendTopic((*bytes)[:0], topic)
	for r, i := first, 0; i < count; r, i = r.next, i+1 {
		b = appendMessage(b, r.msg, int(r.size))
	}
	*bytes = b
	return &request{topic: topic, first: first, count: count, buffer: mem.NewBuffer(bytes, pool)}
}

func (r *request) free() { r.buffer.Free() }

// envelope is what interceptors see in place of the messages, which are encoded already.
func (r *request) envelope() *pubsubpb.PublishRequest {
	return &pubsubpb.PublishRequest{Topic: r.topic}
}

// message is the whole request, for transports other than gRPC.
func (r *request) message() *pubsubpb.PublishRequest {
	req := r.envelope()
	req.Messages = make([]*pubsubpb.PubsubMessage, 0, r.count)
	for m, i := r.first, 0; i < r.count; m, i = m.next, i+1 {
		req.Messages = append(req.Messages, &pubsubpb.PubsubMessage{
			Data: m.msg.Data, Attributes: m.msg.Attributes, OrderingKey: m.msg.OrderingKey,
		})
	}
	return req
}

// Marshal implements encoding.CodecV2: whatever is to be sent, it is this request. The caller gets a reference of its
// own.
func (r *request) Marshal(any) (mem.BufferSlice, error) {
	r.buffer.Ref()
	return mem.BufferSlice{r.buffer}, nil
}

// Unmarshal implements encoding.CodecV2.
func (r *request) Unmarshal(data mem.BufferSlice, v any) error { return plain.Unmarshal(data, v) }

// Name implements encoding.CodecV2.
func (r *request) Name() string { return proto.Name }
