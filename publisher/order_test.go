package publisher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/hikyaku/hikyaku/publisher"
)

// mumble is a connection over which answers get lost.
type mumble struct{ *grpc.ClientConn }

func (m mumble) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return m.ClientConn.Invoke(ctx, method, args, new(pubsubpb.PublishResponse), opts...)
}

// serveInMemory is serve without a network, for tests in which time is synthetic.
func (s *service) serveInMemory(t *testing.T) (conn *grpc.ClientConn, end func()) {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	pubsubpb.RegisterPublisherServer(server, s)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:///memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	return conn, func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// The service refuses what it likes, takes its time, and answers that it failed when it has taken the messages. What it
// has, without what came twice, is in the order in which it was published.
func TestTheOrderOfAKeySurvivesRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		dice := rand.New(rand.NewPCG(1, 2))
		roll := func(n int) int {
			mu.Lock()
			defer mu.Unlock()
			return dice.IntN(n)
		}
		now := map[string]int{}
		s := new(service)
		s.judge = func(_ context.Context, r *pubsubpb.PublishRequest) error {
			key := r.Messages[0].OrderingKey
			mu.Lock()
			if now[key]++; now[key] > 1 && key != "" {
				t.Errorf("two requests of key %s at once", key)
			}
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				now[key]--
			}()
			for _, m := range r.Messages {
				if m.OrderingKey != key {
					t.Errorf("a request with messages of keys %q and %q", key, m.OrderingKey)
				}
			}
			time.Sleep(time.Duration(roll(20)) * time.Millisecond)
			code := []codes.Code{codes.Unavailable, codes.Aborted, codes.Internal, codes.ResourceExhausted,
				codes.Unknown, codes.DeadlineExceeded}[roll(6)]
			switch roll(5) {
			case 0:
				return status.Error(code, "try again")
			case 1: // taken, but the answer is lost
				s.mu.Lock()
				s.requests = append(s.requests, r)
				s.mu.Unlock()
				return status.Error(code, "who knows")
			}
			return nil
		}
		conn, end := s.serveInMemory(t)
		defer end()
		p := publisher.NewWithConn(conn, topic)
		p.EnableMessageOrdering = true
		p.PublishSettings.Timeout = 24 * time.Hour // it will be taken in the end
		var rs []*publisher.PublishResult
		const each = 60
		keys := []string{"a", "b", "c", "d", ""}
		for i := range each {
			for _, k := range keys {
				rs = append(rs, p.Publish(t.Context(), keyed(k, fmt.Sprintf("%s%03d", k, i))))
			}
			time.Sleep(time.Duration(roll(10)) * time.Millisecond)
		}
		p.Stop()
		allGood(t, rs...)
		if s.refused == 0 {
			t.Error("the service refused nothing")
		}
		for _, k := range keys {
			var got []string
			for _, b := range s.bodies() {
				if strings.TrimRight(b, "0123456789") == k && !slices.Contains(got, b) {
					got = append(got, b)
				}
			}
			if len(got) != each || k != "" && !slices.IsSorted(got) {
				t.Errorf("key %q: %d messages, in the order %q", k, len(got), got)
			}
		}
	})
}

func TestARequestIsTriedAgainUntilItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{judge: func(context.Context,
			*pubsubpb.PublishRequest) error {
			return status.Error(codes.Unavailable, "later")
		}}
		conn, end := s.serveInMemory(t)
		defer end()
		p := publisher.NewWithConn(conn, topic)
		p.EnableMessageOrdering = true
		began := time.Now()
		_, err := p.Publish(t.Context(), keyed("k", "x")).Get(t.Context())
		if took := time.Since(began); err == nil || took != time.Minute || s.refused < 4 {
			t.Errorf("%v after %v and %d calls", err, took, s.refused)
		}
		if _, err := p.Publish(t.Context(), keyed("k", "y")).Get(t.Context()); err == nil {
			t.Error("a key that failed goes on")
		}
		s.judge = nil
		p.ResumePublish("k")
		allGood(t, p.Publish(t.Context(), keyed("k", "z")))
		p.Stop()
	})
}

// A service that says nothing at all holds nobody for longer than the time-out.
func TestASilentServiceIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{judge: func(ctx context.Context,
			_ *pubsubpb.PublishRequest) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		conn, end := s.serveInMemory(t)
		defer end()
		p := publisher.NewWithConn(conn, topic)
		p.PublishSettings.Timeout = 3 * time.Second
		began := time.Now()
		r := p.Publish(t.Context(), text("x"))
		p.Stop()
		if _, err := r.Get(t.Context()); err == nil || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
