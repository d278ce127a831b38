package publish

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/publisher"
)

// pubsubProject is where the benches' topics are.
const pubsubProject = "bench"

// pubsubLine is a connection to a server, perhaps over a link, with Google's client over it. It counts the requests to
// publish.
type pubsubLine struct {
	link     *link // nil: none
	conn     *grpc.ClientConn
	client   *pubsub.Client
	topic    string        // its full name
	kept     *harness.Kept // counts the server's syncs; nil: nobody says that it is durable
	requests atomic.Int64
}

// openPubSub connects to a server. The topic need not exist.
func openPubSub(ctx context.Context, addr, topic string, roundTrip time.Duration) (l *pubsubLine, err error) {
	l = &pubsubLine{topic: topic}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
			l = nil
		}
	}()
	if roundTrip > 0 {
		if l.link, err = newLink(addr, roundTrip); err != nil {
			return l, err
		}
		addr = l.link.addr()
	}
	if l.conn, err = grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(l.count)); err != nil {
		return l, err
	}
	if l.client, err = pubsub.NewClient(ctx, pubsubProject, option.WithGRPCConn(l.conn)); err != nil {
		return l, err
	}
	_, err = l.publishRaw(ctx, make([][]byte, 1)) // so that nobody has to wait for the connection
	l.requests.Store(0)
	return l, err
}

func (l *pubsubLine) count(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if method != pubsubpb.Publisher_Publish_FullMethodName {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	l.requests.Add(1)
	began := time.Now()
	err := invoke(ctx, method, req, reply, cc, opts...)
	if err == nil {
		l.kept.Answered(began)
	}
	return err
}

func (l *pubsubLine) Close() error {
	var errs []error
	if l.conn != nil {
		errs = append(errs, l.conn.Close())
	}
	if l.link != nil {
		errs = append(errs, l.link.Close())
	}
	return errors.Join(errs...)
}

// publishRaw publishes messages in one unary call.
func (l *pubsubLine) publishRaw(ctx context.Context, bodies [][]byte) (int, error) {
	r := &pubsubpb.PublishRequest{Topic: l.topic}
	for _, b := range bodies {
		if len(b) == 0 {
			b = []byte{'x'}
		}
		r.Messages = append(r.Messages, &pubsubpb.PubsubMessage{Data: b})
	}
	answer, err := pubsubpb.NewPublisherClient(l.conn).Publish(ctx, r)
	if err != nil {
		return 0, fmt.Errorf("publish: %w", err)
	}
	return len(answer.MessageIds), nil
}

// receipt is what every publisher returns for a message.
type receipt interface {
	Get(ctx context.Context) (id string, err error)
}

// postman is a publisher, Google's or ours.
type postman interface {
	publish(ctx context.Context, body []byte) receipt
	stop()
}

type googlePostman struct{ of *pubsub.Publisher }

func (p googlePostman) publish(ctx context.Context, body []byte) receipt {
	return p.of.Publish(ctx, &pubsub.Message{Data: body})
}
func (p googlePostman) stop() { p.of.Stop() }

type ourPostman struct{ of *publisher.Publisher }

func (p ourPostman) publish(ctx context.Context, body []byte) receipt {
	return p.of.Publish(ctx, &pubsub.Message{Data: body})
}
func (p ourPostman) stop() { p.of.Stop() }

// hire makes a publisher over a line.
type hire func(l *pubsubLine) postman

// sendTime is how long a publisher tries to send a request. The default, a minute, would let a bench that was ended
// wait for a server that is gone.
const sendTime = 5 * time.Second

func ours(l *pubsubLine) postman {
	p := publisher.New(l.client, l.topic)
	p.PublishSettings.Timeout = sendTime
	return ourPostman{p}
}

// google is Google's publisher with what change changes of its default settings; nil: nothing.
func google(change func(s *pubsub.PublishSettings)) hire {
	return func(l *pubsubLine) postman {
		p := l.client.Publisher(l.topic)
		p.PublishSettings.Timeout = sendTime
		if change != nil {
			change(&p.PublishSettings)
		}
		return googlePostman{p}
	}
}

// optimised is the field report's cure: as many messages as there are at hand are a batch.
func optimised(n int) hire {
	return google(func(s *pubsub.PublishSettings) {
		s.CountThreshold, s.ByteThreshold, s.DelayThreshold = n, 1<<20, 50*time.Millisecond
	})
}
