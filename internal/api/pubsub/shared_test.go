package pubsub

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// overtaken is a store to which somebody else writes first, once.
type overtaken struct {
	queue.Service
	first atomic.Pointer[func()]
}

func (o *overtaken) overtake() {
	if first := o.first.Swap(nil); first != nil {
		(*first)()
	}
}

func (o *overtaken) Noted(notes ...queue.Note) queue.Noted {
	o.overtake()
	return o.Service.Noted(notes...)
}

func (o *overtaken) Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error) {
	o.overtake()
	return o.Service.Commit(ctx, c)
}

// TestNoChangeIsLostBetweenTwoDoors: of two doors over one store, as those of two processes would be, one changes what
// the other one has read and is about to change. Both changes are there.
func TestNoChangeIsLostBetweenTwoDoors(t *testing.T) {
	ctx := t.Context()
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	slow := &overtaken{Service: s}
	a, b := newRigWith(t, Config{}, Options{Store: slow}), newRigOver(t, Config{}, nil, s)
	b.checked(pb.Schema_AVRO, seenV1, pb.Encoding_JSON)
	b.subscribeTo("news", "news")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	both := func(late, early func(*rig) error) {
		t.Helper()
		first := func() { must(early(b)) }
		slow.first.Store(&first)
		must(late(a))
		if slow.first.Load() != nil {
			t.Error("nobody was overtaken")
		}
		a.door.changes.Add(1) // what they show is read anew
		b.door.changes.Add(1)
	}
	topic := func(field string) func(*rig) error {
		return func(r *rig) error {
			_, err := r.pub.UpdateTopic(ctx, &pb.UpdateTopicRequest{
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{field}}, Topic: &pb.Topic{Name: topicName("news"),
					Labels: map[string]string{"a": "b"}, MessageRetentionDuration: durationpb.New(time.Hour),
					KmsKeyName: "projects/p/locations/l/keyRings/r/cryptoKeys/k"}})
			return err
		}
	}
	subscription := func(field string) func(*rig) error {
		return func(r *rig) error {
			_, err := r.sub.UpdateSubscription(ctx, &pb.UpdateSubscriptionRequest{
				UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{field}}, Subscription: &pb.Subscription{
					Name: subscriptionName("news"), AckDeadlineSeconds: 33, Labels: map[string]string{"a": "b"},
					RetryPolicy: &pb.RetryPolicy{MinimumBackoff: durationpb.New(7 * time.Second)},
					PushConfig:  &pb.PushConfig{PushEndpoint: "http://127.0.0.1:1/"}}})
			return err
		}
	}
	both(topic("labels"), topic("kms_key_name"))
	both(topic("message_retention_duration"), topic("labels"))
	both(subscription("retry_policy"), subscription("ack_deadline_seconds"))
	both(subscription("push_config"), subscription("labels"))
	both(subscription("labels"), func(r *rig) error { // a lifetime of the topic changes the subscription's queue
		return errors.Join(topic("message_retention_duration")(r), subscription("labels")(r))
	})
	got, err := a.pub.GetTopic(ctx, &pb.GetTopicRequest{Topic: topicName("news")})
	must(err)
	if got.GetKmsKeyName() == "" || got.GetMessageRetentionDuration() == nil || len(got.GetLabels()) == 0 {
		t.Errorf("a change of the topic is lost: %v", got)
	}
	sub, err := a.sub.GetSubscription(ctx, &pb.GetSubscriptionRequest{Subscription: subscriptionName("news")})
	must(err)
	if sub.GetRetryPolicy() == nil || sub.GetAckDeadlineSeconds() != 33 || len(sub.GetLabels()) == 0 ||
		sub.GetPushConfig().GetPushEndpoint() == "" {
		t.Errorf("a change of the subscription is lost: %v", sub)
	}
	commit := func(r *rig) error {
		_, err := pb.NewSchemaServiceClient(r.conn).CommitSchema(ctx, &pb.CommitSchemaRequest{Name: seenName,
			Schema: &pb.Schema{Type: pb.Schema_AVRO, Definition: seenV1}})
		return err
	}
	both(commit, commit)
	name, _, _ := parseSchema("name", seenName)
	if all, err := a.door.revisions(ctx, name); err != nil || len(all) != 3 {
		t.Errorf("of three revisions there are %d: %v", len(all), err)
	}
}

// TestAPolicyOfAnotherDoorIsNotLost: an etag that was read before another process set the policy is refused, also at
// the last moment.
func TestAPolicyOfAnotherDoorIsNotLost(t *testing.T) {
	ctx := t.Context()
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	slow := &overtaken{Service: s}
	a, b := newRigWith(t, Config{}, Options{Store: slow}), newRigOver(t, Config{}, nil, s)
	b.subscribe("news")
	set := func(r *rig, etag []byte, role string) (*iampb.Policy, error) {
		return iampb.NewIAMPolicyClient(r.conn).SetIamPolicy(ctx, &iampb.SetIamPolicyRequest{
			Resource: topicName("news"), Policy: &iampb.Policy{Etag: etag, Bindings: []*iampb.Binding{{Role: role}}}})
	}
	old, err := set(a, nil, "roles/first")
	if err != nil {
		t.Fatal(err)
	}
	first := func() {
		if _, err := set(b, old.Etag, "roles/second"); err != nil {
			t.Error(err)
		}
	}
	slow.first.Store(&first)
	_, err = set(a, old.Etag, "roles/third")
	wantCode(t, err, codes.Aborted)
}
