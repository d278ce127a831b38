package publisher

import (
	"context"
	"net/url"
	"strings"
	"time"

	apiv1 "cloud.google.com/go/pubsub/v2/apiv1"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/googleapis/gax-go/v2"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// carrier takes a request to the service once.
type carrier interface {
	carry(ctx context.Context, r *request) (*pubsubpb.PublishResponse, error)
	// retryer tells what to do about errors of one request. nil: nothing.
	retryer() gax.Retryer
}

// largest is what gRPC may send. It refuses requests itself otherwise, some of which the service would take.
const largest = 20 << 20

// connCarrier calls a connection of gRPC.
type connCarrier struct {
	next    func() grpc.ClientConnInterface
	options []grpc.CallOption
	retry   func() gax.Retryer // nil: none
}

func newConnCarrier(next func() grpc.ClientConnInterface, settings gax.CallSettings) *connCarrier {
	o := append(settings.GRPC[:len(settings.GRPC):len(settings.GRPC)], grpc.MaxCallSendMsgSize(largest))
	return &connCarrier{next: next, options: o, retry: settings.Retry}
}

func (c *connCarrier) carry(ctx context.Context, r *request) (*pubsubpb.PublishResponse, error) {
	o := append(c.options[:len(c.options):len(c.options)], grpc.ForceCodecV2(r))
	if r.compressed {
		o = append(o, grpc.UseCompressor(gzip.Name))
	}
	answer := new(pubsubpb.PublishResponse)
	if err := c.next().Invoke(ctx, pubsubpb.Publisher_Publish_FullMethodName, r.envelope(), answer, o...); err != nil {
		return nil, err
	}
	return answer, nil
}

func (c *connCarrier) retryer() gax.Retryer { return made(c.retry) }

func made(retry func() gax.Retryer) gax.Retryer {
	if retry == nil {
		return nil
	}
	return retry()
}

// restCarrier calls an API client that has no connection of gRPC: it makes JSON of the messages.
type restCarrier struct {
	client *apiv1.TopicAdminClient
	retry  func() gax.Retryer
}

func (c *restCarrier) carry(ctx context.Context, r *request) (*pubsubpb.PublishResponse, error) {
	return c.client.Publish(ctx, r.message(), gax.WithRetry(nil))
}

func (c *restCarrier) retryer() gax.Retryer { return made(c.retry) }

// newCarrier returns a carrier over the connections of an API client, with the call options that it was given.
func newCarrier(client *apiv1.TopicAdminClient) carrier {
	var s gax.CallSettings
	if client.CallOptions != nil {
		for _, o := range client.CallOptions.Publish {
			o.Resolve(&s)
		}
	}
	next := func() *grpc.ClientConn {
		//lint:ignore SA1019 that it is not always the same is what is wanted: requests are spread over the pool
		return client.Connection()
	}
	if next() == nil {
		return &restCarrier{client, s.Retry}
	}
	return newConnCarrier(func() grpc.ClientConnInterface { return next() }, s)
}

// prescribed is when and after how long a request is sent again, as the service's description has it.
func prescribed() gax.Retryer {
	return gax.OnCodes([]codes.Code{
		codes.Aborted, codes.Canceled, codes.Internal, codes.ResourceExhausted, codes.Unknown, codes.Unavailable,
		codes.DeadlineExceeded,
	}, gax.Backoff{Initial: 100 * time.Millisecond, Max: time.Minute, Multiplier: 4})
}

// addressed returns a context that tells the service's front ends where requests belong.
func addressed(topic string) context.Context {
	return metadata.NewOutgoingContext(context.Background(),
		metadata.Pairs("x-goog-request-params", "topic="+url.QueryEscape(topic)))
}

// deliver takes a request to the service, again and again while it prescribes that, until the context ends.
func deliver(ctx context.Context, c carrier, r *request) (*pubsubpb.PublishResponse, error) {
	var retryer gax.Retryer
	for {
		answer, err := c.carry(ctx, r)
		if err == nil {
			return answer, nil
		}
		if retryer == nil {
			retryer = c.retryer()
		}
		if context.Cause(ctx) == errPatience {
			return nil, described(errPatience)
		}
		if retryer == nil || hopeless(err) {
			return nil, described(err)
		}
		pause, again := retryer.Retry(err)
		if !again || gax.Sleep(ctx, pause) != nil {
			return nil, described(err) // if it was for lack of time, what went wrong tells more than that
		}
	}
}

// hopeless tells whether an error will be the same next time, though its code is one of those that are tried again.
func hopeless(err error) bool {
	s, _ := status.FromError(err)
	return s.Code() == codes.Internal && strings.Contains(s.Message(), "invalid UTF-8") ||
		strings.Contains(s.Message(), "x509: certificate signed by unknown authority")
}

// described is an error as Google's clients return it.
func described(err error) error {
	if a, ok := apierror.FromError(err); ok {
		return a
	}
	return err
}
