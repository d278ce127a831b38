package pubsub

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// codec reads and writes messages of gRPC. The generated types go the usual way; those that are sent all day have types
// of their own, which are read where they lie (wireReader) and written once (frame).
type codec struct{}

// wireReader is a request that reads itself.
type wireReader interface {
	// readWire reads the encoded form. data is the request's own from then on.
	readWire(data []byte) error
}

// frame is an encoded response.
type frame struct{ data mem.BufferSlice }

// newFrame makes a frame of size bytes; write appends them.
func newFrame(size int, write func([]byte) []byte) *frame {
	if mem.IsBelowBufferPoolingThreshold(size) {
		return &frame{mem.BufferSlice{mem.SliceBuffer(write(make([]byte, 0, size)))}}
	}
	pool := mem.DefaultBufferPool()
	buf := pool.Get(size)
	*buf = write((*buf)[:0])
	return &frame{mem.BufferSlice{mem.NewBuffer(buf, pool)}}
}

// Name is that of the codec of Protocol Buffers: it is one.
func (codec) Name() string { return proto.Name }

// Marshal encodes a message.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	if f, ok := v.(*frame); ok {
		return f.data, nil
	}
	return encoding.GetCodecV2(proto.Name).Marshal(v)
}

// Unmarshal decodes a message.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(wireReader)
	if !ok {
		return encoding.GetCodecV2(proto.Name).Unmarshal(data, v)
	}
	if err := r.readWire(data.Materialize()); err != nil {
		return fmt.Errorf("cannot read the request: %w", err)
	}
	return nil
}
