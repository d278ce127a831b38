package publisher_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"go.uber.org/goleak"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hikyaku/hikyaku/publisher"
)

func TestMain(m *testing.M) {
	// OpenCensus, which the Google client uses, keeps a goroutine for the life of the process.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

const topic = "projects/p/topics/t"

// service is a Pub/Sub service as far as publishing goes. It keeps what it took, in the order in which it took it.
type service struct {
	pubsubpb.UnimplementedPublisherServer
	// judge, if there is one, is asked before a request is taken. It may wait, and refuse.
	judge func(ctx context.Context, r *pubsubpb.PublishRequest) error

	mu       sync.Mutex
	requests []*pubsubpb.PublishRequest // those that were taken
	refused  int
}

func (s *service) Publish(ctx context.Context, r *pubsubpb.PublishRequest) (*pubsubpb.PublishResponse, error) {
	if s.judge != nil {
		if err := s.judge(ctx, r); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refused++
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	answer := new(pubsubpb.PublishResponse)
	for i := range r.Messages {
		answer.MessageIds = append(answer.MessageIds, fmt.Sprintf("%d.%d", len(s.requests), i))
	}
	return answer, nil
}

// taken returns the requests that were taken so far.
func (s *service) taken() []*pubsubpb.PublishRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*pubsubpb.PublishRequest(nil), s.requests...)
}

// bodies returns what the messages of all requests say, in their order.
func (s *service) bodies() (all []string) {
	for _, r := range s.taken() {
		for _, m := range r.Messages {
			all = append(all, string(m.Data))
		}
	}
	return all
}

// serve starts the service on loopback and returns a connection to it. Both end with the test.
func (s *service) serve(t testing.TB) *grpc.ClientConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(20 << 20))
	pubsubpb.RegisterPublisherServer(server, s)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return conn
}

// client returns Google's client, connected to the service.
func (s *service) client(t testing.TB) *pubsub.Client {
	t.Helper()
	c, err := pubsub.NewClient(t.Context(), "p", option.WithGRPCConn(s.serve(t)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newPublisher returns a publisher to the service, stopped with the test.
func (s *service) newPublisher(t testing.TB) *publisher.Publisher {
	t.Helper()
	p := publisher.NewWithConn(s.serve(t), topic)
	t.Cleanup(p.Stop)
	return p
}

func text(s string) *pubsub.Message { return &pubsub.Message{Data: []byte(s)} }

func keyed(key, s string) *pubsub.Message {
	return &pubsub.Message{Data: []byte(s), OrderingKey: key}
}

// allGood waits for results and fails the test if there is an error among them.
func allGood(t testing.TB, results ...*publisher.PublishResult) {
	t.Helper()
	for i, r := range results {
		if id, err := r.Get(t.Context()); err != nil || id == "" {
			t.Fatalf("message %d: id %q, %v", i, id, err)
		}
	}
}
