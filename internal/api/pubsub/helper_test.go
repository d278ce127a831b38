package pubsub

import (
	"context"
	"flag"
	"sync/atomic"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"go.uber.org/goleak"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/javascript"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	javascript.Child()
	goleak.VerifyTestMain(m,
		// of a library of Google's client, for the whole process
		goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
		// it ends with its next ping
		goleak.IgnoreTopFunction("cloud.google.com/go/pubsub/v2.(*messageIterator).streamKeepAliveHandler"),
	)
}

// rig is a door over a real store over a real journal, and raw stubs of its services.
type rig struct {
	t     *testing.T
	store *queue.Store
	door  *Server
	addr  string
	pub   pubsubpb.PublisherClient
	sub   pubsubpb.SubscriberClient
	conn  *grpc.ClientConn
}

func newRig(t *testing.T) *rig {
	t.Helper()
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	return newRigOver(t, Config{}, nil, s)
}

// openStore opens a store in a folder and returns what closes it.
func openStore(t *testing.T, dir string, clock func() time.Time) (*queue.Store, func()) {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: dir, Durability: journal.OS, SegmentBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(),
		queue.Options{Journal: j, Clock: clock, OnDemand: true, Namespaces: map[string][]string{"default": {"local"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		if err := s.Close(); err != nil {
			t.Error("close store:", err)
		}
		if err := j.Close(); err != nil {
			t.Error("close journal:", err)
		}
	}
}

// newRigOver opens a door over a store.
func newRigOver(t *testing.T, c Config, users *access.Users, s *queue.Store) *rig {
	t.Helper()
	return newRigWith(t, c, Options{Store: s, Users: users})
}

// newRigWith opens a door with options.
func newRigWith(t *testing.T, c Config, o Options) *rig {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	if o.Report == nil {
		o.Report = func(err error) { t.Error("reported:", err) }
	}
	d, err := New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := d.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, door: d, addr: addr.String()}
	if local, ok := o.Store.(*queue.Store); ok {
		r.store = local
	}
	t.Cleanup(r.close)
	if !c.TLS.On() {
		r.conn = r.dial()
		r.pub, r.sub = pubsubpb.NewPublisherClient(r.conn), pubsubpb.NewSubscriberClient(r.conn)
	}
	return r
}

// close closes the door.
func (r *rig) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.door.Close(ctx); err != nil {
		r.t.Error("close door:", err)
	}
}

// dial opens a connection of its own.
func (r *rig) dial(options ...grpc.DialOption) *grpc.ClientConn {
	r.t.Helper()
	options = append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, options...)
	c, err := grpc.NewClient(r.addr, options...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// google is Google's own client for the project "local".
func (r *rig) google() *client.Client {
	r.t.Helper()
	c, err := client.NewClient(context.Background(), "local", option.WithEndpoint(r.addr),
		option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

func topicName(id string) string        { return "projects/local/topics/" + id }
func subscriptionName(id string) string { return "projects/local/subscriptions/" + id }
func snapshotName(id string) string     { return "projects/local/snapshots/" + id }

// topic makes a topic.
func (r *rig) topic(id string) {
	r.t.Helper()
	if _, err := r.pub.CreateTopic(r.t.Context(), &pubsubpb.Topic{Name: topicName(id)}); err != nil {
		r.t.Fatal(err)
	}
}

// subscribe makes a topic and a subscription of the same id.
func (r *rig) subscribe(id string, change ...func(*pubsubpb.Subscription)) *pubsubpb.Subscription {
	r.t.Helper()
	r.topic(id)
	return r.subscribeTo(id, id, change...)
}

// subscribeTo makes a subscription of a topic.
func (r *rig) subscribeTo(topic, id string, change ...func(*pubsubpb.Subscription)) *pubsubpb.Subscription {
	r.t.Helper()
	s := &pubsubpb.Subscription{Name: subscriptionName(id), Topic: topicName(topic)}
	for _, c := range change {
		c(s)
	}
	made, err := r.sub.CreateSubscription(r.t.Context(), s)
	if err != nil {
		r.t.Fatal(err)
	}
	return made
}

// publish publishes texts, with an ordering key or "".
func (r *rig) publish(id, key string, texts ...string) []string {
	r.t.Helper()
	req := &pubsubpb.PublishRequest{Topic: topicName(id)}
	for _, text := range texts {
		req.Messages = append(req.Messages, &pubsubpb.PubsubMessage{Data: []byte(text), OrderingKey: key})
	}
	res, err := r.pub.Publish(r.t.Context(), req)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.MessageIds
}

// pull pulls at most n messages without waiting.
func (r *rig) pull(id string, n int32) []*pubsubpb.ReceivedMessage {
	r.t.Helper()
	ask := &pubsubpb.PullRequest{Subscription: subscriptionName(id), MaxMessages: n}
	//lint:ignore SA1019 clients still send it
	ask.ReturnImmediately = true
	res, err := r.sub.Pull(r.t.Context(), ask)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.ReceivedMessages
}

func (r *rig) ack(id string, ms ...*pubsubpb.ReceivedMessage) error {
	_, err := r.sub.Acknowledge(r.t.Context(), &pubsubpb.AcknowledgeRequest{Subscription: subscriptionName(id),
		AckIds: ackIDs(ms)})
	return err
}

func (r *rig) nack(id string, ms ...*pubsubpb.ReceivedMessage) error { return r.modify(id, 0, ms...) }

func (r *rig) modify(id string, seconds int32, ms ...*pubsubpb.ReceivedMessage) error {
	_, err := r.sub.ModifyAckDeadline(r.t.Context(),
		&pubsubpb.ModifyAckDeadlineRequest{Subscription: subscriptionName(id), AckIds: ackIDs(ms),
			AckDeadlineSeconds: seconds})
	return err
}

// stream opens a StreamingPull.
func (r *rig) stream(id string,
	change ...func(*pubsubpb.StreamingPullRequest)) pubsubpb.Subscriber_StreamingPullClient {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r.t.Cleanup(cancel)
	st, err := r.sub.StreamingPull(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	req := &pubsubpb.StreamingPullRequest{Subscription: subscriptionName(id), StreamAckDeadlineSeconds: 10}
	for _, c := range change {
		c(req)
	}
	if err := st.Send(req); err != nil {
		r.t.Fatal(err)
	}
	return st
}

func ackIDs(ms []*pubsubpb.ReceivedMessage) []string {
	var ids []string
	for _, m := range ms {
		ids = append(ids, m.AckId)
	}
	return ids
}

func texts(ms []*pubsubpb.ReceivedMessage) []string {
	var ts []string
	for _, m := range ms {
		ts = append(ts, string(m.Message.Data))
	}
	return ts
}

// wantCode fails the test unless err has the code.
func wantCode(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if status.Code(err) != want {
		t.Errorf("the code is %v, not %v: %v", status.Code(err), want, err)
	}
}

// fakeClock is a clock that tests move.
type fakeClock struct{ ahead atomic.Int64 }

func (c *fakeClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *fakeClock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

// must is the value of what does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
