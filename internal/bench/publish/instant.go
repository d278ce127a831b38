package publish

import (
	"context"
	"net"
	"strconv"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// instant is a Pub/Sub service that does nothing but to answer: it counts a request's messages and gives each an id.
// What a publisher costs shows best against it.
type instant struct {
	pubsubpb.UnimplementedPublisherServer
	ids    []string
	server *grpc.Server
	ended  chan error
}

// mostMessages is how many a request may have.
const mostMessages = 1000

func startInstant(l net.Listener) *instant {
	s := &instant{ended: make(chan error, 1)}
	for i := range mostMessages {
		s.ids = append(s.ids, strconv.Itoa(1_000_000+i))
	}
	// Its windows are wide, or a stream over a link would wait until they have grown.
	s.server = grpc.NewServer(grpc.ForceServerCodecV2(counting{encoding.GetCodecV2(proto.Name)}),
		grpc.MaxRecvMsgSize(20<<20),
		grpc.InitialWindowSize(4<<20), grpc.InitialConnWindowSize(16<<20))
	pubsubpb.RegisterPublisherServer(s.server, s)
	go func() { s.ended <- s.server.Serve(l) }()
	return s
}

// Publish implements pubsubpb.PublisherServer.
func (s *instant) Publish(_ context.Context, r *pubsubpb.PublishRequest) (*pubsubpb.PublishResponse, error) {
	return &pubsubpb.PublishResponse{MessageIds: s.ids[:min(len(r.Messages), len(s.ids))]}, nil
}

func (s *instant) Close() error {
	s.server.Stop()
	return <-s.ended
}

// counting is the usual codec, but of a request to publish it only counts the messages.
type counting struct{ encoding.CodecV2 }

// Unmarshal implements encoding.CodecV2.
func (c counting) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(*pubsubpb.PublishRequest)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	n := 0
	for b := whole.ReadOnlyData(); len(b) > 0; {
		field, _, size := protowire.ConsumeField(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		if field == 2 {
			n++
		}
		b = b[size:]
	}
	r.Messages = make([]*pubsubpb.PubsubMessage, n)
	return nil
}
