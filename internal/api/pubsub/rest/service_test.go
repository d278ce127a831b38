package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/rest"
)

// service is a server whose answer the test says. It remembers what it was asked.
type service struct {
	pubsubpb.UnimplementedPublisherServer
	pubsubpb.UnimplementedSubscriberServer
	pubsubpb.UnimplementedSchemaServiceServer
	iampb.UnimplementedIAMPolicyServer

	mu     sync.Mutex
	asked  proto.Message
	header metadata.MD
	until  time.Time // of the call; zero: it has no deadline
	answer proto.Message
	err    error
}

// answered is what every call returns.
func answered[T proto.Message](s *service, ctx context.Context, request proto.Message) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = request
	s.header, _ = metadata.FromIncomingContext(ctx)
	s.until, _ = ctx.Deadline()
	if s.err != nil {
		var none T
		return none, s.err
	}
	if s.answer == nil {
		var none T
		return none.ProtoReflect().New().Interface().(T), nil
	}
	return s.answer.(T), nil
}

func (s *service) CreateTopic(ctx context.Context, r *pubsubpb.Topic) (*pubsubpb.Topic, error) {
	return answered[*pubsubpb.Topic](s, ctx, r)
}

func (s *service) UpdateTopic(ctx context.Context, r *pubsubpb.UpdateTopicRequest) (*pubsubpb.Topic, error) {
	return answered[*pubsubpb.Topic](s, ctx, r)
}

func (s *service) GetTopic(ctx context.Context, r *pubsubpb.GetTopicRequest) (*pubsubpb.Topic, error) {
	return answered[*pubsubpb.Topic](s, ctx, r)
}

func (s *service) ListTopics(ctx context.Context, r *pubsubpb.ListTopicsRequest) (*pubsubpb.ListTopicsResponse, error) {
	return answered[*pubsubpb.ListTopicsResponse](s, ctx, r)
}

func (s *service) DeleteTopic(ctx context.Context, r *pubsubpb.DeleteTopicRequest) (*emptypb.Empty, error) {
	return answered[*emptypb.Empty](s, ctx, r)
}

func (s *service) Publish(ctx context.Context, r *pubsubpb.PublishRequest) (*pubsubpb.PublishResponse, error) {
	return answered[*pubsubpb.PublishResponse](s, ctx, r)
}

func (s *service) Pull(ctx context.Context, r *pubsubpb.PullRequest) (*pubsubpb.PullResponse, error) {
	return answered[*pubsubpb.PullResponse](s, ctx, r)
}

func (s *service) GetSubscription(ctx context.Context, r *pubsubpb.GetSubscriptionRequest) (*pubsubpb.Subscription,
	error) {
	return answered[*pubsubpb.Subscription](s, ctx, r)
}

func (s *service) CreateSchema(ctx context.Context, r *pubsubpb.CreateSchemaRequest) (*pubsubpb.Schema, error) {
	return answered[*pubsubpb.Schema](s, ctx, r)
}

func (s *service) GetSchema(ctx context.Context, r *pubsubpb.GetSchemaRequest) (*pubsubpb.Schema, error) {
	return answered[*pubsubpb.Schema](s, ctx, r)
}

func (s *service) DetachSubscription(ctx context.Context,
	r *pubsubpb.DetachSubscriptionRequest) (*pubsubpb.DetachSubscriptionResponse, error) {
	return answered[*pubsubpb.DetachSubscriptionResponse](s, ctx, r)
}

func (s *service) GetIamPolicy(ctx context.Context, r *iampb.GetIamPolicyRequest) (*iampb.Policy, error) {
	return answered[*iampb.Policy](s, ctx, r)
}

func (s *service) TestIamPermissions(ctx context.Context,
	r *iampb.TestIamPermissionsRequest) (*iampb.TestIamPermissionsResponse, error) {
	return answered[*iampb.TestIamPermissionsResponse](s, ctx, r)
}

// newServices are those of messages of the generated types.
func newServices() *rest.Services { return rest.NewServices(encoding.GetCodecV2(grpcproto.Name)) }

// start serves a service over HTTP/1.
func start(t *testing.T, s *service, o rest.Options) *httptest.Server {
	t.Helper()
	services := newServices()
	pubsubpb.RegisterPublisherServer(services, s)
	pubsubpb.RegisterSubscriberServer(services, s)
	pubsubpb.RegisterSchemaServiceServer(services, s)
	iampb.RegisterIAMPolicyServer(services, s)
	h, err := rest.New(services, o)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(h)
	t.Cleanup(front.Close)
	return front
}

// call sends a request and returns the status and the body of the answer. edit may change the request.
func call(t *testing.T, front *httptest.Server, method, path, body string, edit ...func(*http.Request)) (int, string,
	http.Header) {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, front.URL+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, e := range edit {
		e(r)
	}
	answer, err := front.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

// compact is JSON without blanks: the encoder of protocol buffers puts some in at random.
func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String()
}

func (s *service) wasAsked(t *testing.T, want proto.Message) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := cmp.Diff(want, s.asked, protocmp.Transform()); d != "" {
		t.Errorf("the service was asked (- wanted, + got):\n%s", d)
	}
}

// failing is an error with a detail.
func failing(t *testing.T, code codes.Code, message string) error {
	t.Helper()
	s, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{Reason: "WHY", Domain: "hikyaku"})
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}
