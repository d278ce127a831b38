package pubsub

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// headless is a call whose header cannot be sent.
type headless struct {
	grpc.ServerStream
	fail func() error
}

func (h headless) SendHeader(md metadata.MD) error { return h.fail() }

// A stream that ends while it opens gives back what its first request took.
func TestAStreamThatEndsWhileItOpensGivesBackWhatItsFirstRequestTook(t *testing.T) {
	for name, fail := range map[string]func() error{
		"an error": func() error { return errors.New("the client is gone") },
		"a panic":  func() error { panic("a defect") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			all := door.NewBusy(16 << 20)
			r.door.busy, r.door.report = all, func(error) {}
			r.subscribe("news")
			doortest.Until(t, "nothing is taken", func() bool { return all.Used() == 0 })
			s := grpc.NewServer(grpc.ForceServerCodecV2(codec{}),
				grpc.StreamInterceptor(func(srv any, wire grpc.ServerStream, _ *grpc.StreamServerInfo,
					handle grpc.StreamHandler) error {
					return handle(srv, headless{wire, fail})
				}))
			r.door.register(s)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan error, 1)
			go func() { served <- s.Serve(l) }()
			conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			st, err := pubsubpb.NewSubscriberClient(conn).StreamingPull(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			first := &pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news"),
				StreamAckDeadlineSeconds: 10, ClientId: strings.Repeat("x", 1000)}
			if err := st.Send(first); err != nil {
				t.Fatal(err)
			}
			if res, err := st.Recv(); err == nil {
				t.Errorf("it goes on with %v", res)
			}
			s.Stop()
			if err := <-served; err != nil {
				t.Error(err)
			}
			if n := all.Used(); n != 0 {
				t.Errorf("%d bytes are left over", n)
			}
		})
	}
}

// defective is a context that panics when it is asked whether it has ended.
type defective struct{ context.Context }

func (defective) Err() error { panic("a defect") }

// A stream that ends with a panic while it takes messages ends: nobody waits for its turn for ever, neither its own end
// nor a stop.
func TestAPanicWhileAStreamTakesMessagesEndsItsTurn(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	st, err := r.door.openStream(t.Context(), nil,
		&pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news"), StreamAckDeadlineSeconds: 10})
	if err != nil {
		t.Fatal(err)
	}
	st.turn.ctx, st.turn.cut = defective{t.Context()}, func() {}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic")
			}
		}()
		t.Error(st.send())
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		st.end()
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the stream does not end")
	}
}
